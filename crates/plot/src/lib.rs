//! Pictures as values: one scene that becomes SVG, PNG or terminal text.
//!
//! A [`Picture`] holds shapes and words in pixels and knows nothing of files. What is to be shown comes in as plain
//! numbers and closures; this crate computes nothing about learning. Its charts:
//!
//! | to show | use |
//! |---|---|
//! | points, the regions of classes and the boundary between them | [`Boundary`] |
//! | curves, and levels they should keep to | [`Lines`] |
//! | how values are spread | [`Histogram`] |
//! | named values, for and against | [`Bars`] |
//! | numbers that form pictures, such as weights of pixels | [`Heat`] |
//! | how high something is over two axes | [`Surface`] |
//! | which classes are taken for which | [`Confusion`] |
//! | which labels follow which | [`Transitions`] |
//! | anything else | [`Chart`], and shapes of your own |
//!
//! [`Picture::sheet`] puts pictures side by side, [`Picture::film`] shows one after the other.
//!
//! ```
//! use rosenblatt_plot::{Boundary, Canvas, Dot, Look, Range, Svg, Terminal, Verdict};
//!
//! let dots = [(4.0, 0.0, 1), (1.0, 1.0, 0), (0.0, 1.0, 0), (-2.0, -2.0, 1)];
//! let dots: Vec<Dot> =
//!     dots.iter().enumerate().map(|(row, &(x, y, class))| Dot::new(row, x, y, class)).collect();
//! let mut decide = |x: f64, y: f64| {
//!     let score = x - 3.0 * y;
//!     Verdict { class: usize::from(score > 0.0), margin: score.abs() }
//! };
//! let classes = ["star".to_owned(), "dot".to_owned()];
//! let picture = Boundary::new("Two classes", &classes, &dots, &mut decide)?.draw(Canvas::default());
//! assert!(picture.svg(&Svg::default()).contains("class=\"boundary"));
//! assert!(picture.png(Look::Light, 1.0).starts_with(b"\x89PNG"));
//! assert!(picture.text(Terminal { colour: false, look: None }).contains('■'));
//! # Ok::<(), rosenblatt_plot::PlotError>(())
//! ```

mod axis;
mod bars;
mod boundary;
mod chart;
mod confusion;
mod font;
mod grid;
mod heat;
mod histogram;
mod ink;
mod lines;
mod marker;
mod png;
mod raster;
mod regions;
mod scene;
mod svg;
mod terminal;
mod transitions;
mod truetype;

pub use axis::{Axis, PlotError, Range, number};
pub use bars::{Bar, Bars};
pub use boundary::{Boundary, Dot};
pub use chart::{Aspect, Canvas, Chart, Key, Plot, Swatch, note_lines};
pub use confusion::Confusion;
pub use font::Ruler;
pub use heat::{Heat, Surface, Tile};
pub use histogram::Histogram;
pub use ink::{HEAT_STEPS, Hue, Ink, Look, Rgb};
pub use lines::{Level, Lines, Mark, Series};
pub use marker::Marker;
pub use regions::Verdict;
pub use scene::{Anchor, Film, Group, Item, Outline, Paint, Picture, Point, Rect, Shape, Text, at};
pub use svg::{Svg, escaped};
pub use terminal::Terminal;
pub use transitions::Transitions;
