//! The flags of the command line.

use std::path::PathBuf;

use crate::workloads::Workload;

pub(crate) const HELP: &str = "\
cargo xtask bench [flags]

  --quick               fewer pairs: under a minute in all
  --filter TEXT         only workloads or rivals whose name contains TEXT
  --workers N           worker threads of every runtime (2)
  --json FILE           write machine and results to FILE
  --profile RUNTIME WORKLOAD [SECONDS]
                        run one workload of one runtime over and over (5 s), for a profiler
  --help                this text";

pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) quick: bool,
    pub(crate) workers: usize,
    pub(crate) json: Option<PathBuf>,
    filter: String,
}

pub(crate) enum Mode {
    Compare,
    Profile { runtime: String, workload: Workload, seconds: u64 },
    Help,
}

impl Options {
    /// Reads the flags; the error says which one cannot be understood.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options =
            Options { mode: Mode::Compare, quick: false, workers: 2, json: None, filter: String::new() };
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--quick" => options.quick = true,
                "--filter" => options.filter = value()?,
                "--workers" => options.workers = positive(&value()?)?,
                "--json" => options.json = Some(PathBuf::from(value()?)),
                "--profile" => {
                    let (runtime, workload) = (value()?, Workload::parse(&value()?)?);
                    let seconds = words.next_if(|word| !word.starts_with('-'));
                    let seconds = seconds.map_or(Ok(5), |seconds| positive(&seconds))? as u64;
                    options.mode = Mode::Profile { runtime, workload, seconds };
                }
                "--help" => options.mode = Mode::Help,
                _ => return Err(format!("there is no flag {word}")),
            }
        }
        Ok(options)
    }

    /// Whether the filter lets this comparison through.
    pub(crate) fn wants(&self, workload: Workload, rival: &str) -> bool {
        workload.name().contains(&self.filter) || rival.contains(&self.filter)
    }
}

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
        assert!(options.quick && options.workers == 4 && options.json.is_some());
        assert!(options.wants(Workload::SpawnOne, "tokio") && !options.wants(Workload::Skynet, "tokio"));
        let profile = parse("--profile tokio skynet 2 --quick").unwrap();
        assert!(profile.quick && matches!(profile.mode, Mode::Profile { seconds: 2, .. }));
    }

    #[test]
    fn nonsense_is_refused() {
        for line in ["--workers 0", "--workers", "--fast", "--profile tokio walk"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
