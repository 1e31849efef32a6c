//! Whether a hyperplane separates rows, with a certificate that can be checked.

use crate::failure::{Failure, guarded};
use crate::watch::Watching;
use crate::{settings, table, values};
use extendr_api::prelude::*;
use rosenblatt::certify::{Certificate, Polynomial, Question};
use rosenblatt::data::{Dataset, Precision, ReadOptions, load_source};
use rosenblatt::separation::{Sides, study, verify};
use serde::Deserialize;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Asked {
    positive: Option<String>,
    against: Option<String>,
    bias: bool,
    gap: f64,
    seconds: f64,
    kernel: Option<Polynomial>,
}

/// The rows as they stand, so that what is proved of them is proved of the table.
fn rows(
    columns: &List,
    label: &str,
    categorical: &Robj,
    reading: &List,
) -> std::result::Result<Dataset, Failure> {
    let reading = settings::recipe(reading, label, &values::texts(categorical))?.reading;
    let as_stored = ReadOptions::as_stored().scaling;
    let reading = ReadOptions { precision: Precision::Double, scaling: as_stored, ..reading };
    Ok(load_source(&table::source(columns)?, &reading)?)
}

/// Looks for a proof: for each question its findings and its certificate, as text and as a list.
#[extendr]
fn certify(asked: List, columns: List, label: &str, categorical: Robj, reading: List) -> Robj {
    guarded(|| {
        let asked: Asked = serde_json::from_value(values::from_r(&asked.into()))?;
        let limit = Duration::try_from_secs_f64(asked.seconds)
            .map_err(|_| format!("`seconds` should be positive, but is {}", asked.seconds))?;
        if !(asked.gap > 0.0 && asked.gap < 1.0) {
            return Err(format!("`gap` should be above 0 and below 1, but is {}", asked.gap).into());
        }
        let data = rows(&columns, label, &categorical, &reading)?;
        let watching = Watching::default();
        let question = Question { bias: asked.bias, gap: asked.gap };
        let mut found = Vec::new();
        for sides in Sides::chosen(&data, asked.positive.as_deref(), asked.against.as_deref())? {
            let start = Instant::now();
            let watch = |_: rosenblatt::certify::Progress<'_>| {
                let is_over = start.elapsed() > limit || watching.wants_to_stop();
                if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let study = study(&data, sides, question, asked.kernel, &watch)?;
            watching.unless_stopped()?;
            let text = study.certificate.as_ref().map(serde_json::to_string).transpose()?;
            let claim = study.certificate.as_ref().map(serde_json::to_value).transpose()?;
            let findings = serde_json::to_value(study.summary(&data))?;
            found.push(list!(
                findings = values::to_r(&findings),
                text = text,
                claim = values::to_r(&claim.unwrap_or_default())
            ));
        }
        Ok(List::from_values(found).into())
    })
}

/// Checks a certificate against the rows it is about.
#[extendr]
fn check_proof(certificate: &str, columns: List, label: &str, categorical: Robj, reading: List) -> Robj {
    guarded(|| {
        let wrong = |error| format!("not a certificate: {error}");
        let certificate: Certificate = serde_json::from_str(certificate).map_err(wrong)?;
        verify(&certificate, &rows(&columns, label, &categorical, &reading)?)?;
        Ok(true.into())
    })
}

extendr_module! {
    mod proof;
    fn certify;
    fn check_proof;
}
