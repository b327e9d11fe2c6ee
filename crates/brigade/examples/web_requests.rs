//! 3 · Web requests: the statuses of many URLs, one after the other, then as tasks with `gather_all`.
//!
//! This is real HTTP/1.1 by hyper over Brigade's sockets. Give it URLs (`http://`), or none: then it starts
//! four servers of its own, which answer after 500 ms with 200, 200, 404 and 503, and asks a port at which
//! nobody listens as well.
//!
//! What to see: one after the other takes two seconds, together as long as the slowest one. The statuses come
//! in the order of the URLs, and a refused connection is an error with its URL in it that hides no other.

#[path = "support/stage.rs"]
pub(crate) mod stage;

use brigade::hyper::{BrigadeExecutor, BrigadeIo, BrigadeTimer};
use brigade::net::{TcpListener, TcpStream};
use brigade::{BoxError, Builder, TaskError, gather_all, run, sleep, spawn};
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::rt::Executor as _;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri, client, header, server};
use stage::println;
use std::time::Duration;

async fn status(uri: &Uri) -> Result<StatusCode, BoxError> {
    if uri.scheme_str() != Some("http") {
        return Err("a URL must begin with http://".into());
    }
    let authority = uri.authority().ok_or("a URL must name a host")?;
    let host = authority.host().trim_matches(['[', ']']);
    let stream = TcpStream::connect((host, authority.port_u16().unwrap_or(80))).await?;

    let (mut sender, connection) = client::conn::http1::handshake(BrigadeIo::new(stream)).await?;
    let _connection = spawn(connection).cancel_on_drop();
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::get(path).header(header::HOST, authority.as_str());
    let response = sender.send_request(request.body(Empty::<Bytes>::new())?).await?;
    Ok(response.status())
}

async fn fetch_status(url: String) -> Result<u16, BoxError> {
    let outcome = match url.parse() {
        Ok(uri) => status(&uri).await,
        Err(bad_url) => Err(bad_url.into()),
    };
    outcome.map(|status| status.as_u16()).map_err(|error| format!("{url}: {error}").into())
}

/// Asks all `urls`, first one after the other, then together.
pub(crate) async fn visit(urls: Vec<String>) -> Result<(), BoxError> {
    println!("one after the other:");
    for url in &urls {
        match fetch_status(url.clone()).await {
            Ok(status) => println!("{status} {url}"),
            Err(error) => println!("error {error}"),
        }
    }

    println!("together:");
    let tasks = urls.iter().map(|url| Builder::new().name(url.as_str()).spawn(fetch_status(url.clone())));
    for (outcome, url) in gather_all(tasks).return_errors().await.into_iter().zip(&urls) {
        match outcome {
            Ok(status) => println!("{status} {url}"),
            Err(error) => println!("error {error}"),
        }
    }
    println!("done");
    Ok(())
}

async fn serve(listener: TcpListener, status: StatusCode, delay: Duration) -> Result<(), BoxError> {
    loop {
        let (stream, _) = listener.accept().await?;
        let answer = service_fn(move |_request| async move {
            sleep(delay).await;
            Response::builder().status(status).body(Empty::<Bytes>::new())
        });
        let mut http = server::conn::http1::Builder::new();
        BrigadeExecutor.execute(http.timer(BrigadeTimer).serve_connection(BrigadeIo::new(stream), answer));
    }
}

/// Starts servers that answer after `delay`, and visits them.
pub(crate) async fn demo(delay: Duration) -> Result<(), BoxError> {
    let mut urls = Vec::new();
    for code in [200, 200, 404, 503] {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        urls.push(format!("http://{}/", listener.local_addr()?));
        spawn(serve(listener, StatusCode::from_u16(code)?, delay));
    }
    let nobody = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
    urls.insert(2, format!("http://{nobody}/"));
    visit(urls).await
}

fn main() -> Result<(), TaskError<BoxError>> {
    let urls: Vec<String> = std::env::args().skip(1).collect();
    if urls.is_empty() { run(demo(Duration::from_millis(500))) } else { run(visit(urls)) }
}
