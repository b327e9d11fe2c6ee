//! The reactor: timers and readiness of descriptors, waited for by the workers themselves, on no thread of its own.
//!
//! ```text
//!   a worker with nothing to do ── Reactor::sit ──► Seat ── Seat::wait ──► the operating system
//!                                                    │ events
//!   Registered::poll_io ──► Source (readiness, waiters) ◄─┘   wakers collected under the lock, fired after it
//!   Backend::insert_timer ──► Timers (a wheel per worker) ──► Timers::fire
//! ```

pub(crate) mod driver;
#[cfg(target_os = "linux")]
pub(crate) mod linux;
pub(crate) mod portable;
pub(crate) mod source;
pub(crate) mod timers;
pub(crate) mod wake;
pub(crate) mod wheel;
