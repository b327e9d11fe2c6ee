//! What the numbers depend on, as far as the system tells: on Linux by `/proc`, elsewhere little.

use std::fs;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

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

/// CPU time of all threads of this process so far, and of processes that work for it, in steps of the kernel's tick;
/// zero where it cannot be had.
pub(crate) fn cpu_time() -> Duration {
    let helpers = HELPERS.lock().unwrap_or_else(PoisonError::into_inner);
    let helped: Duration = helpers.iter().map(|process| cpu_time_of(&process.to_string())).sum();
    // A helper that has ended and was waited for counts as a part of this process.
    cpu_time_of("self") + helped
}

/// Takes a child process into account, which works for us.
pub(crate) fn adopt(process: u32) {
    HELPERS.lock().unwrap_or_else(PoisonError::into_inner).push(process);
}

static HELPERS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Looks whether other processes take time from us.
pub(crate) struct Watch {
    begin: Instant,
    others: Duration,
}

impl Watch {
    pub(crate) fn start() -> Watch {
        Watch { begin: Instant::now(), others: time_of_others() }
    }

    /// Whether they took more than a tenth of a core since the start, beyond what two coarse clocks may invent.
    pub(crate) fn is_disturbed(&self) -> bool {
        time_of_others().saturating_sub(self.others) > TICK * 3 + self.begin.elapsed() / 10
    }
}

/// What all cores have worked for somebody else, or lost to another machine on the same hardware. The kernel's work for
/// the network is left out, since it is charged to whom it happens to interrupt.
fn time_of_others() -> Duration {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields: Vec<u32> = text.split_whitespace().skip(1).map_while(|field| field.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal
    let busy = [0, 1, 2, 5, 7].iter().filter_map(|index| fields.get(*index)).sum::<u32>();
    (TICK * busy).saturating_sub(cpu_time())
}

fn cpu_time_of(process: &str) -> Duration {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field, the program's name, is the only one that may hold spaces.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    // utime, stime, cutime, cstime
    let ticks = fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u32>().ok());
    TICK * ticks.sum::<u32>()
}

const TICK: Duration = Duration::from_millis(10);
