//! From what stands in a file to the numbers a learner sees, in ways that are fitted first.
//!
//! An encoder is fitted in one pass over the training data and stored in the [`crate::Schema`], so that
//! prediction sees what training saw. Fitting does not depend on the order of the rows where that can be
//! had (vocabularies are sorted), and on nothing else but the rows where it cannot.

mod bend;
mod columns;
mod cross;
mod names;
mod pairs;
mod scale;
mod tokens;

pub use bend::{Bend, Bends, Shape, Surface};
pub(crate) use bend::{bending, settle};
pub(crate) use columns::{ColumnEncoder, FitBounds, check_width, fitting, layout_of};
pub(crate) use cross::{Crosser, crossed_names, n_crossed};
pub(crate) use scale::{DENSE_SHARE, FEW_NUMBERS, Fit, Numbers, share_of};
pub use scale::{Scaler, Scaling};
pub use tokens::{FEW_TEXTS, Slot, TextEncoder, TextOptions, Units, Weighting};
pub(crate) use tokens::{Side, TextRows};
