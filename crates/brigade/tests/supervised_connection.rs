//! The example `supervised_connection` prints what it promises, when it promises it.

#[path = "../examples/supervised_connection.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called from here")]
mod supervised_connection;

use std::time::Duration;

#[test]
fn a_connection_is_restarted_until_the_supervisor_gives_up() {
    brigade_testkit::simulate(supervised_connection::program()).expect("it ends well");
    let want = [
        (0, "connection: up, attempt 1"),
        (0, "reader: reads"),
        (200, "connection: lost"),
        (250, "reader: the page is saved"),
        (300, "connection: up, attempt 2"),
        (300, "reader: reads"),
        (500, "connection: lost"),
        (550, "reader: the page is saved"),
        (700, "connection: up, attempt 3"),
        (700, "reader: reads"),
        (900, "connection: lost"),
        (950, "reader: the page is saved"),
        (950, "kitchen: closes"),
        (950, "connection: the harbour hung up, attempt 1"),
        (950, "connection: the harbour hung up, attempt 2"),
        (950, "connection: the harbour hung up, attempt 3"),
    ];
    let want: Vec<_> = want.map(|(at, text)| (Duration::from_millis(at), text.to_owned())).into();
    assert_eq!(supervised_connection::stage::take(), want);
}
