//! `println!` with the runtime's time in front, so that an example shows when each line was printed.
//!
//! Every example brings its own copy of this file. `tour` and the tests read with [`take`] what a program has
//! printed; an example that runs alone never does.
#![allow(dead_code, reason = "an example that runs alone reads nothing back")]
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A printed line, and when it was printed, counted from the start of the runtime.
pub(crate) type Line = (Duration, String);

static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());

/// The `println!` of the examples; delete the `use` of it, and the standard one takes its place.
macro_rules! println {
    ($($argument:tt)*) => { stage::print_line(format!($($argument)*)) };
}
pub(crate) use println;

/// Prints `text` with its time, and remembers both.
pub(crate) fn print_line(text: String) {
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let at = match brigade::Handle::try_current() {
        Some(runtime) => runtime.backend().now() - brigade::Instant::ZERO,
        // Before `run` it is zero o'clock, and after it the clock stands still.
        None => lines.last().map_or(Duration::ZERO, |last| last.0),
    };
    let line = format!("{:>6} ms  {text}", at.as_millis());
    if cfg!(test) {
        std::println!("{line}"); // which the test harness catches
    } else {
        // Nobody can be told that standard output is closed, and the program is about more than its lines.
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }
    lines.push((at, text));
}

/// Takes what this copy has printed so far.
pub(crate) fn take() -> Vec<Line> {
    std::mem::take(&mut *LINES.lock().unwrap_or_else(PoisonError::into_inner))
}
