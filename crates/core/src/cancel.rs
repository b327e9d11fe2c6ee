//! Cancellation: who asked for it, which scope it is aimed at, and who receives it (laws C1–C17).
//!
//! ```text
//! request ──► TaskRef::request ──► word ──► Root::poll fetches it ──► Scope::after_pending
//!                                                                           │ Node::decide
//!                        ┌──────────────────────────┬───────────────────────┤
//!                        ▼ no receiver              ▼ live receivers        ▼ a handler runs
//!                  the scope unwinds        Receiver::poll_request      wait until settled
//!                  (inner future dropped)   catch · join · group · …    (Node::settle)
//! ```
//!
//! Files, from the inside out: [`reason`] (what a request says), [`account`] and [`node`] (the books of
//! one scope, shared between it and its receivers), [`settle`] (how a delivery ends), [`receiver`] and
//! [`region`] (the two halves that combinators hold), then the constructs themselves.

pub(crate) mod account;
pub(crate) mod bracket;
pub(crate) mod catch;
pub(crate) mod finally;
pub(crate) mod grace;
pub(crate) mod node;
pub(crate) mod reason;
pub(crate) mod receiver;
pub(crate) mod region;
pub(crate) mod settle;
pub(crate) mod shield;
