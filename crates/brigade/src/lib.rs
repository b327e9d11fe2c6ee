//! Placeholder head, written by the crate's first change.
