//! T7, T8: names, and who runs here.

use crate::conformance::prelude::*;

/// `spawn` names tasks `task-<n>`; builders and `set_name` give others, which need not be unique.
pub fn law_t7_names(kitchen: &Kitchen) {
    kitchen.run(async {
        let (plain, other) = (spawn(async {}), spawn(async {}));
        let number = plain.name().strip_prefix("task-").map(|n| n.parse::<u64>().is_ok());
        assert_eq!(number, Some(true), "{}", plain.name());
        assert_ne!(plain.name(), other.name());
        let named = Builder::new().name("chef").spawn(async {});
        let twin = Builder::new().name("chef").spawn(async {});
        assert_eq!((&*named.name(), &*twin.name()), ("chef", "chef"));
        assert_ne!(named.id(), twin.id());
        twin.set_name("sous-chef");
        assert_eq!(&*twin.to_ref().name(), "sous-chef");
        for task in [plain, other, named, twin] {
            value(task.await);
        }
    });
}

/// The main task is named `main`.
pub fn law_t7_main_is_named_main(kitchen: &Kitchen) {
    kitchen.run(async {
        assert_eq!(&*current_task().expect("main is a task").name(), "main");
    });
}

/// A name is there at the first poll, and one that the body sets is not overwritten.
pub fn law_t7_name_is_visible_at_the_first_poll(kitchen: &Kitchen) {
    kitchen.run(async {
        let task = Builder::new().name("job").spawn(async {
            let me = current_task().expect("inside a task");
            assert_eq!(&*me.name(), "job");
            me.set_name("renamed");
            yield_now().await;
            assert_eq!(&*me.name(), "renamed");
        });
        let watch = task.to_ref();
        value(task.await);
        assert_eq!(&*watch.name(), "renamed");
    });
}

/// The spawn location is the line that called `spawn`, also through a builder and a group.
pub fn law_t7_spawn_location_is_the_callers(kitchen: &Kitchen) {
    kitchen.run(async {
        let (task, line) = (spawn(async {}), line!());
        assert_eq!((task.location().line(), task.location().file()), (line, file!()));
        let (built, line) = (Builder::new().spawn(async {}), line!());
        assert_eq!(built.location().line(), line);
        let group = TaskGroup::<Burnt>::scope(async |group| {
            let (child, line) = (group.spawn(async {}), line!());
            Ok((child.location().line(), line))
        });
        let (found, line) = group.await.expect("nobody fails");
        assert_eq!(found, line);
        value(task.await);
        value(built.await);
    });
}

/// `current_task()` is right in nested polls, before and after awaiting others.
pub fn law_t8_current_task_in_nested_polls(kitchen: &Kitchen) {
    kitchen.run(async {
        let main = current_task().expect("main is a task").id();
        let task = spawn(async move {
            let me = current_task().expect("inside a task").id();
            assert_ne!(me, main);
            let inner = async { current_task().map(|task| task.id()) };
            assert_eq!(timeout(ms(1000), inner).await.expect("in time"), Some(me));
            let child = spawn(async { Ok::<_, Burnt>(current_task().map(|task| task.id())) });
            let child_id = child.id();
            assert_eq!(value(child.await), Some(child_id));
            assert_eq!(current_task().map(|task| task.id()), Some(me));
            Ok::<_, Burnt>(me)
        });
        let id = task.id();
        assert_eq!(value(task.await), id);
        assert_eq!(current_task().map(|task| task.id()), Some(main));
    });
}

/// `current_task()` is right in `Drop` of the future, however it comes to be dropped.
pub fn law_t8_current_task_in_drop_of_the_future(kitchen: &Kitchen) {
    struct Look(Arc<Mutex<Vec<Option<TaskId>>>>);
    impl Drop for Look {
        fn drop(&mut self) {
            self.0.lock().expect("whole").push(current_task().map(|task| task.id()));
        }
    }
    fn cancel(task: &Task<(), Burnt>) {
        task.cancel();
    }
    kitchen.run(async {
        let seen = Arc::new(Mutex::new(Vec::new()));
        for end in [cancel, Task::abort] {
            let ready = Gate::new();
            let (look, gate) = (Look(seen.clone()), ready.clone());
            let task = spawn(async move {
                let _look = look;
                parked(gate).await
            });
            let id = task.id();
            ready.wait().await;
            end(&task);
            task.finished().await;
            assert_eq!(*seen.lock().expect("whole"), [Some(id)]);
            seen.lock().expect("whole").clear();
        }
    });
}

/// Done-callbacks see no current task, and neither does the world outside.
pub fn law_t8_no_current_task_in_callbacks_and_outside(kitchen: &Kitchen) {
    assert!(current_task().is_none() && all_tasks().is_empty());
    kitchen.run(async {
        let (seen, called) = (Slot::new(), Gate::new());
        let task = spawn(async {});
        task.on_done({
            let (seen, called) = (seen.clone(), called.clone());
            move |_| {
                seen.put(current_task().is_none());
                called.open();
            }
        });
        called.wait().await;
        assert_eq!(seen.take(), Some(true));
    });
    assert!(current_task().is_none());
}

/// `all_tasks()` holds what is not done, the caller included, and nothing that is done.
pub fn law_t8_all_tasks_are_the_unfinished(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let live: Vec<_> = (0..10).map(|_| spawn(parked(ready.clone()))).collect();
        let done = spawn(async {});
        let done_id = done.id();
        value(done.await);
        ready.reached(10).await;
        let ids: Vec<_> = all_tasks().iter().map(TaskRef::id).collect();
        assert!(ids.contains(&current_task().expect("main is a task").id()));
        assert!(live.iter().all(|task| ids.contains(&task.id())));
        assert!(!ids.contains(&done_id));
        assert_eq!(ids.len(), 11);
        for task in live {
            task.cancel();
            cancelled(task.await);
        }
        assert_eq!(all_tasks().len(), 1);
    });
}

/// `all_tasks()` can be asked from another thread while tasks come and go.
pub fn law_t8_all_tasks_from_another_thread(kitchen: &Kitchen) {
    kitchen.run(async {
        let ready = Gate::new();
        let steady = spawn(parked(ready.clone()));
        ready.wait().await;
        let (id, handle) = (steady.id(), Handle::current());
        let stop = Gate::new();
        let looker = spawn_blocking({
            let stop = stop.clone();
            move || {
                let mut looks = 0_u32;
                while !stop.is_open() || looks == 0 {
                    assert!(handle.all_tasks().iter().any(|task| task.id() == id));
                    looks += 1;
                }
                Ok::<_, Burnt>(looks)
            }
        });
        for _ in 0..ROUNDS {
            value(spawn(async {}).await);
        }
        stop.open();
        assert!(value(looker.await) > 0);
        steady.cancel();
        cancelled(steady.await);
    });
}

/// A task knows who spawned it.
pub fn law_t8_parent_is_the_spawner(kitchen: &Kitchen) {
    kitchen.run(async {
        let main = current_task().expect("main is a task").id();
        let outer = spawn(async {
            let inner = spawn(async {});
            let parent = inner.parent();
            value(inner.await);
            Ok::<_, Burnt>(parent)
        });
        let id = outer.id();
        assert_eq!(outer.parent(), Some(main));
        assert_eq!(value(outer.await), Some(id));
    });
}
