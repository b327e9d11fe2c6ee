//! Cases from the field: programs that once broke a runtime, by their numbers in `cases/cases.md`.

pub mod cancelling;
pub mod grouping;
pub mod kept_by_laws;
pub mod locals;
pub mod scopes;
pub mod timing;
pub mod waking;
