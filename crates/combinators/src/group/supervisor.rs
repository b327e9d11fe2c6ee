//! Supervisors: children that are started again when they end (law G9).
//!
//! ```text
//!   Supervisor ──run──► a TaskGroup: its body is the Watch, its children are services
//!                                         ▲      │ starts, stops
//!                                         │      ▼
//!                             Post ◄── ToSupervisor ── children
//! ```
//!
//! So everything that ends a group ends a supervisor in the same way: a request from outside drops the
//! watch first, which is why nothing is started again from then on, and then the group dismisses the children
//! in reverse order.
//!
//! Files: [`plan`] (what the user says), [`watch`] (who is stopped and started when), [`budget`] (how often),
//! [`post`] (how the watch learns of an end).

mod budget;
mod plan;
mod post;
mod watch;

pub use self::budget::RestartsExhausted;
pub use self::plan::{Restart, Supervisor};
