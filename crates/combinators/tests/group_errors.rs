//! Group errors as values: parting, iterating, printing, and trees of any depth (laws G3, T12).

use std::fmt;

use brigade_combinators::{GroupError, TaskGroup};
use brigade_core::{BoxError, Panic, TaskError, catch_cancel, spawn, yield_now};
use brigade_testkit::simulate;

const DEPTH: usize = if cfg!(miri) { 100 } else { 100_000 };

#[derive(Debug)]
struct ValueError(&'static str);

#[derive(Debug)]
struct TypeError;

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bad value {}", self.0)
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bad type")
    }
}

impl std::error::Error for ValueError {}
impl std::error::Error for TypeError {}

/// The error of a group whose children fail in this order, each under its name.
async fn group_of(children: Vec<(&'static str, BoxError)>) -> GroupError<BoxError> {
    let outcome = TaskGroup::<BoxError>::builder().name("kitchen").scope(async |group| {
        for (name, error) in children {
            group.spawn_named(name, async {
                // The first one's failure cancels the others, which fail all the same.
                drop(catch_cancel(yield_now()).await);
                Err::<(), _>(error)
            });
        }
        yield_now().await;
        Ok(())
    });
    outcome.await.expect_err("every child fails")
}

fn names(errors: &GroupError<BoxError>) -> Vec<&str> {
    errors.iter().map(|child| child.name()).collect()
}

fn inner(errors: &GroupError<BoxError>) -> &GroupError<BoxError> {
    errors.first().and_then(|child| child.downcast_ref()).expect("the first entry is a group")
}

#[test]
fn law_g3_split_parts_by_type_and_keeps_the_order() {
    simulate(async {
        let children: Vec<(_, BoxError)> = vec![
            ("a", ValueError("1").into()),
            ("b", TypeError.into()),
            ("c", TaskError::Failed(ValueError("2")).into()),
            ("d", TaskError::<BoxError>::Failed(ValueError("3").into()).into()),
        ];
        let (values, rest) = group_of(children).await.split::<ValueError>();
        assert_eq!((names(&values), names(&rest)), (vec!["a", "c", "d"], vec!["b"]));
        let told: Vec<_> = values.iter().map(|child| child.downcast_ref::<ValueError>().unwrap().0).collect();
        assert_eq!(told, ["1", "2", "3"]);
        let (nothing, rest) = rest.split::<ValueError>();
        assert!(nothing.is_empty() && !nothing.is_cancelled() && rest.len() == 1);
    })
    .unwrap();
}

#[test]
fn law_g3_split_looks_into_groups_and_keeps_the_tree() {
    simulate(async {
        let deep = group_of(vec![("x", ValueError("1").into()), ("y", TypeError.into())]).await;
        let all = group_of(vec![("deep", deep.into()), ("top", TypeError.into())]).await;
        let (values, types) = all.split::<ValueError>();
        assert_eq!((names(&values), names(inner(&values))), (vec!["deep"], vec!["x"]));
        assert_eq!((names(&types), names(inner(&types))), (vec!["deep", "top"], vec!["y"]));
        let (whole, rest) = types.split::<GroupError<BoxError>>();
        assert_eq!((names(&whole), names(&rest)), (vec!["deep"], vec!["top"]));
    })
    .unwrap();
}

#[test]
fn law_g3_split_looks_into_groups_with_an_error_type_of_their_own() {
    simulate(async {
        let typed = TaskGroup::<ValueError>::scope(async |group| {
            group.spawn(async { Err::<(), _>(ValueError("typed")) });
            Ok(())
        });
        let typed = typed.await.unwrap_err();
        let all = group_of(vec![("typed", typed.into()), ("other", TypeError.into())]).await;
        let (values, rest) = all.split::<ValueError>();
        assert_eq!((names(&values), names(&rest)), (vec!["typed"], vec!["other"]));
    })
    .unwrap();
}

#[test]
fn law_g3_split_works_for_bare_types_and_panics() {
    simulate(async {
        let outcome = TaskGroup::<ValueError>::scope(async |group| {
            group.spawn_named("fails", async {
                drop(catch_cancel(yield_now()).await);
                Err::<(), _>(ValueError("bare"))
            });
            group.spawn_named("panics", async { panic!("burnt") });
            yield_now().await;
            Ok(())
        });
        let (panics, rest) = outcome.await.unwrap_err().split::<Panic>();
        assert_eq!(panics.first().unwrap().downcast_ref::<Panic>().unwrap().message(), "burnt");
        let (values, nothing) = rest.split::<ValueError>();
        assert_eq!((panics.len(), values.len(), nothing.len()), (1, 1, 0));
    })
    .unwrap();
}

#[test]
fn law_g3_subgroup_asks_for_every_entry_and_takes_groups_whole() {
    simulate(async {
        let tree = async || {
            let deep = group_of(vec![("x", ValueError("1").into()), ("y", TypeError.into())]).await;
            group_of(vec![("deep", deep.into()), ("top", TypeError.into())]).await
        };
        let some = tree().await.subgroup(|child| child.name() == "y");
        assert_eq!((names(&some), names(inner(&some))), (vec!["deep"], vec!["y"]));
        let whole = tree().await.subgroup(|child| child.name() == "deep");
        assert_eq!((names(&whole), names(inner(&whole))), (vec!["deep"], vec!["x", "y"]));
        assert!(tree().await.subgroup(|_| false).is_empty());
    })
    .unwrap();
}

#[test]
fn law_g3_it_goes_through_question_marks_and_is_printed_as_a_tree() {
    let error = simulate(async {
        let outcome = TaskGroup::<BoxError>::builder().name("outer").scope(async |group| {
            group.spawn_named("deep", async {
                let errors = group_of(vec![("x", ValueError("1").into())]).await;
                spawn(async { Err::<(), BoxError>(errors.into()) }).await?;
                Ok(())
            });
            Ok(())
        });
        outcome.await?;
        Ok::<_, BoxError>(())
    })
    .unwrap_err();
    let lines: Vec<_> = error.to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 3, "{error}");
    for (line, parts) in lines.iter().zip([
        &["1 error in group `outer` (", "group_errors.rs"][..],
        &["  `deep` (", "): 1 error in group `kitchen` ("],
        &["    `x` (", "): bad value 1"],
    ]) {
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
    assert!(format!("{error:?}").contains("ValueError(\"1\")"), "{error:?}");
}

async fn deep(wrap: impl Fn(GroupError<BoxError>) -> BoxError) -> GroupError<BoxError> {
    let mut errors = group_of(vec![("leaf", ValueError("deep").into())]).await;
    for _ in 1..DEPTH {
        let error = wrap(errors);
        errors =
            TaskGroup::<BoxError>::scope(async |_| Err::<(), _>(error)).await.expect_err("the body fails");
    }
    errors
}

#[test]
fn law_t12_deep_trees_are_dropped_flat() {
    simulate(async {
        drop(deep(BoxError::from).await);
        drop(deep(|errors| TaskError::<BoxError>::Failed(errors.into()).into()).await);
        // A type that nobody here can look into.
        drop(deep(|errors| Opaque(errors).into()).await);
    })
    .unwrap();
}

#[test]
fn law_t12_deep_trees_are_printed_flat() {
    simulate(async {
        let errors = deep(BoxError::from).await;
        let text = errors.to_string();
        assert_eq!(text.lines().count(), DEPTH + 1);
        assert!(text.ends_with("bad value deep"));
        assert!(text.len() < 300 * DEPTH, "linear in the tree");
        assert!(format!("{errors:?}").ends_with("ValueError(\"deep\")"));
    })
    .unwrap();
}

#[test]
fn law_t12_deep_trees_are_parted_flat() {
    simulate(async {
        let (values, rest) = deep(BoxError::from).await.split::<ValueError>();
        assert_eq!(values.to_string().lines().count(), DEPTH + 1);
        assert!(rest.is_empty());
        assert!(values.subgroup(|_| false).is_empty());
    })
    .unwrap();
}

/// An error whose destructor panics.
#[derive(Debug)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("bomb");
    }
}

impl fmt::Display for Bomb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bomb")
    }
}

impl std::error::Error for Bomb {}

#[test]
fn law_t10_a_destructor_that_panics_leaves_the_others_alone() {
    simulate(async {
        let probe = brigade_testkit::Probe::new();
        let deep = group_of(vec![("bomb", Bomb.into()), ("item", Counted(probe.item()).into())]).await;
        let errors = group_of(vec![("deep", deep.into()), ("item", Counted(probe.item()).into())]).await;
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(errors)));
        assert!(dropped.is_err());
        assert_eq!((probe.created(), probe.dropped()), (2, 2));
        drop(group_of(vec![("item", Counted(probe.item()).into())]).await);
        assert_eq!(probe.dropped(), 3);
    })
    .unwrap();
}

struct Counted(#[expect(dead_code, reason = "held to be dropped")] brigade_testkit::Item);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counted")
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counted")
    }
}

impl std::error::Error for Counted {}

struct Opaque(GroupError<BoxError>);

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} inside", self.0.len())
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Opaque {}
