//! Accepting connections, the same for every kind of listener, also when no descriptor is left.

use std::fmt;
use std::io;
use std::time::Duration;

use brigade_core::sleep;

use crate::reactor::driver::Io;
use crate::reactor::source::{Direction, Registered};

/// Waits for a connection. Errors that pass are waited for: with no descriptor left this looks less and less often, and
/// the connections wait in the system's queue.
pub(super) async fn accept<L: Io + fmt::Debug, C>(
    listener: &Registered<L>,
    accept: impl Fn(&L) -> io::Result<C> + Unpin,
) -> io::Result<C> {
    let mut pause = FIRST_PAUSE;
    loop {
        match listener.perform(Direction::Read, &accept).await {
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) if is_exhausted(&error) => {
                log::warn!("accepting on {:?} waits for {pause:?}: {error}", listener.get());
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            result => return result,
        }
    }
}

/// Whether accepting can succeed later, when somebody has given something back.
#[cfg(unix)]
fn is_exhausted(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}

/// Whether accepting can succeed later, when somebody has given something back.
#[cfg(windows)]
fn is_exhausted(error: &io::Error) -> bool {
    // WSAEMFILE and WSAENOBUFS.
    matches!(error.raw_os_error(), Some(10024 | 10055))
}

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
