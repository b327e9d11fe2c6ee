//! A plain future beside tasks: its error becomes `TaskError::Failed`, so that all branches have one
//! error type (law A1).

use std::pin::Pin;
use std::task::{Context, Poll};

use brigade_core::{TaskError, TaskOutput};
use pin_project_lite::pin_project;

/// Makes a plain future a branch beside tasks; in scope by `use brigade_combinators::BranchExt as _`.
pub trait BranchExt: Future + Sized {
    /// The same future with the outcome of a task: its error becomes [`TaskError::Failed`].
    ///
    /// # Cancellation
    ///
    /// As for the future itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use brigade_combinators::{BranchExt as _, gather};
    /// use brigade_core::{BoxError, spawn};
    ///
    /// let sum = brigade_testkit::simulate(async {
    ///     let task = spawn(async { Ok::<_, BoxError>(1) });
    ///     let (a, b) = gather((task, async { Ok::<_, BoxError>(2) }.as_branch())).await?;
    ///     Ok::<_, BoxError>(a + b)
    /// });
    /// assert_eq!(sum.unwrap(), 3);
    /// ```
    #[expect(clippy::wrong_self_convention, reason = "law A1 gives it this name")]
    fn as_branch(self) -> AsBranch<Self>
    where
        Self::Output: TaskOutput,
    {
        AsBranch { future: self }
    }
}

impl<F: Future> BranchExt for F {}

pin_project! {
    /// The future of [`BranchExt::as_branch`].
    ///
    /// # Cancellation
    ///
    /// As for the future itself.
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct AsBranch<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for AsBranch<F>
where
    F::Output: TaskOutput,
{
    type Output = Result<<F::Output as TaskOutput>::Ok, TaskError<<F::Output as TaskOutput>::Err>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let output = self.project().future.poll(cx);
        output.map(|output| output.into_result().map_err(TaskError::Failed))
    }
}
