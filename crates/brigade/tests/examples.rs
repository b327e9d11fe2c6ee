//! The examples do what they promise: every line, and when it is printed.
//!
//! In virtual time a program's lines and times are compared exactly. `web_requests` needs sockets, so its times
//! are real there and only bounded; `graceful_shutdown` needs signals and has a test of its own.

#[path = "../examples/support/programs.rs"]
mod programs;

use brigade::backend::{Handle, RunOptions, run_main};
use brigade_testkit::Simulation;
use programs::script::{compare_exactly, compare_loosely, matches};
use programs::{PROGRAMS, Play, Program};
use std::time::Duration;

fn program(name: &str) -> &'static Program {
    PROGRAMS.iter().find(|program| program.name == name).expect("the table has this program")
}

fn in_virtual_time(name: &str) {
    let program = program(name);
    let Play::Anywhere(future) = &program.play else { panic!("{name} cannot run on the simulator") };
    let simulation = Simulation::new();
    run_main(&Handle::new(simulation.clone()), &*simulation, RunOptions::new(), future())
        .expect("it ends well");
    if let Err(difference) = compare_exactly(&(program.take)(), program.script) {
        panic!("{name}: {difference}");
    }
}

macro_rules! in_virtual_time {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            in_virtual_time(stringify!($name));
        }
    )*};
}

in_virtual_time! {
    say_hello background_work task_group gather_results gather_errors first_mirror cancel_with_cleanup
    timeouts task_states names_and_callbacks forgotten_task group_gather_wait
}

#[test]
fn web_requests() {
    use programs::web_requests::{stage, visit};
    let program = program("web_requests");
    let Play::Sockets(future) = &program.play else { panic!("web_requests needs sockets") };
    brigade::run(future(5)).expect("it ends well");
    // The order of the lines and their earliest times are the point; a busy machine may be late.
    if let Err(difference) = compare_loosely(&(program.take)(), program.script, 5, Duration::from_secs(5)) {
        panic!("web_requests: {difference}");
    }

    // A bad URL is an error with that URL in it, in both rounds. It needs no socket, so any backend will do.
    let urls = ["http//nowhere", "https://127.0.0.1/", "http://"].map(String::from);
    brigade_testkit::simulate(visit(urls.to_vec())).expect("a bad URL is no failure of the program");
    let lines = stage::take();
    for url in urls {
        let told = lines.iter().filter(|(_, text)| text.starts_with(&format!("error {url}: "))).count();
        assert_eq!(told, 2, "{url}: {lines:?}");
    }
}

#[test]
fn the_comparison_can_fail() {
    let at = Duration::from_millis;
    let printed = vec![(at(0), "a".to_owned()), (at(100), "b 17 c".to_owned())];
    assert_eq!(compare_exactly(&printed, &[(0, "a"), (100, "b * c")]), Ok(()));
    for wrong in
        [&[(0, "a")][..], &[(0, "a"), (100, "b")], &[(0, "a"), (90, "b * c")], &[(100, "b * c"), (0, "a")]]
    {
        assert!(compare_exactly(&printed, Box::leak(wrong.into())).is_err(), "{wrong:?}");
    }
    assert_eq!(compare_loosely(&printed, &[(450, "b * c"), (0, "a")], 5, at(50)), Ok(()));
    for wrong in
        [&[(0, "a")][..], &[(0, "a"), (100, "b")], &[(0, "a"), (1000, "b * c")], &[(0, "a"), (40, "b * c")]]
    {
        assert!(compare_loosely(&printed, Box::leak(wrong.into()), 1, at(50)).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_star_stands_for_any_text() {
    for (pattern, text) in
        [("a*c", "abc"), ("a*", "a"), ("*c", "abc"), ("a*b*", "a-b-"), ("*", ""), ("ab", "ab")]
    {
        assert!(matches(pattern, text), "{pattern} {text}");
    }
    for (pattern, text) in [("a*c", "abcd"), ("a", "ab"), ("b*", "ab"), ("a*b*c", "acb")] {
        assert!(!matches(pattern, text), "{pattern} {text}");
    }
}
