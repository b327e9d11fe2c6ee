//! Task-locals: values that code finds by name, without passing them along.
//!
//! They are immutable and bound by a block, as Java's scoped values; tasks, blocking closures and
//! done-callbacks inherit what was bound where they were made, as asyncio's contextvars.
//!
//! ```text
//!   Bindings ─► {key, value, rest ─► {key, value, rest ─► (none)}}      a list that only grows at its head
//!      ▲ current ones: in the thread-local, while the task or the block is being polled
//!      └ inherited ones: in the task's metadata
//! ```
//!
//! A task in which nothing is bound pays one word.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::context;
use crate::sync::Arc;

/// A name for a value that is bound by a block and found by everything that runs inside it.
///
/// Declare it as a `static`; its address is its identity.
///
/// # Examples
///
/// ```
/// use brigade_core::TaskLocal;
///
/// static REQUEST: TaskLocal<u64> = TaskLocal::new();
///
/// async fn log_line(text: &str) -> String {
///     format!("[{}] {text}", REQUEST.get().map_or("-".to_owned(), |id| id.to_string()))
/// }
///
/// # futures_lite_block_on(async {
/// assert_eq!(REQUEST.bind(7, log_line("hello")).await, "[7] hello");
/// assert_eq!(log_line("hello").await, "[-] hello");
/// # });
/// # fn futures_lite_block_on<F: Future>(f: F) -> F::Output {
/// #     let mut f = std::pin::pin!(f);
/// #     let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
/// #     loop { if let std::task::Poll::Ready(v) = f.as_mut().poll(&mut cx) { return v } }
/// # }
/// ```
pub struct TaskLocal<T: 'static> {
    /// Not zero-sized, so that two statics have two addresses.
    _address: u8,
    _value: std::marker::PhantomData<fn() -> T>,
}

impl<T: Clone + Send + Sync + 'static> TaskLocal<T> {
    /// A name that nothing is bound to yet.
    #[must_use]
    pub const fn new() -> TaskLocal<T> {
        TaskLocal { _address: 0, _value: std::marker::PhantomData }
    }

    /// The value that is bound here, if one is; asyncio's `ContextVar.get`.
    #[must_use]
    pub fn get(&'static self) -> Option<T> {
        context::with_locals(|locals| {
            find(locals, self.key()).and_then(|value| value.downcast_ref::<T>().cloned())
        })
    }

    /// Runs `future` with `value` bound: for all code in it, and for all tasks, blocking closures and
    /// done-callbacks that it makes.
    ///
    /// # Cancellation
    ///
    /// As for the future itself.
    pub fn bind<F: Future>(&'static self, value: T, future: F) -> Bound<F> {
        let locals = Locals::capture().with(self.key(), Arc::new(value));
        Bound { inner: Some(future), locals }
    }

    /// Calls `f` with `value` bound.
    pub fn bind_sync<R>(&'static self, value: T, f: impl FnOnce() -> R) -> R {
        Locals::capture().with(self.key(), Arc::new(value)).run(f)
    }

    fn key(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl<T: Clone + Send + Sync + 'static> Default for TaskLocal<T> {
    fn default() -> TaskLocal<T> {
        TaskLocal::new()
    }
}

impl<T> fmt::Debug for TaskLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskLocal")
    }
}

/// All task-locals that are bound at one place; asyncio's `copy_context()`. Cheap to clone.
#[derive(Clone, Default)]
pub struct Locals(pub(crate) Option<Arc<Binding>>);

impl Locals {
    /// What is bound here.
    #[must_use]
    pub fn capture() -> Locals {
        context::with_locals(Clone::clone)
    }

    /// Calls `f` with these bound, and nothing else; asyncio's `Context.run`.
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let _bound = context::enter_locals(self.clone());
        f()
    }

    /// Runs `future` with these bound, and nothing else.
    ///
    /// # Cancellation
    ///
    /// As for the future itself.
    pub fn bind<F: Future>(self, future: F) -> Bound<F> {
        Bound { inner: Some(future), locals: self }
    }

    fn with(self, key: usize, value: Arc<dyn Any + Send + Sync>) -> Locals {
        Locals(Some(Arc::new(Binding { key, value, rest: self })))
    }
}

impl fmt::Debug for Locals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Locals({})", std::iter::successors(self.0.as_ref(), |next| next.rest.0.as_ref()).count())
    }
}

/// One value, and what was bound before it.
pub(crate) struct Binding {
    key: usize,
    value: Arc<dyn Any + Send + Sync>,
    rest: Locals,
}

impl Drop for Binding {
    /// A loop, since blocks nest without bound (law T12).
    fn drop(&mut self) {
        let mut rest = self.rest.0.take();
        while let Some(mut binding) = rest.and_then(Arc::into_inner) {
            rest = binding.rest.0.take();
        }
    }
}

fn find(locals: &Locals, key: usize) -> Option<&Arc<dyn Any + Send + Sync>> {
    std::iter::successors(locals.0.as_ref(), |next| next.rest.0.as_ref())
        .find(|binding| binding.key == key)
        .map(|binding| &binding.value)
}

pin_project! {
    /// The future of [`TaskLocal::bind`] and [`Locals::bind`].
    ///
    /// # Cancellation
    ///
    /// As for the future inside.
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct Bound<F> {
        #[pin]
        inner: Option<F>,
        locals: Locals,
    }

    impl<F> PinnedDrop for Bound<F> {
        /// Destructors inside see what is bound, too, also when the task is cancelled.
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _bound = context::enter_locals(this.locals.clone());
            this.inner.set(None);
        }
    }
}

impl<F: Future> Future for Bound<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _bound = context::enter_locals(this.locals.clone());
        match this.inner.as_pin_mut() {
            Some(inner) => inner.poll(cx),
            None => Poll::Pending,
        }
    }
}

impl<F> fmt::Debug for Bound<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("locals", &self.locals).finish_non_exhaustive()
    }
}
