//! Where kernel values are computed: on the processor, or on a card if there is one. The outcome is the same to the bit.

use crate::error::Error;
use rosenblatt_kernel::{Device, Found, Trouble};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// From how many products of single features in all pairs of rows on a card is worth opening. Measured on an H200 beside
/// 16 cores: below it, opening the card and compiling its code take longer than the processor takes.
const WORTH_A_CARD: u128 = 1_000_000_000_000;

/// Where to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// On the first card if there is one and the rows are many enough, else on the processor.
    #[default]
    Auto,
    /// On the processor.
    Cpu,
    /// On the card of this number.
    Gpu(usize),
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Gpu(0) => f.write_str("gpu"),
            Self::Gpu(number) => write!(f, "gpu:{number}"),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = rosenblatt_core::NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix("gpu:").map(str::parse);
        match (text, number) {
            ("auto", _) => Ok(Self::Auto),
            ("cpu", _) => Ok(Self::Cpu),
            ("gpu", _) => Ok(Self::Gpu(0)),
            (_, Some(Ok(number))) => Ok(Self::Gpu(number)),
            _ => Err(rosenblatt_core::NameError {
                what: "device",
                given: text.to_owned(),
                known: "auto, cpu, gpu or gpu:N",
            }),
        }
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> Self {
        choice.to_string()
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = rosenblatt_core::NameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl DeviceChoice {
    /// Does some work while the card that may be taken is opened, which takes a quarter of a second: a later
    /// use has it at once, or gets the error.
    pub fn meanwhile<T>(self, work: impl FnOnce() -> T) -> T {
        let number = match self {
            Self::Cpu => return work(),
            Self::Auto => 0,
            Self::Gpu(number) => number,
        };
        std::thread::scope(|scope| {
            // A thread that cannot be had is done without.
            let _ = std::thread::Builder::new().spawn_scoped(scope, move || drop(open(number)));
            work()
        })
    }

    /// The card to learn on from this many rows, whose number may not be known. Nothing is the processor.
    pub(crate) fn to_learn(
        self,
        n_rows: Option<usize>,
        width: usize,
    ) -> Result<Option<Arc<dyn Device>>, Error> {
        let n_rows = n_rows.unwrap_or(0) as u128;
        match self {
            Self::Auto if n_rows * n_rows * width as u128 >= WORTH_A_CARD => Ok(open(0).ok()),
            Self::Auto | Self::Cpu => Ok(None),
            Self::Gpu(number) => Ok(Some(open(number)?)),
        }
    }

    /// The card that was asked for. How many rows will come is not known, so none is taken unasked.
    pub(crate) fn to_predict(self) -> Result<Option<Arc<dyn Device>>, Error> {
        match self {
            Self::Gpu(number) => Ok(Some(open(number)?)),
            Self::Auto | Self::Cpu => Ok(None),
        }
    }
}

/// All cards; the error says why there is none.
pub fn cards() -> Result<Vec<Found>, Trouble> {
    #[cfg(feature = "gpu")]
    return rosenblatt_gpu::cards();
    #[cfg(not(feature = "gpu"))]
    Err(Trouble::NotBuilt)
}

fn open(number: usize) -> Result<Arc<dyn Device>, Trouble> {
    #[cfg(feature = "gpu")]
    return Ok(Arc::new(rosenblatt_gpu::Gpu::new(number)?));
    #[cfg(not(feature = "gpu"))]
    {
        let _ = number;
        Err(Trouble::NotBuilt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_and_few_rows_stay_on_the_processor() {
        for (text, choice) in
            [("auto", DeviceChoice::Auto), ("cpu", DeviceChoice::Cpu), ("gpu:3", DeviceChoice::Gpu(3))]
        {
            assert_eq!(text.parse(), Ok(choice));
            assert_eq!(choice.to_string(), text);
        }
        assert_eq!("gpu:0".parse(), Ok(DeviceChoice::Gpu(0)));
        for wrong in ["", "tpu", "gpu:", "gpu:-1", "gpu:x"] {
            let message = wrong.parse::<DeviceChoice>().unwrap_err().to_string();
            assert!(message.contains("auto, cpu, gpu or gpu:N"), "{message}");
        }
        assert!(DeviceChoice::Auto.to_learn(Some(10_000), 784).unwrap().is_none());
        assert!(DeviceChoice::Auto.to_learn(None, 784).unwrap().is_none());
        assert!(DeviceChoice::Cpu.to_learn(Some(1 << 30), 784).unwrap().is_none());
        for choice in [DeviceChoice::Cpu, DeviceChoice::Auto, DeviceChoice::Gpu(1 << 20)] {
            assert_eq!(choice.meanwhile(|| 7), 7, "whether there is such a card or not");
        }
    }

    /// Without a card, asking for one gives the reason; with one, it has a name.
    #[test]
    fn a_card_is_there_or_the_error_says_why_not() {
        match DeviceChoice::Gpu(0).to_learn(Some(10), 3) {
            Ok(device) => assert!(!device.unwrap().name().is_empty()),
            Err(error) => {
                let message = error.to_string();
                assert_eq!(message, cards().unwrap_err().to_string());
                assert!(message.contains("processor"), "{message}");
            }
        }
    }
}
