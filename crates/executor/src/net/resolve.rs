//! From names to addresses, on a thread where blocking is allowed.

use std::future::Future;
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
    host.resolve().await
}

/// What can be resolved to socket addresses: addresses, pairs of host and port, `"host:port"`.
///
/// A name is looked up by the blocking pool; addresses, also in text, need no lookup. The trait is sealed.
pub trait ToSocketAddrs: sealed::Sealed {
    /// The addresses, in the order in which they should be tried.
    #[doc(hidden)]
    fn resolve(self) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send;
}

/// Resolves by std's rules, on the pool.
async fn look_up<A>(target: A) -> io::Result<Vec<SocketAddr>>
where
    A: std::net::ToSocketAddrs + Send + 'static,
{
    let lookup = spawn_blocking(move || target.to_socket_addrs().map(Iterator::collect::<Vec<_>>));
    lookup.await.map_err(|error| match error {
        TaskError::Failed(error) => error,
        other => io::Error::other(other.to_string()),
    })
}

/// Implements the trait for what is an address already.
macro_rules! addresses {
    ($($type:ty),+) => {$(
        impl sealed::Sealed for $type {}

        impl ToSocketAddrs for $type {
            async fn resolve(self) -> io::Result<Vec<SocketAddr>> {
                Ok(vec![self.into()])
            }
        }
    )+};
}

addresses!(SocketAddr, SocketAddrV4, SocketAddrV6, (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16));

impl sealed::Sealed for &[SocketAddr] {}

impl ToSocketAddrs for &[SocketAddr] {
    fn resolve(self) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send {
        std::future::ready(Ok(self.to_vec()))
    }
}

impl sealed::Sealed for (&str, u16) {}

impl ToSocketAddrs for (&str, u16) {
    fn resolve(self) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send {
        (self.0.to_owned(), self.1).resolve()
    }
}

impl sealed::Sealed for (String, u16) {}

impl ToSocketAddrs for (String, u16) {
    async fn resolve(self) -> io::Result<Vec<SocketAddr>> {
        match self.0.parse::<IpAddr>() {
            Ok(address) => Ok(vec![SocketAddr::new(address, self.1)]),
            Err(_) => look_up(self).await,
        }
    }
}

impl sealed::Sealed for &str {}

impl ToSocketAddrs for &str {
    fn resolve(self) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send {
        self.to_owned().resolve()
    }
}

impl sealed::Sealed for String {}

impl ToSocketAddrs for String {
    async fn resolve(self) -> io::Result<Vec<SocketAddr>> {
        match self.parse() {
            Ok(address) => Ok(vec![address]),
            Err(_) => look_up(self).await,
        }
    }
}

impl sealed::Sealed for &String {}

impl ToSocketAddrs for &String {
    fn resolve(self) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send {
        self.clone().resolve()
    }
}

mod sealed {
    /// Keeps the trait closed, so that it can grow.
    #[allow(unnameable_types, reason = "it seals the trait")]
    pub trait Sealed {}
}
