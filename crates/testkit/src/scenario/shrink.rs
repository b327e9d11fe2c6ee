//! Making a program that shows a fault as small as it can be made by leaving things out.
//!
//! It works on the JSON of the statements: any list of statements is a block, whatever holds it.

use serde_json::{Value as Json, json};

use super::program::Scenario;

/// The smallest program that still `fails`, by one change after the other: a statement is left out, replaced by
/// what is in it, or takes less time.
pub(super) fn shrink(scenario: &Scenario, fails: impl Fn(&Scenario) -> bool) -> Scenario {
    let mut best = scenario.clone();
    loop {
        let Ok(Json::Array(root)) = serde_json::to_value(&best.root) else { return best };
        let smaller = smaller_blocks(&root).into_iter().find_map(|root| {
            let root = serde_json::from_value(json!(root)).ok()?;
            let candidate = Scenario { root, ..best.clone() };
            fails(&candidate).then_some(candidate)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Every block that is one change smaller.
fn smaller_blocks(block: &[Json]) -> Vec<Vec<Json>> {
    let mut smaller = Vec::new();
    for at in 0..block.len() {
        let with = |stmts: &[Json]| [&block[..at], stmts, &block[at + 1..]].concat();
        smaller.push(with(&[]));
        smaller.extend(blocks_in(&block[at]).into_iter().map(with));
        smaller.extend(smaller_statements(&block[at]).into_iter().map(|stmt| with(&[stmt])));
    }
    smaller
}

/// The blocks that a statement holds.
fn blocks_in(stmt: &Json) -> Vec<&[Json]> {
    let fields = stmt.as_object().into_iter().flat_map(|fields| fields.values());
    let lists = fields.filter_map(|field| field.as_array().map(Vec::as_slice));
    lists
        .flat_map(|list| if is_block(list) { vec![list] } else { list.iter().filter_map(block).collect() })
        .collect()
}

fn block(value: &Json) -> Option<&[Json]> {
    value.as_array().map(Vec::as_slice)
}

fn is_block(list: &[Json]) -> bool {
    !list.is_empty() && list.iter().all(Json::is_object)
}

/// The statement with one of its parts smaller.
fn smaller_statements(stmt: &Json) -> Vec<Json> {
    let mut smaller = Vec::new();
    for (name, field) in stmt.as_object().into_iter().flatten() {
        let mut put = |value: Json| {
            let mut changed = stmt.clone();
            changed[name] = value;
            smaller.push(changed);
        };
        match field {
            Json::Array(list) if is_block(list) => {
                smaller_blocks(list).into_iter().for_each(|block| put(json!(block)));
            }
            Json::Array(lists) => {
                for at in 0..lists.len() {
                    let with = |new: &[Json]| json!([&lists[..at], new, &lists[at + 1..]].concat());
                    put(with(&[]));
                    let inner = block(&lists[at]).map(smaller_blocks).unwrap_or_default();
                    inner.into_iter().for_each(|block| put(with(&[json!(block)])));
                }
            }
            Json::Number(number) if name == "ms" => {
                let ms = number.as_i64().unwrap_or(0);
                (ms > 1).then(|| put(json!(ms / 2)));
            }
            _ => {}
        }
    }
    smaller
}
