//! From names to addresses, on a thread where blocking is allowed.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use brigade_core::{TaskError, spawn_blocking};

/// Addresses of the name, as the operating system orders them.
///
/// # Cancellation
///
/// The lookup is given up; the system's resolver ends it on its thread, and its answer is dropped.
///
/// # Errors
///
/// The resolver's error, for instance for a name that does not exist.
///
/// # Examples
///
/// ```
/// # brigade_executor::run(async {
/// let addresses = brigade_executor::net::lookup_host("localhost:80").await?;
/// assert!(addresses.iter().all(|address| address.ip().is_loopback()));
/// # Ok::<(), std::io::Error>(())
/// # }).expect("localhost has an address");
/// ```
pub async fn lookup_host(host: impl ToSocketAddrs) -> io::Result<Vec<SocketAddr>> {
    look_up(host.target()).await
}

/// What can be resolved to socket addresses: addresses, pairs of host and port, `"host:port"`.
///
/// A name is looked up by the blocking pool; addresses, also in text, need no lookup. The trait is sealed.
pub trait ToSocketAddrs: sealed::Sealed {}

impl<T: sealed::Sealed> ToSocketAddrs for T {}

/// Resolves by std's rules, names on the pool.
pub(super) async fn look_up(target: Target) -> io::Result<Vec<SocketAddr>> {
    let lookup = match target {
        Target::Known(addresses) => return Ok(addresses),
        Target::Pair(host, port) => spawn_blocking(move || collect((host, port))),
        Target::Text(text) => spawn_blocking(move || collect(text)),
    };
    lookup.await.map_err(|error| match error {
        TaskError::Failed(error) => error,
        other => io::Error::other(other.to_string()),
    })
}

fn collect(target: impl std::net::ToSocketAddrs) -> io::Result<Vec<SocketAddr>> {
    target.to_socket_addrs().map(Iterator::collect)
}

/// Addresses, or a name that stands for some. It borrows nothing, so that futures which wait for a lookup are `Send`
/// whatever they were made from.
#[derive(Debug)]
#[allow(unnameable_types, reason = "it is the sealed part of the trait")]
pub enum Target {
    /// Nothing is left to do.
    Known(Vec<SocketAddr>),
    /// A host and a port.
    Pair(String, u16),
    /// A host and a port in one text.
    Text(String),
}

mod sealed {
    use super::Target;

    /// Keeps the trait closed, so that it can grow.
    #[allow(unnameable_types, reason = "it seals the trait")]
    pub trait Sealed {
        fn target(self) -> Target;
    }
}

/// Implements the trait for what is an address already.
macro_rules! addresses {
    ($($type:ty),+) => {$(
        impl sealed::Sealed for $type {
            fn target(self) -> Target {
                Target::Known(vec![self.into()])
            }
        }
    )+};
}

addresses!(SocketAddr, SocketAddrV4, SocketAddrV6, (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16));

impl sealed::Sealed for &[SocketAddr] {
    fn target(self) -> Target {
        Target::Known(self.to_vec())
    }
}

impl sealed::Sealed for (String, u16) {
    fn target(self) -> Target {
        match self.0.parse::<IpAddr>() {
            Ok(address) => Target::Known(vec![SocketAddr::new(address, self.1)]),
            Err(_) => Target::Pair(self.0, self.1),
        }
    }
}

impl sealed::Sealed for (&str, u16) {
    fn target(self) -> Target {
        (self.0.to_owned(), self.1).target()
    }
}

impl sealed::Sealed for String {
    fn target(self) -> Target {
        match self.parse() {
            Ok(address) => Target::Known(vec![address]),
            Err(_) => Target::Text(self),
        }
    }
}

impl sealed::Sealed for &str {
    fn target(self) -> Target {
        self.to_owned().target()
    }
}

impl sealed::Sealed for &String {
    fn target(self) -> Target {
        self.clone().target()
    }
}
