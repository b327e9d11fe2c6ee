//! Both sides of the network workloads that belong to no runtime: the client that all servers serve, and the bare loop
//! that is the floor. On Linux only, since both call epoll themselves.

mod client;
mod floor;
mod link;
mod shape;

pub(crate) use self::floor::serve_echo;
pub(crate) use self::link::{Link, serve_orders};
pub(crate) use self::shape::Shape;
