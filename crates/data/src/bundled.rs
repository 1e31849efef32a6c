//! Small real data sets that come with the crate, for demonstrations, examples and tests.
//!
//! For their origin and licence, see `bundled/README.md`.

use crate::bytes::source::Source;

/// What the licences of these sets want to come along with them.
pub const NOTICE: &str = include_str!("../bundled/NOTICE.md");

/// 5,574 text messages, `ham` or `spam`: one a line, label first.
pub fn sms_spam() -> Source {
    Source::bytes("sms-spam.tsv", &include_bytes!("../bundled/sms-spam.tsv")[..])
}

/// [`iris`] as text.
pub const IRIS: &str = include_str!("../bundled/iris.csv");

/// 150 irises of three kinds, four measurements each.
pub fn iris() -> Source {
    Source::bytes("iris.csv", IRIS.as_bytes())
}

/// [`penguins`] as text.
pub const PENGUINS: &str = include_str!("../bundled/penguins.csv");

/// 344 penguins of three kinds, measurements and categories, with missing values.
pub fn penguins() -> Source {
    Source::bytes("penguins.csv", PENGUINS.as_bytes())
}

/// 1,372 banknotes, genuine or forged, four measurements of the image each.
pub fn banknote() -> Source {
    Source::bytes("banknote.csv", &include_bytes!("../bundled/banknote.csv")[..])
}
