//! The program behind `cargo xtask`; the library beside it does the work.

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask::main()
}
