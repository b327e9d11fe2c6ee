//! What the numbers depend on, as far as the system tells: on Linux by `/proc`, elsewhere little.

use std::fs;
use std::thread;
use std::time::Duration;

/// Processor, number of cores and system, for people.
pub(crate) fn line() -> String {
    format!("{}, {} cores, {} {}", cpu(), cores(), std::env::consts::OS, kernel())
}

/// The name of the processor.
pub(crate) fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    name.unwrap_or(std::env::consts::ARCH).to_owned()
}

pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

pub(crate) fn kernel() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

/// Running processes per core over the last minute: above 1 the machine is busy with others.
pub(crate) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

/// CPU time of all threads of this process so far, in steps of the kernel's tick; zero where it cannot be had.
pub(crate) fn cpu_time() -> Duration {
    const TICK: Duration = Duration::from_millis(10);
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field, the program's name, is the only one that may hold spaces.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u32>().ok());
    TICK * ticks.sum::<u32>()
}
