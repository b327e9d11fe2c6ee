//! Brigade against CPython: every scenario of the given corpus must give the trace that asyncio gave, but for the
//! lines that are disputed with a reason.

use brigade_testkit::scenario::{DISPUTED, Scenario, Verdict, given_corpus, judge_given_line, judge_line};

fn text_of(file: &str) -> String {
    let path = given_corpus().into_iter().find(|path| path.ends_with(file)).expect("a file of the corpus");
    std::fs::read_to_string(path).expect("the corpus is part of the crate")
}

/// `SCENARIO=r1.0017` looks at one line only.
fn check(file: &str) {
    let only = std::env::var("SCENARIO").ok();
    let (mut equal, mut differences) = (0, Vec::new());
    for line in text_of(file).lines() {
        if only.as_ref().is_some_and(|only| Scenario::parse(line).is_ok_and(|scenario| *only != scenario.id))
        {
            continue;
        }
        match judge_given_line(line) {
            Verdict::Equal => equal += 1,
            Verdict::Disputed(_) => {}
            Verdict::Different(why) => differences.push(why),
        }
    }
    assert!(
        differences.is_empty(),
        "equal {equal}, different {}\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn the_hand_written_scenarios_are_equal() {
    check("conformance.jsonl");
}

#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn the_first_random_scenarios_are_equal() {
    check("random-1.jsonl");
}

#[test]
#[cfg_attr(miri, ignore = "thousands of programs are too many for Miri")]
fn the_second_random_scenarios_are_equal() {
    check("random-2.jsonl");
}

/// A line is disputed in the given corpus only: by itself it is judged as any other.
#[test]
fn a_disputed_line_differs() {
    let texts = ["conformance.jsonl", "random-1.jsonl", "random-2.jsonl"].map(text_of);
    for dispute in DISPUTED {
        let mut lines = texts.iter().flat_map(|text| text.lines());
        let id = format!("\"id\":\"{}\"", dispute.id);
        let line = lines.find(|line| line.contains(&id)).expect("it is in the corpus");
        assert!(matches!(judge_line(line), Verdict::Different(_)), "{}", dispute.id);
        assert_eq!(judge_given_line(line), Verdict::Disputed(dispute));
    }
}
