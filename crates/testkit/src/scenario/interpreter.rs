//! The statements that run other statements.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use brigade_combinators::{GroupError, TaskGroup, Timeout, gather_all, wait_for};
use brigade_core::{
    Builder, CancelExt as _, Instant, TaskError, catch_cancel, current_task, shield, sleep, yield_now,
};
use serde_json::{Value as Json, json};

use super::program::{Block, Mode, Settle, Stmt};
use super::waiting;
use super::world::{Fault, Held, Value, World};
use crate::breakable;

/// How a block ends, other than by an error or a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Return(Value),
}

pub(super) type Step = Result<Flow, Fault>;

/// Where statements are executed.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) world: World,
    pub(super) path: Arc<str>,
}

impl Place {
    pub(super) fn log(&self, kind: &'static str, value: Json) {
        self.world.log(&self.path, kind, value);
    }

    fn below(&self, id: &str) -> String {
        format!("{}/{id}", self.path)
    }
}

/// The body of a task.
pub(super) async fn task_body(world: World, path: String, body: Block) -> Result<Value, Fault> {
    let place = Place { world, path: path.into() };
    place.log("start", Json::Null);
    branch_body(place, body).await
}

/// The body of a task or of a branch, which has no start of its own.
async fn branch_body(place: Place, body: Block) -> Result<Value, Fault> {
    let flow = block(place.clone(), body).await;
    let result = match flow {
        Ok(Flow::Return(value)) => Ok(value),
        Ok(Flow::Next) => Ok(None),
        Err(fault) => Err(fault.at(&place.path)),
    };
    place.world.returned(&place.path, &result);
    result
}

/// Executes a block; boxed, since blocks nest.
pub(super) fn block(place: Place, stmts: Block) -> Pin<Box<dyn Future<Output = Step> + Send>> {
    Box::pin(async move {
        let mut guards = Guards { place: place.clone(), numbers: Vec::new() };
        for stmt in stmts.iter() {
            place.world.enter_statement();
            if let Stmt::Guard { k } = stmt {
                guards.numbers.push((place.world.guard_made(&place.path), *k));
                continue;
            }
            match breakable(execute(&place, stmt)).await? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    })
}

/// The guards of a block, dropped last in, first out.
struct Guards {
    place: Place,
    numbers: Vec<(u64, i64)>,
}

impl Drop for Guards {
    fn drop(&mut self) {
        while let Some((number, key)) = self.numbers.pop() {
            self.place.world.guard_dropped(&self.place.path, number);
            self.place.log("drop", json!(key));
        }
    }
}

pub(super) fn millis(ms: i64) -> Duration {
    Duration::from_millis(ms.max(0).unsigned_abs())
}

async fn execute(place: &Place, stmt: &Stmt) -> Step {
    match stmt {
        Stmt::Log { k } => place.log("log", json!(k)),
        Stmt::Sleep { ms } => sleep(millis(*ms)).await,
        Stmt::Yield { n } => {
            for _ in 0..n.unwrap_or(1) {
                yield_now().await;
            }
        }
        Stmt::Raise { k } => return Err(Fault::new(json!(k))),
        Stmt::Return { v } => return Ok(Flow::Return(*v)),
        Stmt::Cancelling => place.log("cancelling", json!(current_task().map(|task| task.cancelling()))),
        Stmt::Guard { .. } => {}
        Stmt::Spawn { id, body } => spawn(place, id, body),
        Stmt::Gspawn { group, id, body } => spawn_child(place, group, id, body),
        Stmt::GroupCancel { group } => {
            place.world.group(group).inspect(TaskGroup::cancel);
            place.log("group_cancel", json!(group));
        }
        Stmt::Cancel { task } => cancel(place, task),
        Stmt::Reschedule { id, ms } => reschedule(place, id, *ms),
        Stmt::Try { .. } | Stmt::Catch { .. } | Stmt::Finally { .. } | Stmt::Shield { .. } => {
            return guarded(place, stmt).await;
        }
        Stmt::Timeout { .. } | Stmt::WaitFor { body: Some(_), .. } => return limited(place, stmt).await,
        Stmt::Group { id, body } => return group(place, id, body).await,
        Stmt::Gather { id, mode, branches } => return gather(place, id, *mode, branches).await,
        other => return waiting::execute(place, other).await,
    }
    Ok(Flow::Next)
}

fn spawn(place: &Place, id: &str, body: &Block) {
    let path = place.below(id);
    let future = task_body(place.world.clone(), path.clone(), body.clone());
    let task = Builder::new().name(path.as_str()).spawn(future);
    place.world.adopt(id, &path, &task.to_ref());
    place.world.hold(id, Held::Bare(task));
}

fn spawn_child(place: &Place, group: &str, id: &str, body: &Block) {
    let path = place.below(id);
    let future = task_body(place.world.clone(), path.clone(), body.clone());
    let spawned = place.world.group(group).and_then(|group| {
        let child = group.child().name(path.as_str());
        child.try_spawn(future).ok()
    });
    match spawned {
        Some(task) => {
            place.world.adopt(id, &path, &task.to_ref());
            place.world.hold(id, Held::Child(task));
        }
        _ => place.log("gspawn", json!([id, "refused"])),
    }
}

fn cancel(place: &Place, name: &str) {
    let task = match name {
        "self" => current_task(),
        name => place.world.task(name).map(|(_, task)| task),
    };
    let told = task.map_or("unknown", |task| place.world.cancel(&task));
    place.log("cancel", json!([name, told]));
}

fn reschedule(place: &Place, id: &str, ms: Option<i64>) {
    let at = ms.map(|ms| if ms < 0 { Instant::now() - millis(-ms) } else { Instant::now() + millis(ms) });
    if place.world.timeout(id).is_some_and(|timeout| timeout.reschedule(at).is_err()) {
        place.log("reschedule", json!([id, "expired"]));
    }
}

async fn guarded(place: &Place, stmt: &Stmt) -> Step {
    match stmt {
        Stmt::Try { body, handler } => match block(place.clone(), body.clone()).await {
            Ok(flow) => Ok(flow),
            Err(fault) => {
                place.log("caught", fault.tree);
                block(place.clone(), handler.clone()).await
            }
        },
        Stmt::Catch { body, handler, settle } => catch(place, body, handler, *settle).await,
        Stmt::Finally { body, cleanup } => {
            let (path, cleanup) = (place.path.clone(), block(place.clone(), cleanup.clone()));
            let cleanup = async move { cleanup.await.map(|_| ()).map_err(|fault| fault.at(&path)) };
            block(place.clone(), body.clone()).finally(cleanup).await
        }
        Stmt::Shield { body } => shield(block(place.clone(), body.clone())).await,
        _ => Ok(Flow::Next),
    }
}

async fn catch(place: &Place, body: &Block, handler: &Block, settle: Settle) -> Step {
    let token = match catch_cancel(block(place.clone(), body.clone())).await {
        Ok(step) => return step,
        Err(token) => token,
    };
    place.log("cancelled", Json::Null);
    // An error or a `return` drops the token on the way.
    let flow = block(place.clone(), handler.clone()).await?;
    if flow != Flow::Next {
        return Ok(flow);
    }
    match settle {
        Settle::Resume => token.resume().await,
        Settle::Uncancel => {
            token.uncancel();
            place.log("uncancelled", Json::Null);
        }
        Settle::Drop => drop(token),
    }
    Ok(Flow::Next)
}

async fn limited(place: &Place, stmt: &Stmt) -> Step {
    let (kind, id, fail, step) = match stmt {
        Stmt::Timeout { id, ms, body, fail } => {
            let body = block(place.clone(), body.clone());
            let scope = Timeout::scope(ms.map(millis), |timeout| {
                place.world.open_timeout(id, timeout);
                body
            });
            ("timeout", json!(id), *fail, scope.await)
        }
        Stmt::WaitFor { ms, body: Some(body), fail, .. } => {
            let body = block(place.clone(), body.clone());
            ("wait_for", Json::Null, *fail, wait_for(body, ms.map(millis)).await)
        }
        _ => return Ok(Flow::Next),
    };
    let how = match &step {
        Ok(Ok(_)) => "done",
        Ok(Err(_)) => "error",
        Err(_) => "expired",
    };
    place.log(kind, json!([id, how]));
    match step {
        Ok(step) => step,
        Err(_) if fail => Err(Fault::new(json!("timeout"))),
        Err(_) => Ok(Flow::Next),
    }
}

async fn group(place: &Place, id: &str, body: &Block) -> Step {
    let outcome = TaskGroup::<Fault>::scope(|group| {
        place.world.open_group(id, group);
        block(place.clone(), body.clone())
    })
    .await;
    match outcome {
        Ok(flow) => {
            place.log("group", json!([id, "done"]));
            Ok(flow)
        }
        Err(errors) => {
            let how = if errors.is_cancelled() { "cancelled" } else { "failed" };
            place.log("group", json!([id, how]));
            Err(Fault::new(tree(&errors)))
        }
    }
}

fn tree(errors: &GroupError<Fault>) -> Json {
    let entries: Vec<Json> = errors
        .iter()
        .map(|entry| {
            let from = if entry.is_body() { "body" } else { entry.name() };
            let error = match entry.error() {
                TaskError::Failed(fault) => fault.tree.clone(),
                other => json!(other.to_string()),
            };
            json!({"from": from, "error": error})
        })
        .collect();
    json!({"group": entries})
}

async fn gather(place: &Place, id: &str, mode: Mode, branches: &[Block]) -> Step {
    let path = place.below(id);
    let futures = branches.iter().enumerate().map(|(index, body)| {
        let place = Place { world: place.world.clone(), path: format!("{path}.{index}").into() };
        branch_body(place, body.clone())
    });
    let gathered = gather_all(futures.collect::<Vec<_>>());
    let outcomes: Vec<Json> = match mode {
        Mode::ReturnErrors => {
            let results = gathered.return_errors().await;
            let outcome = |result: Result<Value, Fault>| match result {
                Ok(value) => json!({"value": value}),
                Err(fault) => json!({"error": fault.tree}),
            };
            results.into_iter().map(outcome).collect()
        }
        Mode::FailFast => match gathered.await {
            Ok(values) => values.into_iter().map(|value| json!({"value": value})).collect(),
            Err(fault) => {
                place.log("gather", json!([id, "failed"]));
                return Err(fault);
            }
        },
    };
    place.log("gather", json!([id, outcomes]));
    Ok(Flow::Next)
}
