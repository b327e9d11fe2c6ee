//! Law B5 from outside: the backend of the example `custom_backend` passes the conformance suite.

#[path = "../examples/custom_backend.rs"]
#[allow(dead_code, reason = "the example's own main is not called from here")]
mod custom_backend;

brigade_testkit::conformance!(tiny, crate::custom_backend::Tiny::new());
