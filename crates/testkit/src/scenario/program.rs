//! A scenario as it stands in a corpus line.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A list of statements.
pub type Block = Arc<[Stmt]>;

/// One line of a corpus.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenario {
    /// Its name.
    pub id: String,
    /// The laws that it is about.
    #[serde(default)]
    pub laws: Vec<String>,
    /// What the root task does.
    pub root: Block,
    /// The trace that it must give.
    pub expect: Option<serde_json::Value>,
    /// `fifo` if it holds only when ready tasks run first in, first out.
    pub order: Option<String>,
    /// What it is for.
    pub note: Option<String>,
}

impl Scenario {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// What is wrong with the JSON or with a statement, and where.
    pub fn parse(line: &str) -> Result<Scenario, serde_json::Error> {
        serde_json::from_str(line)
    }
}

/// A statement; the fields are described in the oracle's README.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the oracle's README defines every statement and field")]
pub enum Stmt {
    Log {
        k: i64,
    },
    Sleep {
        ms: i64,
    },
    Yield {
        n: Option<u32>,
    },
    Spawn {
        id: String,
        body: Block,
    },
    Cancel {
        task: String,
    },
    Join {
        task: String,
    },
    TryJoin {
        task: String,
    },
    Watch {
        task: String,
    },
    Inspect {
        task: String,
    },
    Spin {
        task: String,
        ms: i64,
    },
    OnDone {
        task: String,
        k: i64,
    },
    Cancelling,
    Raise {
        k: i64,
    },
    Return {
        v: Option<i64>,
    },
    Try {
        body: Block,
        handler: Block,
    },
    Catch {
        body: Block,
        handler: Block,
        settle: Settle,
    },
    Finally {
        body: Block,
        cleanup: Block,
    },
    Guard {
        k: i64,
    },
    Timeout {
        id: String,
        ms: Option<i64>,
        body: Block,
        #[serde(default)]
        fail: bool,
    },
    Reschedule {
        id: String,
        ms: Option<i64>,
    },
    WaitFor {
        ms: Option<i64>,
        body: Option<Block>,
        task: Option<String>,
        #[serde(default)]
        fail: bool,
    },
    Shield {
        body: Block,
    },
    Group {
        id: String,
        body: Block,
    },
    Gspawn {
        group: String,
        id: String,
        body: Block,
    },
    GroupCancel {
        group: String,
    },
    Gather {
        id: String,
        mode: Mode,
        branches: Vec<Block>,
    },
    Wait {
        tasks: Vec<String>,
        when: When,
        ms: Option<i64>,
    },
    AsCompleted {
        tasks: Vec<String>,
        take: Option<usize>,
        ms: Option<i64>,
    },
}

/// What a catch does with its token after the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "named as the methods")]
pub enum Settle {
    Resume,
    Uncancel,
    Drop,
}

/// How a gather treats errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "named as the laws do")]
pub enum Mode {
    FailFast,
    ReturnErrors,
}

/// When a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "asyncio's names")]
pub enum When {
    All,
    First,
    Error,
}
