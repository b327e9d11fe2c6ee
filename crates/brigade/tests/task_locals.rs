//! The example `request_ids` prints what it promises: every line knows its request.

#[path = "../examples/request_ids.rs"]
#[allow(dead_code, reason = "the example's own main is not called from here")]
mod request_ids;

use std::time::Duration;

#[test]
fn every_line_knows_its_request() {
    brigade_testkit::simulate(request_ids::program()).expect("it ends well");
    let drawn = "the page is drawn, on a thread for blocking work";
    let want = [
        (0, "[request 7] accepted".to_owned()),
        (10, "[request 8] accepted".to_owned()),
        (30, "[request 7] the database answered".to_owned()),
        (30, format!("[request 7] {drawn}")),
        (40, "[request 8] the database answered".to_owned()),
        (40, format!("[request 8] {drawn}")),
        (40, "[no request] both are served".to_owned()),
    ];
    let want = want.map(|(millis, line)| (Duration::from_millis(millis), line));
    assert_eq!(request_ids::stage::take(), want);
}
