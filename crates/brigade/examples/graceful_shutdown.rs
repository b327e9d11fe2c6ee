//! 13 · Graceful shutdown: on SIGINT or SIGTERM stop accepting, tidy up, and end in bounded time.
//!
//! Start it and press Ctrl-C. What to see: the server stops accepting, the connections say goodbye, then main
//! ends and the tasks of the root are cancelled. The indexer does not listen: after the grace of one second it
//! is aborted, and named. A second Ctrl-C ends the grace at once. The exit status is 130, or 143 for SIGTERM.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::net::{TcpListener, TcpStream};
use brigade::{BoxError, Builder, CancelExt as _, Handle, Runner, TaskGroup, shield, sleep};
use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};
use stage::println;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

/// Reads the name of the client, then echoes until it is gone; says goodbye when it is cancelled.
async fn serve(mut stream: TcpStream, tick: Duration) -> Result<(), BoxError> {
    let mut bytes = [0; 64];
    let count = stream.read(&mut bytes).await?;
    let name = String::from_utf8_lossy(&bytes[..count]).into_owned();
    println!("{name} connected");
    stream.write_all(name.as_bytes()).await?;

    let goodbye = async {
        println!("{name}: goodbye");
        sleep(2 * tick).await;
        println!("{name}: closed");
    };
    let echo = async {
        while let count @ 1.. = stream.read(&mut bytes).await? {
            stream.write_all(&bytes[..count]).await?;
        }
        Ok(())
    };
    echo.on_cancel(goodbye).await
}

async fn accept(
    listener: TcpListener,
    connections: TaskGroup<BoxError>,
    tick: Duration,
) -> Result<(), BoxError> {
    loop {
        let (stream, _) = listener.accept().await?;
        connections.spawn(serve(stream, tick));
    }
}

async fn clients(server: SocketAddr) -> Result<(), BoxError> {
    let mut streams = Vec::new();
    for name in ["alice", "bob"] {
        let mut stream = TcpStream::connect(server).await?;
        stream.write_all(name.as_bytes()).await?;
        stream.read_exact(&mut [0]).await?; // the first byte of the echo: the server knows us
        streams.push(stream);
    }
    std::future::pending().await
}

/// A background worker that does not let itself be disturbed.
async fn indexer(tick: Duration) {
    let _apron = Apron;
    shield(sleep(1000 * tick)).await;
}

struct Apron;

impl Drop for Apron {
    fn drop(&mut self) {
        println!("indexer: dropped");
    }
}

/// Serves until it is cancelled; everything takes a multiple of `tick`.
pub(crate) async fn program(tick: Duration) -> Result<(), BoxError> {
    Handle::current().set_warning_hook(|warning| println!("warning: {warning}"));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    Builder::new().name("indexer").spawn(indexer(tick));
    Builder::new().name("clients").spawn(clients(listener.local_addr()?));

    let serving = TaskGroup::<BoxError>::scope(async |connections| {
        let stopped = async { println!("stop accepting") };
        accept(listener, connections, tick).on_cancel(stopped).await
    });
    serving.on_cancel(async { println!("all connections are closed") }).await?;
    Ok(())
}

/// Runs the program with signals on and a grace of ten ticks.
pub(crate) fn run(tick: Duration) -> ExitCode {
    Runner::new().signals(true).grace(10 * tick).exit_code(program(tick))
}

fn main() -> ExitCode {
    run(Duration::from_millis(100))
}
