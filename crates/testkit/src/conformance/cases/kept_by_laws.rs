//! Cases that the tests of a law already are: each runs them under its own number, so that the list of cases
//! can be read from the names of the tests.
//!
//! Numbers that no test of the suite has need sockets, signals, processes or memory figures: the tests of the
//! executor and of the facade have them, or they are of the kinds S and P.

use crate::conformance::prelude::Kitchen;
use crate::conformance::{aggregate, backend, cancel, group, run, task, timeout};

/// Case 01: cancelled before the first poll.
pub fn case_001_cancel_before_the_first_poll(kitchen: &Kitchen) {
    cancel::requests::law_c7_cancelled_before_the_first_poll(kitchen);
}

/// Case 02: a task cancels itself and returns without another await.
pub fn case_002_cancel_of_self_right_before_returning(kitchen: &Kitchen) {
    cancel::requests::law_c8_an_undelivered_request_beats_a_value(kitchen);
}

/// Case 07: only the deadline, only the request, and each while the other unwinds.
pub fn case_007_deadline_and_request_in_three_orders(kitchen: &Kitchen) {
    timeout::expiry::law_d4_each_alone_stays_what_it_is(kitchen);
    timeout::expiry::law_d4_external_request_while_the_expiry_unwinds(kitchen);
    timeout::expiry::law_d4_expiry_while_an_external_request_unwinds(kitchen);
}

/// Case 11: a thousand requests to a finished task.
pub fn case_011_late_cancel_of_a_finished_task(kitchen: &Kitchen) {
    cancel::requests::law_c1_a_done_task_is_left_alone(kitchen);
}

/// Case 16: the inner future absorbs the request of the deadline and returns a value.
pub fn case_016_the_inner_future_absorbs_the_deadline(kitchen: &Kitchen) {
    timeout::expiry::law_d3_what_absorbs_the_expiry_is_returned(kitchen);
    timeout::expiry::law_d3_an_absorbed_expiry_does_not_come_again(kitchen);
}

/// Case 17: what was won in the turn of the deadline is delivered or dropped.
pub fn case_017_a_connection_won_at_the_deadline(kitchen: &Kitchen) {
    cancel::never_lost::law_c17_a_deadline_loses_no_value(kitchen);
    cancel::never_lost::law_c17_created_is_delivered_plus_dropped(kitchen);
}

/// Case 23: the parent is cancelled and a child fails in its cleanup.
pub fn case_023_a_child_fails_during_its_cleanup(kitchen: &Kitchen) {
    group::cancelling::law_g5_real_errors_are_returned_and_the_request_stays(kitchen);
}

/// Case 24: an inner group does not swallow the request of the outer one.
pub fn case_024_an_inner_group_swallows_nothing(kitchen: &Kitchen) {
    group::cancelling::law_g5_an_inner_group_does_not_eat_the_outer_request(kitchen);
}

/// Case 25: a child fails after the body has ended.
pub fn case_025_a_child_fails_after_the_body_ended(kitchen: &Kitchen) {
    group::ending::law_g2_a_late_failure_cancels_siblings(kitchen);
}

/// Case 27: a child cancels its own group before its first suspension.
pub fn case_027_a_child_cancels_its_own_group(kitchen: &Kitchen) {
    group::cancelling::law_g6_a_child_cancels_its_own_group(kitchen);
}

/// Case 28: nested groups that are cancelled give no error.
pub fn case_028_nested_cancelled_groups_return_quietly(kitchen: &Kitchen) {
    group::cancelling::law_g6_nested_groups_are_cancelled_quietly(kitchen);
}

/// Case 32: spawning into a group that waits, that is cancelled, that has ended.
pub fn case_032_spawning_into_a_closing_group(kitchen: &Kitchen) {
    group::spawning::law_g4_children_spawn_while_the_group_waits(kitchen);
    group::spawning::law_g4_a_cancelled_group_refuses(kitchen);
    group::spawning::law_g4_a_finished_group_refuses(kitchen);
}

/// Case 35: what a failing or dropped gather does to the siblings, in both policies.
pub fn case_035_gather_leaks_no_siblings(kitchen: &Kitchen) {
    aggregate::gathering::law_a2_the_first_error_cancels_and_waits(kitchen);
    aggregate::gathering::law_a2_leave_running(kitchen);
    aggregate::gathering::law_a2_a_dropped_gather_leaves_nothing(kitchen);
}

/// Case 36: the caller of a collecting gather is cancelled.
pub fn case_036_a_collecting_gather_is_cancelled(kitchen: &Kitchen) {
    aggregate::gathering::law_a2_a_cancelled_caller_gets_no_list(kitchen);
}

/// Case 39: a stream that is left half-way; the tasks go on and stay awaitable.
pub fn case_039_as_completed_abandoned_half_way(kitchen: &Kitchen) {
    aggregate::waiting::law_a4_dropping_the_stream_cancels_nothing(kitchen);
    aggregate::waiting::law_a4_break_off_and_go_on(kitchen);
}

/// Case 40: `wait` cancels nothing, in any of its forms.
pub fn case_040_wait_does_not_cancel(kitchen: &Kitchen) {
    aggregate::waiting::law_a3_first_completed(kitchen);
    aggregate::waiting::law_a3_the_timeout_touches_no_task(kitchen);
    aggregate::waiting::law_a3_first_exception(kitchen);
}

/// Case 42: a failure that nobody awaits, with the handle kept, dropped before and dropped after.
pub fn case_042_fire_and_forget_failure_is_reported(kitchen: &Kitchen) {
    task::unobserved::law_t6_unobserved_failure_is_reported_once(kitchen);
    task::unobserved::law_t6_reported_when_the_last_handle_goes(kitchen);
    task::unobserved::law_t6_observed_failures_are_not_reported(kitchen);
}

/// Case 44: one of three callbacks panics, one comes late, one is removed.
pub fn case_044_a_done_callback_panics(kitchen: &Kitchen) {
    task::callbacks::law_t9_a_panicking_callback_disturbs_nothing(kitchen);
    task::callbacks::law_t9_late_callbacks_are_scheduled(kitchen);
    task::callbacks::law_t9_removed_callbacks_do_not_run(kitchen);
}

/// Case 45: two tasks that wake each other for ever.
pub fn case_045_ping_pong_starves_nobody(kitchen: &Kitchen) {
    backend::contract::law_b3_ping_pong_starves_nobody(kitchen);
}

/// Case 50: tasks start in spawn order where that is promised.
pub fn case_050_spawn_order(kitchen: &Kitchen) {
    task::spawning::law_t4_tasks_start_in_spawn_order(kitchen);
}

/// Case 52: `Duration::MAX` means never.
pub fn case_052_duration_max_anywhere(kitchen: &Kitchen) {
    timeout::clock::law_d6_absurd_durations_mean_never(kitchen);
}

/// Case 57: timers that are moved earlier, later, into the past, at random.
pub fn case_057_resets(kitchen: &Kitchen) {
    timeout::clock::law_d6_a_sleep_can_be_reset(kitchen);
    backend::timers::law_b4_a_timer_can_be_moved(kitchen);
    backend::timers::law_b4_random_moves_against_a_model(kitchen);
}

/// Case 60: waking after completion, after the end, from other threads.
pub fn case_060_wakers_of_what_is_gone(kitchen: &Kitchen) {
    run::after::law_r4_wakers_are_inert_after_the_end(kitchen);
    run::after::law_r4_a_finished_task_is_not_polled_again(kitchen);
}

/// Case 65: an aggregate whose branches all wait wakes nobody.
pub fn case_065_nothing_spins_when_nothing_is_ready(kitchen: &Kitchen) {
    aggregate::racing::law_a6_nothing_spins_while_all_branches_wait(kitchen);
}

/// Case 69: a panic stays in its task; in a group it is a failure.
pub fn case_069_panic_in_a_task(kitchen: &Kitchen) {
    task::panics::law_t10_panic_in_a_poll(kitchen);
    group::ending::law_g2_a_panic_is_a_failure(kitchen);
}

/// Case 70: the drop of an output or of a future panics.
pub fn case_070_panic_in_drop(kitchen: &Kitchen) {
    task::panics::law_t10_panic_in_the_drop_of_an_output(kitchen);
    task::panics::law_t10_panic_in_the_drop_of_a_future(kitchen);
}

/// Case 71: a stranger's waker panics.
pub fn case_071_a_panicking_waker(kitchen: &Kitchen) {
    task::panics::law_t10_a_strangers_waker_panics(kitchen);
}

/// Case 81: the waiter of a blocking job is cancelled.
pub fn case_081_cancelling_the_waiter_of_a_job(kitchen: &Kitchen) {
    run::blocking::law_r6_a_cancelled_waiter_leaves_at_once(kitchen);
    run::blocking::law_r6_a_job_runs_once_or_not_at_all(kitchen);
}

/// Case 83: a local task is woken, cancelled and let go on another thread.
pub fn case_083_a_local_task_and_other_threads(kitchen: &Kitchen) {
    backend::contract::law_b2_local_tasks_stay_at_home(kitchen);
    backend::contract::law_b2_wakers_of_local_tasks_may_die_anywhere(kitchen);
}

/// Case 84: unfinished tasks at the end, and destructors that spawn.
pub fn case_084_unfinished_local_tasks_at_the_end(kitchen: &Kitchen) {
    run::ending::law_r5_destructors_may_use_the_runtime(kitchen);
    run::after::law_r4_nothing_is_left(kitchen);
}

/// Case 98: tasks that are spawned by cleanups during the shutdown.
pub fn case_098_tasks_spawned_during_shutdown(kitchen: &Kitchen) {
    run::ending::law_r5_spawned_during_shutdown(kitchen);
    run::ending::law_r5_the_shutdown_always_ends(kitchen);
}

/// Case 103: the name is there at the first poll.
pub fn case_103_a_name_from_the_first_poll(kitchen: &Kitchen) {
    task::names::law_t7_name_is_visible_at_the_first_poll(kitchen);
}
