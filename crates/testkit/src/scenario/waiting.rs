//! The statements that wait for tasks.

use brigade_combinators::{as_completed, timeout_at, wait, wait_for};
use brigade_core::{Instant, Task, TaskError, TaskState, sleep};
use serde_json::{Value as Json, json};

use super::interpreter::{Flow, Place, Step, millis};
use super::program::{Stmt, When};
use super::world::{Fault, Held, Value, World};

pub(super) async fn execute(place: &Place, stmt: &Stmt) -> Step {
    match stmt {
        Stmt::Join { task } => {
            let _ = join(place, "join", task).await;
        }
        Stmt::TryJoin { task } => return try_join(place, task).await,
        Stmt::Watch { task } => {
            if let Some((_, watched)) = known(place, "watch", task) {
                watched.finished().await;
                place.log("watch", json!(task));
            }
        }
        Stmt::Inspect { task } => {
            if let Some((_, task_ref)) = known(place, "inspect", task) {
                place.log("inspect", json!([task, describe(task_ref.state())]));
            }
        }
        Stmt::Spin { task, ms } => spin(place, task, *ms).await,
        Stmt::OnDone { task, k } => {
            if let Some((path, task_ref)) = known(place, "on_done", task) {
                let (world, path, k) = (place.world.clone(), format!("{path}!"), *k);
                task_ref.on_done(move |_| world.log(&path, "callback", json!(k)));
            }
        }
        Stmt::WaitFor { ms, task: Some(task), fail, .. } => {
            return limited_join(place, task, *ms, *fail).await;
        }
        Stmt::Wait { tasks, when, ms } => wait_for_some(place, tasks, *when, *ms).await,
        Stmt::AsCompleted { tasks, take, ms } => in_order_of_completion(place, tasks, *take, *ms).await,
        _ => {}
    }
    Ok(Flow::Next)
}

fn describe(state: TaskState) -> &'static str {
    use brigade_core::Ending;
    match state {
        TaskState::Done(Ending::Value) => "value",
        TaskState::Done(Ending::Failed) => "error",
        TaskState::Done(Ending::Cancelled) => "cancelled",
        TaskState::Done(Ending::Panicked) => "panicked",
        _ => "pending",
    }
}

fn known(place: &Place, kind: &'static str, id: &str) -> Option<(String, brigade_core::TaskRef)> {
    let task = place.world.task(id);
    if task.is_none() {
        place.log(kind, json!([id, "unknown"]));
    }
    task
}

/// Awaits a task by value and logs its outcome.
async fn join(place: &Place, kind: &'static str, id: &str) -> Option<Json> {
    known(place, kind, id)?;
    let outcome = match place.world.take(id)? {
        Held::Bare(task) => outcome_of(place, id, task.await),
        Held::Child(task) => outcome_of(place, id, task.await),
    };
    place.log(kind, json!([id, outcome]));
    Some(outcome)
}

fn outcome_of<E>(place: &Place, id: &str, outcome: Result<Value, TaskError<E>>) -> Json {
    place.world.outcome(id, &outcome)
}

async fn try_join(place: &Place, id: &str) -> Step {
    let Some(outcome) = join(place, "try_join", id).await else { return Ok(Flow::Next) };
    if outcome == "cancelled" {
        return Err(Fault::new(outcome));
    }
    match outcome.get("error") {
        Some(error) => Err(Fault::new(error.clone())),
        None => Ok(Flow::Next),
    }
}

async fn spin(place: &Place, id: &str, ms: i64) {
    let Some((_, task)) = known(place, "spin", id) else { return };
    let mut sleeps = 0;
    while !task.done() {
        sleeps += 1;
        sleep(millis(ms)).await;
    }
    place.log("spin", json!([id, sleeps]));
}

async fn limited_join(place: &Place, id: &str, ms: Option<i64>, fail: bool) -> Step {
    if known(place, "wait_for", id).is_none() {
        return Ok(Flow::Next);
    }
    let limit = ms.map(millis);
    let outcome = match place.world.take(id) {
        Some(Held::Bare(task)) => wait_for(task, limit).await.map(|outcome| outcome_of(place, id, outcome)),
        Some(Held::Child(task)) => wait_for(task, limit).await.map(|outcome| outcome_of(place, id, outcome)),
        None => return Ok(Flow::Next),
    };
    let expired = outcome.is_err();
    place.log("wait_for", json!([id, outcome.unwrap_or_else(|_| json!("expired"))]));
    if expired && fail { Err(Fault::new(json!("timeout"))) } else { Ok(Flow::Next) }
}

/// Handles lent for a wait; they go back however it ends.
struct Lent {
    world: World,
    names: Vec<String>,
    tasks: Vec<Task<Value, Fault>>,
}

impl Lent {
    fn new(place: &Place, ids: &[String]) -> Lent {
        let mut lent = Lent { world: place.world.clone(), names: Vec::new(), tasks: Vec::new() };
        for id in ids {
            match place.world.take(id) {
                Some(Held::Bare(task)) => {
                    lent.names.push(id.clone());
                    lent.tasks.push(task);
                }
                Some(child) => place.world.hold(id, child),
                None => {}
            }
        }
        lent
    }

    fn name(names: &[String], ids: &[brigade_core::TaskId], task: &Task<Value, Fault>) -> String {
        let at = ids.iter().position(|id| *id == task.id()).unwrap_or_default();
        names[at].clone()
    }

    fn ids(&self) -> Vec<brigade_core::TaskId> {
        self.tasks.iter().map(Task::id).collect()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        for (name, task) in self.names.drain(..).zip(self.tasks.drain(..)) {
            self.world.hold(&name, Held::Bare(task));
        }
    }
}

async fn wait_for_some(place: &Place, tasks: &[String], when: When, ms: Option<i64>) {
    let mut lent = Lent::new(place, tasks);
    let (names, ids) = (lent.names.clone(), lent.ids());
    let waiting = wait(&mut lent.tasks[..]);
    let waiting = match when {
        When::All => waiting.all_completed(),
        When::First => waiting.first_completed(),
        When::Error => waiting.first_exception(),
    };
    let (done, pending) = waiting.timeout(ms.map(millis)).await;
    let named = |tasks: Vec<&mut Task<Value, Fault>>| -> Vec<String> {
        tasks.iter().map(|task| Lent::name(&names, &ids, task)).collect()
    };
    place.log("wait", json!([named(done), named(pending)]));
}

async fn in_order_of_completion(place: &Place, tasks: &[String], take: Option<usize>, ms: Option<i64>) {
    let mut lent = Lent::new(place, tasks);
    let (names, ids) = (lent.names.clone(), lent.ids());
    let deadline = ms.map(|ms| Instant::now() + millis(ms));
    let mut stream = as_completed(&mut lent.tasks[..]);
    let mut taken = 0;
    while take.is_none_or(|take| taken < take) {
        match timeout_at(deadline, stream.next()).await {
            Ok(Some(task)) => {
                let name = Lent::name(&names, &ids, task);
                if let Some(outcome) = task.try_take() {
                    place.log("as_completed", json!([name, outcome_of(place, &name, outcome)]));
                }
                taken += 1;
            }
            Ok(None) => break,
            Err(_) => {
                place.log("as_completed", json!("timeout"));
                break;
            }
        }
    }
}
