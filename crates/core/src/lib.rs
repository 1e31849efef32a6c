//! placeholder
mod examples; mod random; mod row;
pub use examples::*; pub use random::Random; pub use row::*;
