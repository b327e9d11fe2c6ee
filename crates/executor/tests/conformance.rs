//! The public conformance suite, on both backends of this crate.

use brigade_executor::{CurrentThread, MultiThread};

brigade_testkit::conformance!(current_thread, CurrentThread::new().expect("a descriptor to wait on"), fifo);
brigade_testkit::conformance!(multi_thread, MultiThread::new(2).expect("two workers"));
