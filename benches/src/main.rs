//! `cargo xtask bench`; the library tells what is measured.

use std::process::ExitCode;

fn main() -> ExitCode {
    brigade_benches::main(None)
}
