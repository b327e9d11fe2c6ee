//! The flags of the command line.

use std::iter::Peekable;
#[cfg(target_os = "linux")]
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::contest::Workload;
#[cfg(target_os = "linux")]
use crate::memory::Held;
#[cfg(target_os = "linux")]
use crate::net::Shape;

pub(crate) const HELP: &str = "\
cargo xtask bench [flags]

  --quick               fewer workloads, rivals and pairs: under 100 seconds in all
  --filter TEXT         only workloads or rivals whose name contains TEXT; WORKLOAD/RIVAL asks for both
  --workers N[,N]       worker threads of every runtime (2); of several numbers, all are measured
  --json FILE           write machine and results to FILE
  --markdown FILE       write tables, between the marks of FILE if it has them
  --plot DIR            write pictures
  --from FILE           measure nothing, and show what FILE holds; of several runs, if it is given more than once
  --counters            count allocations, system calls, parks, wakes and steals per operation, instead of measuring times
  --profile RUNTIME WORKLOAD [SECONDS]
                        run one workload of one runtime over and over (5 s), for a profiler
  --help                this text";

pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) quick: bool,
    /// The numbers of workers that are measured, one after the other; at least one.
    pub(crate) workers: Vec<usize>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) markdown: Option<PathBuf>,
    pub(crate) plot: Option<PathBuf>,
    filter: String,
}

pub(crate) enum Mode {
    Compare,
    /// Counts instead of measuring times.
    Count,
    /// The process in which something is counted; started by this program itself.
    Once {
        workload: String,
        contender: String,
        rounds: u32,
    },
    /// Shows the results in these files.
    Render(Vec<PathBuf>),
    Profile {
        runtime: String,
        workload: String,
        seconds: u64,
    },
    /// The process that asks a server; started by this program itself.
    #[cfg(target_os = "linux")]
    Client {
        server: SocketAddr,
        connections: usize,
        shape: Shape,
    },
    /// The process that holds a million tasks; started by this program itself.
    #[cfg(target_os = "linux")]
    Memory {
        runtime: String,
        held: Held,
    },
    Help,
}

impl Options {
    /// Reads the flags; the error says which one cannot be understood.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            mode: Mode::Compare,
            quick: false,
            workers: vec![USUAL],
            json: None,
            markdown: None,
            plot: None,
            filter: String::new(),
        };
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            options.read(&word, &mut words)?;
        }
        Ok(options)
    }

    /// Reads one flag with its values.
    fn read(&mut self, word: &str, words: &mut Peekable<impl Iterator<Item = String>>) -> Result<(), String> {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word {
            "--quick" => self.quick = true,
            "--filter" => self.filter = value()?,
            "--workers" => self.workers = value()?.split(',').map(positive).collect::<Result<_, _>>()?,
            "--json" => self.json = Some(PathBuf::from(value()?)),
            "--markdown" => self.markdown = Some(PathBuf::from(value()?)),
            "--plot" => self.plot = Some(PathBuf::from(value()?)),
            "--from" => self.render(PathBuf::from(value()?)),
            "--profile" => {
                let (runtime, workload) = (value()?, value()?);
                let seconds = words.next_if(|word| !word.starts_with('-'));
                let seconds = seconds.map_or(Ok(5), |seconds| positive(&seconds))? as u64;
                self.mode = Mode::Profile { runtime, workload, seconds };
            }
            #[cfg(target_os = "linux")]
            "--client" => {
                let server = value()?.parse().map_err(|_| "--client needs an address")?;
                let connections = positive(&value()?)?;
                let shape = Shape::parse(&value()?).ok_or("--client needs a kind of traffic")?;
                self.mode = Mode::Client { server, connections, shape };
            }
            #[cfg(target_os = "linux")]
            "--memory" => {
                let runtime = value()?;
                let held = Held::parse(&value()?).ok_or("--memory needs what is held")?;
                self.mode = Mode::Memory { runtime, held };
            }
            "--counters" => self.mode = Mode::Count,
            "--once" => {
                let (workload, contender) = (value()?, value()?);
                let rounds = positive(&value()?)? as u32;
                self.mode = Mode::Once { workload, contender, rounds };
            }
            "--help" => self.mode = Mode::Help,
            _ => return Err(format!("there is no flag {word}")),
        }
        Ok(())
    }

    fn render(&mut self, file: PathBuf) {
        match &mut self.mode {
            Mode::Render(files) => files.push(file),
            mode => *mode = Mode::Render(vec![file]),
        }
    }

    /// The number of workers where only one can be meant.
    pub(crate) fn usual_workers(&self) -> usize {
        usual(&self.workers)
    }

    pub(crate) fn is_filtered(&self) -> bool {
        !self.filter.is_empty()
    }

    /// Whether the flags let this comparison through. A filter asks for a workload also in a quick run that has
    /// it not.
    pub(crate) fn wants(&self, workload: &Workload<'_>, rival: &str) -> bool {
        match self.filter.split_once('/') {
            _ if self.filter.is_empty() => !self.quick || workload.quick.contains(&rival),
            Some((left, right)) => workload.name.contains(left) && rival.contains(right),
            None => workload.name.contains(&self.filter) || rival.contains(&self.filter),
        }
    }
}

/// Of several numbers of workers the one that stands for all: two, or else the first.
pub(crate) fn usual(workers: &[usize]) -> usize {
    let first = workers.first().copied().unwrap_or(USUAL);
    if workers.contains(&USUAL) { USUAL } else { first }
}

const USUAL: usize = 2;

fn positive(word: &str) -> Result<usize, String> {
    let number = word.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{word} is not a positive number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn flags_are_read() {
        let options = parse("--quick --workers 4 --json x.json --filter spawn").unwrap();
        assert!(options.quick && options.workers == [4] && options.json.is_some());
        let profile = parse("--profile tokio skynet 2 --quick").unwrap();
        assert!(profile.quick && matches!(profile.mode, Mode::Profile { seconds: 2, .. }));
    }

    #[test]
    fn several_numbers_of_workers_have_a_usual_one() {
        let usual = |line: &str| parse(line).map(|options| (options.workers.len(), options.usual_workers()));
        let lines = ["", "--workers 1,2,4", "--workers 4,1"];
        assert_eq!(lines.map(usual), [Ok((1, 2)), Ok((3, 2)), Ok((2, 4))]);
    }

    #[test]
    fn filters_and_haste_leave_out() {
        let [spawn, remote] = ["spawn_one", "remote"].map(|name| Workload {
            name,
            metrics: &[],
            contenders: Vec::new(),
            quick: &["tokio"],
        });
        let wanted = |line: &str| {
            let options = parse(line).unwrap();
            let pairs = [(&spawn, "tokio"), (&spawn, "smol"), (&remote, "tokio")];
            pairs.map(|(workload, rival)| options.wants(workload, rival))
        };
        assert_eq!(wanted(""), [true, true, true]);
        assert_eq!(wanted("--quick"), [true, false, true]);
        assert_eq!(wanted("--quick --filter smol"), [false, true, false]);
        assert_eq!(wanted("--filter spawn/tok"), [true, false, false]);
    }

    #[test]
    fn nonsense_is_refused() {
        for line in ["--workers 0", "--workers 1,", "--workers", "--fast", "--profile tokio"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
