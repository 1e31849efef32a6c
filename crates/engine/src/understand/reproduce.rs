//! Experiments of the literature, run again as their papers describe them.
//!
//! Freund and Schapire's (*Large Margin Classification Using the Perceptron Algorithm*, 1999): one kernel perceptron
//! per digit against the rest, all sharing one set of kernel values, one permutation of the rows that is the same in
//! every epoch, seven ways to read the run out. One run's log gives all of them at every number of epochs.

use crate::device::DeviceChoice;
use crate::error::Error;
use crate::rows::check_finite;
use crate::train::two_classes;
use rosenblatt_core::observer::{Observer, Snapshot};
use rosenblatt_core::{Bias, Convention, Epoch, Examples, OneVsRest, Order, Plan, Run, Shape, Totals, rules};
use rosenblatt_data::{Dataset, Visitor, visit};
use rosenblatt_kernel::{Choice, KernelSpace, Limits, NO_ROW, Outline, Setting, errors_at};
use std::ops::ControlFlow;

/// The experiment for one degree and one permutation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreundSchapire<'a> {
    /// The degree of the kernel `(1 + x·y)^degree` on raw pixels.
    pub degree: u32,
    /// After how many epochs to measure, ascending; 0.1 is the first tenth of the rows.
    pub epochs: &'a [f64],
    /// Decides the permutation.
    pub seed: u64,
    /// By how much the pixels were divided: the kernel's constant shrinks with their squares, which leaves every
    /// mistake where it was.
    pub largest: f64,
    /// Where values are computed.
    pub device: DeviceChoice,
}

/// What came of a run after some epochs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// After how many epochs.
    pub epochs: f64,
    /// Test errors by read-out ([`rosenblatt_kernel::READOUTS`]), as shares; of random draws, the expected ones.
    pub errors: [f64; 7],
    /// Rows that any class was ever mistaken on.
    pub support: u64,
    /// Mistakes, summed over the classes.
    pub mistakes: u64,
}

/// Trains on `train` and measures on `test`, whose classes have the same numbers. `tell` hears how many rounds of all
/// are over.
pub fn freund_schapire(
    experiment: &FreundSchapire<'_>,
    train: &Dataset,
    test: &Dataset,
    tell: &mut dyn FnMut(f64),
) -> Result<Vec<Measured>, Error> {
    let rows: Vec<u32> = (0..train.len() as u32).collect();
    two_classes(train.labels(), train.classes(), &rows)?;
    check_finite(train.view())?;
    check_finite(test.view())?;
    if train.labels() != test.labels() || test.is_empty() {
        return Err(Error::OtherClasses);
    }
    train.visit(Learn { experiment, test, rows: &rows, n_classes: train.labels().len(), tell })
}

struct Learn<'a, 'e> {
    experiment: &'a FreundSchapire<'e>,
    test: &'a Dataset,
    rows: &'a [u32],
    n_classes: usize,
    tell: &'a mut dyn FnMut(f64),
}

impl Visitor for Learn<'_, '_> {
    type Output = Result<Vec<Measured>, Error>;

    fn visit<E: Examples>(self, examples: E) -> Self::Output {
        let FreundSchapire { degree, epochs, seed, largest, device } = *self.experiment;
        // The pixels themselves are whole numbers, so that their products are exact.
        let scale = 1.0 / (largest * largest);
        let choice = [("degree", f64::from(degree)), ("gamma", scale), ("offset", scale)]
            .into_iter()
            .fold(Choice::named("polynomial"), |choice, (name, value)| {
                choice.with(name, Setting::Number(value))
            });
        let kernel = choice.kernel(&Outline::of(examples, self.rows))?;
        let shape = Shape { width: examples.width(), n_outputs: self.n_classes, bias: Bias::None };
        let mut space = KernelSpace::new(kernel, shape, Limits::default());
        if let Some(device) = device.to_learn(Some(examples.len()), examples.width())? {
            space = space.on(device);
        }
        let convention = Convention { bias: Bias::None, ..Convention::default() };
        let (rule, decision) = (rules::Perceptron::default(), OneVsRest::new(self.n_classes));
        let mut run = Run::from_parts(rule, space, (), decision, convention, Vec::new(), seed);
        let last = epochs.last().copied().unwrap_or(0.0);
        // An epoch without a mistake leaves all others without one, and ends the run.
        let plan = Plan::new(&Order::ShuffleOnce, last.ceil() as u64, seed);
        let n_rounds = last * examples.len() as f64;
        run.fit(examples, &plan, &mut Tell { tell: self.tell, n_rounds });
        let moments: Vec<u64> =
            epochs.iter().map(|epochs| (epochs * examples.len() as f64).round() as u64).collect();
        if let (DeviceChoice::Gpu(_), Some(trouble)) = (device, run.space().trouble()) {
            return Err(trouble.clone().into());
        }
        let learned = run.space().learned();
        let errors = visit!(self.test.view(), examples => errors_at(learned, examples, &moments));
        let measured = epochs.iter().zip(&moments).zip(errors).map(|((epochs, moment), errors)| {
            let until = || learned.log().iter().take_while(|entry| entry.round <= *moment);
            let highest = until().filter(|entry| entry.row != NO_ROW).map(|entry| entry.row + 1).max();
            Measured {
                epochs: *epochs,
                errors: errors.map(|errors| errors / self.test.len() as f64),
                // Support rows are numbered as they come.
                support: u64::from(highest.unwrap_or(0)),
                mistakes: until().count() as u64,
            }
        });
        Ok(measured.collect())
    }
}

/// Tells how far the run is.
struct Tell<'a> {
    tell: &'a mut dyn FnMut(f64),
    n_rounds: f64,
}

impl Observer for Tell<'_> {
    fn pause(&mut self, so_far: &Totals, _run: &dyn Snapshot) -> ControlFlow<()> {
        (self.tell)(so_far.rounds as f64 / self.n_rounds);
        ControlFlow::Continue(())
    }

    fn epoch(&mut self, epoch: &Epoch, _run: &dyn Snapshot) -> ControlFlow<()> {
        (self.tell)(epoch.rounds as f64 / self.n_rounds);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Random;

    /// Pictures of two bars, each class with its own place for them, and noise.
    fn pictures(n_rows: usize, seed: u64) -> Dataset {
        let mut random = Random::new(seed);
        let (mut rows, mut names) = (Vec::new(), Vec::new());
        for row in 0..n_rows {
            let class = row % 4;
            let pixels: [f64; 16] = std::array::from_fn(|pixel| {
                let bar = pixel / 4 == class || pixel % 4 == (class + 1) % 4;
                let noise = random.below(120);
                (if bar { 135 } else { 0 } + noise) as f64
            });
            rows.push(pixels);
            names.push(format!("{class}"));
        }
        Dataset::from_rows(&rows, &names)
    }

    #[test]
    fn one_run_gives_every_read_out_at_every_moment() {
        let (train, test) = (pictures(400, 1), pictures(200, 2));
        let experiment =
            |epochs| FreundSchapire { degree: 2, epochs, seed: 5, largest: 255.0, device: DeviceChoice::Cpu };
        let mut progress = Vec::new();
        let all =
            freund_schapire(&experiment(&[0.1, 1.0, 2.0]), &train, &test, &mut |done| progress.push(done))
                .unwrap();
        assert_eq!(all.len(), 3);
        assert!(
            progress.windows(2).all(|pair| pair[0] <= pair[1])
                && progress.last().is_some_and(|done| *done <= 1.0)
        );
        let first = freund_schapire(&experiment(&[0.1]), &train, &test, &mut |_| ()).unwrap();
        assert_eq!(first[0], all[0], "a tenth of an epoch is the beginning of two");
        assert!(all[0].support <= all[0].mistakes && all[0].mistakes <= all[1].mistakes);
        assert!(all[2].errors[2] < 0.05 && all[2].errors[2] <= all[0].errors[5], "{all:?}");
        let other = Dataset::from_rows(&[[0.0; 16]], &["7"]);
        assert_eq!(
            freund_schapire(&experiment(&[1.0]), &train, &other, &mut |_| ()),
            Err(Error::OtherClasses)
        );
    }
}
