//! Vowpal Wabbit text: `label weight |namespace feature:value …`.
//!
//! A feature called `namespace^feature` goes into that namespace, any other into the one without a name;
//! features without names are called by their number. The format has no quotes: a name or label with a blank,
//! a colon or a bar is an error. Vowpal Wabbit itself wants labels that are numbers.

use super::{OutRow, RowWriter, Shape, WriteFormat, push_number, unfit};
use crate::error::{DataError, quote};
use crate::formats::FormatInfo;
use crate::rows::schema::Precision;
use crate::scan::number;

/// Vowpal Wabbit text.
pub(super) struct Vw;

impl WriteFormat for Vw {
    fn info(&self) -> FormatInfo {
        FormatInfo { extensions: &["vw"], ..FormatInfo::new("vw", "Vowpal Wabbit's text") }
    }

    fn numbers_features(&self, shape: &Shape) -> bool {
        shape.names.is_none()
    }

    fn start(&self, shape: &Shape) -> Result<Box<dyn RowWriter>, DataError> {
        if shape.weighted && !shape.labelled {
            let message = "a weight follows a label in Vowpal Wabbit's text, but the rows have no labels";
            return Err(unfit(message, "write CSV or JSON Lines"));
        }
        Ok(Box::new(Rows { shape: shape.clone(), scratch: String::new() }))
    }
}

struct Rows {
    shape: Shape,
    scratch: String,
}

/// Whether `text` can stand without quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains([' ', '\t', '\n', '\r', '|', ':'])
}

impl RowWriter for Rows {
    fn row(&mut self, row: &OutRow<'_>, into: &mut Vec<u8>) -> Result<(), DataError> {
        if let Some(label) = row.label {
            let like_number = label.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
            let is_sound = !like_number || number::parse(label.as_bytes()).is_ok();
            if !is_plain(label) || label.contains(',') || label.starts_with('\'') || !is_sound {
                let label = quote(label.as_bytes());
                let message = format!(
                    "Vowpal Wabbit's text cannot hold the label {label}, expected a number or a word"
                );
                return Err(unfit(message, "write CSV or JSON Lines, which hold any text"));
            }
            into.extend_from_slice(label.as_bytes());
            into.push(b' ');
        }
        if self.shape.weighted {
            push_number(into, row.weight, Precision::Double, &mut self.scratch);
            into.push(b' ');
        }
        into.push(b'|');
        let first = u64::from(!self.shape.zero_based);
        let mut space = "";
        for &(feature, value) in row.entries {
            into.push(b' ');
            if let Some(name) = self.shape.names.as_ref().and_then(|names| names.get(feature as usize)) {
                let (within, own) =
                    name.split_once('^').filter(|(space, _)| !space.is_empty()).unwrap_or(("", name));
                if !is_plain(own) || (!within.is_empty() && !is_plain(within)) {
                    let name = quote(name.as_bytes());
                    let message = format!(
                        "Vowpal Wabbit's text cannot hold the feature name {name}, expected no blank, `:` or `|`"
                    );
                    return Err(unfit(
                        message,
                        "write JSON Lines, which holds any text; of text, write single words: {ngrams=1}",
                    ));
                }
                if within != space {
                    into.push(b'|');
                    into.extend_from_slice(within.as_bytes());
                    into.push(b' ');
                    space = within;
                }
                into.extend_from_slice(own.as_bytes());
            } else {
                into.extend_from_slice((u64::from(feature) + first).to_string().as_bytes());
            }
            into.push(b':');
            push_number(into, value, self.shape.precision, &mut self.scratch);
        }
        into.push(b'\n');
        Ok(())
    }
}
