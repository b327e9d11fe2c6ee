//! What the interrupted programs are made of: work that holds an item and guards, and waits where it can be broken.

use std::fmt::Debug;
use std::future::{Future, IntoFuture};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::time::Duration;

use brigade_core::{BoxError, Handle, Task, sleep, spawn, yield_now};
use brigade_testkit::{Guard, Guards, Interrupted, Interrupter, Item, Probe, breakable};

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// One program of the table.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) main: fn(Kit) -> Main,
}

/// The future of a program.
type Main = Pin<Box<dyn Future<Output = Result<(), BoxError>>>>;

/// A table of programs, by the names of the functions that are their mains.
macro_rules! table {
    ($($name:ident),* $(,)?) => {
        pub(crate) const PROGRAMS: &[crate::kit::Program] =
            &[$(crate::kit::Program { name: stringify!($name), main: |kit| Box::pin($name(kit)) }),*];
    };
}

pub(crate) use table;

/// The books of a run. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kit {
    probe: Probe,
    guards: Guards,
}

impl Kit {
    pub(crate) fn item(&self) -> Item {
        self.probe.item()
    }

    /// A guard of the task that makes it.
    pub(crate) fn guard(&self) -> Guard {
        self.guards.guard()
    }

    /// Waits a little, and gives its item. The item is there before the first poll.
    pub(crate) fn work(&self, millis: u64) -> impl Future<Output = Result<Item, BoxError>> + Send + use<> {
        let (item, guards) = (self.item(), self.guards.clone());
        async move {
            let outer = guards.guard();
            breakable(yield_now()).await;
            let _inner = outer.below();
            breakable(sleep(ms(millis))).await;
            Ok(item)
        }
    }

    /// The same, in the task that holds `outer`.
    pub(crate) fn within<'a>(
        &self,
        outer: &'a Guard,
        millis: u64,
    ) -> impl Future<Output = Result<Item, BoxError>> + Send + use<'a> {
        let (item, inner) = (self.item(), outer.below());
        async move {
            let _innermost = inner.below();
            breakable(sleep(ms(millis))).await;
            Ok(item)
        }
    }

    /// A task that does the same.
    pub(crate) fn worker(&self, millis: u64) -> Task<Item, BoxError> {
        spawn(self.work(millis))
    }

    /// Waits a little, and fails.
    pub(crate) fn fail(&self, millis: u64) -> impl Future<Output = Result<Item, BoxError>> + Send + use<> {
        let guards = self.guards.clone();
        async move {
            let _guard = guards.guard();
            breakable(sleep(ms(millis))).await;
            Err("it fails".into())
        }
    }

    /// A cleanup that takes time.
    pub(crate) fn tidy(&self) -> impl Future<Output = ()> + Send + use<> {
        let guards = self.guards.clone();
        async move {
            let _guard = guards.guard();
            breakable(sleep(ms(2))).await;
        }
    }
}

/// Takes delivery of what comes, and lets errors be: a program goes on after them.
pub(crate) fn deliver<E: Debug>(outcome: Result<Item, E>) {
    if let Ok(item) = outcome {
        item.deliver();
    }
}

/// Awaits where it can be made to panic.
pub(crate) async fn at<F: IntoFuture>(future: F) -> F::Output {
    breakable(future).await
}

/// Interrupts a program everywhere; after each run every item and every guard must be accounted for.
pub(crate) fn everywhere(program: &Program, pairs: u64) -> Result<Interrupted, String> {
    let kit = Kit::default();
    let main = || {
        let main = (program.main)(kit.clone());
        async move {
            // Failures that nobody observes are expected here, and tasks that overrun a grace.
            Handle::current().set_unobserved_hook(|_| {});
            Handle::current().set_warning_hook(|_| {});
            main.await
        }
    };
    let after = || {
        assert!(kit.probe.is_balanced(), "{} items are lost", kit.probe.alive());
        assert_eq!(kit.guards.finding(), None);
        assert_eq!(crate::groups::still_open(), 0, "groups have not ended");
    };
    let run = || Interrupter::new().pairs(pairs).run(main, after);
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map_or("a panic without a text", String::as_str);
        format!("{}: {text}", program.name)
    })
}
