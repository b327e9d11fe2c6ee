//! `cargo xtask bench --counters`: the same program with an allocator that counts, which would disturb times.

use std::alloc::System;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    brigade_benches::main(Some(|| {
        let counted = ALLOCATOR.stats();
        counted.allocations + counted.reallocations
    }))
}
