//! The trace of a run, and the rule by which two of them are equal (section 5 of the oracle's README).

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value as Json, json};

/// What a run did, as the corpus writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    id: String,
    end: u64,
    events: Vec<(u64, String, String, Json)>,
    outcomes: BTreeMap<String, (u64, Json)>,
    reported: Vec<String>,
}

impl Trace {
    pub(super) fn new(
        id: &str,
        events: Vec<(u64, String, &'static str, Json)>,
        outcomes: BTreeMap<String, (u64, Json)>,
        reported: Vec<String>,
    ) -> Trace {
        let end = outcomes.values().map(|(at, _)| *at).max().unwrap_or(0);
        let events = events.into_iter().map(|(at, path, kind, value)| (at, path, kind.to_owned(), value));
        Trace { id: id.to_owned(), end, events: events.collect(), outcomes, reported }
    }

    /// The trace as a line of JSON, in the corpus's form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let outcomes: serde_json::Map<String, Json> =
            self.outcomes.iter().map(|(path, (at, outcome))| (path.clone(), json!([at, outcome]))).collect();
        json!({
            "id": self.id, "end": self.end, "events": self.events,
            "outcomes": outcomes, "reported": self.reported,
        })
    }

    /// Compares with an expected trace: per path the same events at the same times in the same order, the
    /// same outcomes, reports and end. The order between paths at one instant is free.
    ///
    /// # Errors
    ///
    /// The first thing that differs.
    pub fn compare(&self, expected: &Json) -> Result<(), Difference> {
        let mine = self.to_json();
        let (ours, theirs) = (by_path(&mine["events"]), by_path(&expected["events"]));
        let paths: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        let nothing = Vec::new();
        for path in paths {
            let (a, b) = (ours.get(path).unwrap_or(&nothing), theirs.get(path).unwrap_or(&nothing));
            let at = (0..a.len().max(b.len())).find(|at| a.get(*at) != b.get(*at));
            if let Some(at) = at {
                let show = |list: &[Json]| list.get(at).map_or("nothing".to_owned(), Json::to_string);
                return Err(self.differs(&format!("event {at} of {path}"), show(a), show(b)));
            }
        }
        for part in ["outcomes", "reported", "end"] {
            if mine[part] != expected[part] {
                return Err(self.differs(part, mine[part].to_string(), expected[part].to_string()));
            }
        }
        Ok(())
    }

    fn differs(&self, what: &str, got: String, expected: String) -> Difference {
        Difference { id: self.id.clone(), what: what.to_owned(), got, expected }
    }
}

/// Where a trace departs from the expected one.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The scenario.
    pub id: String,
    /// Which part of the trace.
    pub what: String,
    /// What Brigade did.
    pub got: String,
    /// What the corpus says.
    pub expected: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { id, what, got, expected } = self;
        write!(f, "{id}: {what}\n    got      {got}\n    expected {expected}")
    }
}

impl std::error::Error for Difference {}

fn by_path(events: &Json) -> BTreeMap<String, Vec<Json>> {
    let mut paths: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for event in events.as_array().into_iter().flatten() {
        let path = event[1].as_str().unwrap_or_default().to_owned();
        paths.entry(path).or_default().push(json!([event[0], event[2], event[3]]));
    }
    paths
}
