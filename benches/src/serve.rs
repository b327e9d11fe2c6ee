//! What the servers do with a connection, once for all runtimes whose streams have the traits of `futures-io`.

use std::convert::Infallible;

use futures_lite::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, rt};

use crate::runtimes::HELLO;

/// Sends back what comes in, until the other side closes.
pub(crate) async fn echo(mut stream: impl AsyncRead + AsyncWrite + Unpin, size: usize) {
    let mut buffer = vec![0; size];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

/// Answers every request of a connection with a greeting.
pub(crate) async fn http(stream: impl rt::Read + rt::Write + Unpin) {
    let hello = service_fn(async |_: Request<Incoming>| {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(HELLO.as_bytes()))))
    });
    let served = http1::Builder::new().pipeline_flush(true).serve_connection(stream, hello).await;
    // A client that goes away is no failure of the server.
    served.unwrap_or_default();
}
