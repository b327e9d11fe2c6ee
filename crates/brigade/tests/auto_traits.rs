//! Which public types may cross threads: the table that users rely on without reading it.

use brigade::{
    BoxError, CancelOutcome, CancelReason, Cancelled, Handle, Instant, Interval, Panic, SharedTask, Sleep,
    Task, TaskError, TaskGroup, TaskId, TaskRef, TaskState, TimedOut, Timeout,
};
use std::rc::Rc;

/// `Yes` and `No` by the old trick: an inherent constant wins over one of a trait, where its bounds hold.
macro_rules! table {
    ($($type:ty: $send:literal $sync:literal $unpin:literal;)*) => {
        #[test]
        fn auto_traits() {
            $(
                assert_eq!(is!(Send, $type), $send, "{}: Send", stringify!($type));
                assert_eq!(is!(Sync, $type), $sync, "{}: Sync", stringify!($type));
                assert_eq!(is!(Unpin, $type), $unpin, "{}: Unpin", stringify!($type));
            )*
        }
    };
}

macro_rules! is {
    ($bound:ident, $type:ty) => {{
        struct Probe<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "unused where the bound holds")]
        trait No {
            const HOLDS: bool = false;
        }
        impl<T: ?Sized> No for Probe<T> {}
        #[allow(dead_code, reason = "unused where the bound does not hold")]
        impl<T: ?Sized + $bound> Probe<T> {
            const HOLDS: bool = true;
        }
        <Probe<$type>>::HOLDS
    }};
}

table! {
    // type                       Send  Sync  Unpin
    Task<u32, BoxError>:          true  true  true;
    Task<Rc<u32>, BoxError>:      false false true;
    SharedTask<u32, BoxError>:    true  true  true;
    TaskRef:                      true  true  true;
    TaskId:                       true  true  true;
    TaskState:                    true  true  true;
    TaskError<BoxError>:          true  true  true;
    TaskError<Rc<u32>>:           false false true;
    Panic:                        true  true  true;
    CancelReason:                 true  true  true;
    CancelOutcome:                true  true  true;
    TaskGroup<BoxError>:          true  true  true;
    Handle:                       true  true  true;
    Instant:                      true  true  true;
    TimedOut:                     true  true  true;
    Timeout:                      true  true  true;
}

#[test]
fn futures_that_wait_are_send() {
    fn send<T: Send>() {}
    send::<Sleep>();
    send::<Interval>();
    send::<Cancelled>();
}
