//! The list of all tests of the suite, once.
//!
//! A test is a public function in a room of `conformance/` and one line here, or in [`group`] if its room is
//! that. Everything else is made of this list: the `#[test]` functions of
//! [`conformance!`](crate::conformance!) and [`LAWS`](crate::LAWS).

mod group;

/// Calls `$crate::$callback!` with the list behind `$head`.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_list {
    ($callback:ident, $head:tt) => {
        $crate::__conformance_groups! { $callback, $head
            task::callbacks {
                law_t9_once_each_in_order_after_the_outcome
                law_t9_for_every_ending
                law_t9_removed_callbacks_do_not_run
                law_t9_late_callbacks_are_scheduled
                law_t9_late_callbacks_run_in_registration_order
                law_t9_callbacks_run_under_no_lock
                law_t9_a_panicking_callback_disturbs_nothing
                law_t9_callbacks_run_for_tasks_that_the_shutdown_ends
            }
            task::depth {
                law_t12_a_deep_chain_completes
                law_t12_a_deep_chain_is_cancelled
                law_t12_a_deep_chain_is_aborted
                law_t12_a_deep_chain_is_shut_down
                law_t12_a_deep_hierarchy_of_groups_is_cancelled
                law_t12_nested_results_drop_flat
                law_t12_many_siblings_are_cancelled
                law_t12_drops_that_wake_do_not_nest
            }
            task::joining {
                law_t11_awaiting_the_finished_does_not_suspend
                law_t11_awaiting_oneself_panics
                law_t11_awaiting_oneself_in_disguise_panics
                law_t13_every_waiter_of_a_shared_handle_gets_the_value
                law_t13_every_waiter_gets_the_same_error
                law_t13_shared_waiters_are_not_linked
                law_t13_nobody_steals_a_wake_up
                law_t13_the_latest_waker_wins
                law_t13_task_ref_is_weak
            }
            task::names {
                law_t7_names
                law_t7_main_is_named_main
                law_t7_name_is_visible_at_the_first_poll
                law_t7_spawn_location_is_the_callers
                law_t8_current_task_in_nested_polls
                law_t8_current_task_in_drop_of_the_future
                law_t8_no_current_task_in_callbacks_and_outside
                law_t8_all_tasks_are_the_unfinished
                law_t8_all_tasks_from_another_thread
                law_t8_parent_is_the_spawner
            }
            task::outcomes {
                law_t1_unit_never_and_result
                law_t2_four_outcomes
                law_t2_messages_name_the_task
                law_t2_question_mark_into_boxes
                law_t2_source_chain_survives
                law_t2_panic_payload_is_taken_once
                law_t2_early_and_late_waiters
            }
            task::panics {
                law_t10_panic_in_a_poll
                law_t10_panic_in_the_drop_of_a_future
                law_t10_panic_in_the_drop_of_an_output
                law_t10_panic_in_the_drop_of_an_unstarted_future
                law_t10_panic_in_a_handler
                law_t10_a_strangers_waker_panics
                law_t10_panic_in_the_drop_of_a_child
            }
            task::spawning {
                law_t4_spawn_never_runs_the_task_inline
                law_t4_tasks_start_in_spawn_order
                law_t4_spawn_without_a_runtime_says_what_to_call
                law_t4_spawn_on_a_closed_runtime_is_cancelled
                law_t4_try_spawn_on_a_closed_runtime_keeps_the_future
                law_t4_handles_never_panic
                law_t5_dropping_the_handle_lets_the_task_live
                law_t5_the_runtime_holds_every_unfinished_task
                law_t5_cancel_on_drop
            }
            task::states {
                law_t3_states_of_a_life
                law_t3_cancelling_is_a_state
                law_t3_terminal_states_never_change
                law_t3_cancelling_counts_explicit_requests
                law_t3_requests_of_scopes_do_not_count
                law_t3_readable_from_any_thread
                law_t3_reading_does_not_consume
                law_t3_no_result_before_the_end
            }
            task::unobserved {
                law_t6_unobserved_failure_is_reported_once
                law_t6_unobserved_panic_is_reported_once
                law_t6_reported_when_the_last_handle_goes
                law_t6_observed_failures_are_not_reported
                law_t6_watching_is_not_observing
                law_t6_never_for_cancelled
                law_t6_a_handle_that_outlives_the_runtime_reports
                law_t6_a_handle_inside_a_dropped_value_reports
                law_t6_every_failure_has_its_own_report
            }
            cancel::cleanups {
                law_c12_finally_after_value_error_and_cancellation
                law_c12_finally_not_after_panic_or_abort
                law_c12_on_cancel_only_after_a_cancellation
                law_c12_bracket
                law_c12_cleanups_are_shielded
                law_c12_the_held_outcome_is_not_lost
                law_c12_a_cleanups_error_becomes_the_outcome
                law_c12_a_cleanups_second_error_is_reported
                law_c12_a_timeout_waits_for_the_cleanup
            }
            cancel::delivery {
                law_c3_the_innermost_catch_first
                law_c3_without_a_receiver_the_scope_is_dropped
                law_c3_children_wait_for_the_bodys_handler
                law_c3_a_receiver_left_aside_delays_nothing
                law_c3_a_join_left_aside_delays_nothing
                law_c3_absorbed_when_all_receivers_absorb
                law_c3_goes_on_when_all_are_settled_and_one_resumed
                law_c3_a_request_reaches_handlers_inside_constructs
            }
            cancel::grace {
                law_c13_a_timeout_ends_with_its_grace
                law_c13_what_ends_within_the_grace_is_left_alone
                law_c13_a_group_ends_with_its_grace
                law_c13_awaited_tasks_are_aborted_and_named
                law_c13_a_catch_ends_with_its_grace
                law_c13_each_request_has_its_own_grace
            }
            cancel::hard {
                law_c13_the_runtimes_grace_ends_the_stubborn
                law_c13_handlers_have_the_grace
                law_c14_abort_runs_no_handler
                law_c14_abort_ends_shields_and_handlers
                law_c14_the_drop_is_over_before_anybody_sees_it
                law_c15_reason_kind_text_and_location
                law_c15_the_first_reason_is_reported
                law_c15_every_maker_has_its_kind
                law_c15_the_shutdown_has_its_kind
                law_c15_the_requester_is_named
                law_c16_a_dropped_link_cancels_and_is_waited_for
                law_c16_children_of_a_dropped_group_are_adopted
            }
            cancel::levels {
                law_c6_a_second_request_interrupts_the_handler
                law_c6_a_second_request_reaches_a_catch_in_the_handler
                law_c6_absorbing_one_leaves_the_other
                law_c6_a_deadline_waits_for_a_handler
                law_c6_a_groups_request_waits_for_a_handler
                law_c6_a_token_absorbs_everything_delivered_to_it
                law_c6_a_link_passes_on_the_level
                law_c6_a_second_request_does_not_reach_children_again
            }
            cancel::meetings {
                law_c5_a_dropped_token_keeps_its_level
                law_c6_a_request_made_in_a_shield_waits_for_the_handler
                law_c6_an_explicit_request_does_not_take_along_those_that_wait
                law_c6_a_deadline_does_not_wait_for_a_link
                law_t3_a_request_absorbed_in_a_handler_does_not_count
                law_d4_a_groups_request_unwinds_through_a_deadline
                law_d4_a_deadline_that_is_moved_to_now_expires_outermost
                law_d4_equal_deadlines_in_a_branch_expire_outermost
                law_d4_equal_deadlines_around_a_catch_expire_outermost
                law_d4_two_deadlines_that_are_moved_to_now_expire_outermost
                law_c6_a_request_absorbed_in_a_handler_does_not_go_on
                law_c6_a_request_that_waits_for_a_handler_in_gathers_has_met_nobody
                law_a2_a_gather_in_a_gather_around_a_shield_unwinds
            }
            cancel::links {
                law_c10_the_waiter_waits_for_its_child
                law_c10_the_childs_value_wins
                law_c10_the_childs_error_wins
                law_c10_the_childs_panic_wins
                law_c10_a_finished_child_gives_its_outcome
                law_c10_cancelled_is_about_the_other
                law_c10_both_are_cancelled
                law_c10_watching_is_no_link
                law_c10_linked_from_the_first_poll
                law_c10_links_end_from_the_inside_out
            }
            cancel::never_lost {
                law_c9_a_foreign_select_drops_the_handler
                law_c9_a_receiver_is_dropped_with_the_request_in_hand
                law_c9_handed_back_to_the_scope_it_was_aimed_at
                law_c9_an_expired_timeout_takes_its_request_along
                law_c9_a_token_carried_out_still_settles
                law_c9_a_token_resumed_elsewhere_cancels_there
                law_c9_a_scope_that_completes_first_hands_back
                law_c9_an_absorbed_request_does_not_come_back
                law_c17_created_is_delivered_plus_dropped
                law_c17_a_deadline_loses_no_value
            }
            cancel::requests {
                law_c1_the_three_answers
                law_c1_a_done_task_is_left_alone
                law_c1_no_user_code_runs_inside_the_call
                law_c1_from_another_thread
                law_c1_cancel_with_a_text
                law_c2_delivered_where_the_task_waits
                law_c2_a_running_task_reaches_its_next_suspension
                law_c2_a_ready_result_is_not_preempted
                law_c2_delivery_does_not_spin
                law_c2_early_requests_are_delivered_together
                law_c7_cancelled_before_the_first_poll
                law_c8_an_undelivered_request_beats_a_value
                law_c8_an_error_is_kept
                law_c8_a_resumed_request_beats_a_value
                law_c8_decided_atomically_against_cancel
            }
            cancel::shields {
                law_c11_delivery_is_postponed
                law_c11_handlers_inside_do_not_see_it
                law_c11_protects_lexically
                law_c11_deadlines_outside_are_invisible
                law_c11_timeouts_outside_wait_and_inside_work
                law_c11_a_group_inside_can_end_itself
            }
            cancel::tokens {
                law_c4_uncancel_absorbs
                law_c4_resume_never_returns
                law_c4_dropping_the_token_resumes
                law_c4_a_catch_all_arm_swallows_nothing
                law_c4_an_error_out_of_the_handler_is_the_outcome
                law_c4_a_forgotten_token_is_not_absorbed
                law_c4_a_catch_without_a_request_is_transparent
                law_c5_a_handler_may_await
                law_c5_the_next_enclosing_catch_receives
                law_c5_a_dropped_token_acts_at_the_next_suspension
                law_c5_a_dropped_token_can_be_caught_again
                law_c5_one_request_interrupts_one_wait
            }
            timeout::clock {
                law_d6_timers_never_fire_early
                law_d6_timers_fire_by_deadline
                law_d6_equal_deadlines_fire_in_insertion_order
                law_d6_absurd_durations_mean_never
                law_d6_a_sleep_can_be_reset
                law_d6_effective_deadline
                law_d6_intervals_keep_their_pace
                law_d7_yielding_suspends_once
                law_d7_a_loop_over_ready_operations_starves_nobody
                law_d7_a_loop_over_ready_operations_can_be_ended
                law_d8_time_is_the_backends
                law_d8_virtual_time_jumps
                law_d8_a_blocking_job_holds_virtual_time
            }
            timeout::expiry {
                law_d2_the_timeout_waits_for_the_unwinding
                law_d3_the_result_wins_a_tie
                law_d3_what_absorbs_the_expiry_is_returned
                law_d3_an_absorbed_expiry_does_not_come_again
                law_d3_a_token_of_the_expiry_in_the_value
                law_d4_external_request_while_the_expiry_unwinds
                law_d4_expiry_while_an_external_request_unwinds
                law_d4_each_alone_stays_what_it_is
                law_d4_an_absorbed_request_does_not_count
                law_d4_only_the_one_that_expired_reports
                law_d4_equal_deadlines_expire_outermost
                law_d4_an_inner_deadline_counts_when_the_outer_moves
                law_d4_a_group_inside_keeps_its_error
            }
            timeout::forms {
                law_d1_the_forms_of_a_timeout
                law_d1_none_never_expires
                law_d1_tasks_can_be_timed
                law_d1_a_scope_can_be_rescheduled
                law_d1_rescheduled_from_elsewhere
                law_d1_rescheduling_after_expiry_is_an_error
                law_d5_a_past_deadline_expires_at_the_first_suspension
                law_d5_a_future_that_never_suspends_completes
                law_d5_wait_for_zero_never_starts
                law_d5_a_zero_deadline_can_be_moved_before_it_acts
            }
            aggregate::gathering {
                law_a1_results_in_argument_order
                law_a1_tasks_and_futures_together
                law_a1_futures_may_borrow
                law_a1_empty_input
                law_a2_the_first_error_cancels_and_waits
                law_a2_errors_of_cancelled_branches_are_reported
                law_a2_return_errors
                law_a2_return_errors_of_tasks
                law_a2_leave_running
                law_a2_an_external_request_reaches_every_branch
                law_a2_absorbed_if_every_branch_absorbs
                law_a2_an_error_on_its_way_is_returned
                law_a2_a_cancelled_caller_gets_no_list
                law_a2_a_dropped_gather_leaves_nothing
            }
            aggregate::map_ending {
                law_a7_leaving_a_map_ends_its_calls
                law_c17_a_map_drops_what_nobody_takes
                law_g5_a_request_ends_a_map
                law_g5_a_consumer_of_a_map_may_absorb_a_request
                law_g2_an_error_of_a_call_ends_its_map
                law_a2_errors_can_be_results_of_a_map
                law_g3_a_panic_in_a_map_is_an_entry
                law_g2_a_cancelled_call_gives_no_result
                law_c16_a_dropped_map_cancels_its_calls
                law_g1_results_outlive_their_map
            }
            aggregate::mapping {
                law_g8_a_map_runs_as_many_calls_as_its_limit
                law_a1_a_map_is_ordered
                law_a4_an_unordered_map_gives_what_has_ended
                law_d8_a_map_keeps_its_rate_on_the_backends_clock
                law_g8_a_map_reads_no_further_than_it_may
                law_g8_a_slow_consumer_slows_a_map_down
                law_g1_calls_of_a_map_go_on_while_the_consumer_is_busy
                law_c17_a_cancelled_next_of_a_map_loses_nothing
                law_a6_a_map_waits_for_its_source
                law_a6_a_map_is_linear_in_its_items
                law_t7_calls_of_a_map_have_names
            }
            aggregate::racing {
                law_a5_race_cancels_and_waits_for_the_losers
                law_a5_race_is_won_by_an_error_too
                law_a5_tasks_race
                law_a5_first_success
                law_a6_only_woken_branches_are_polled
                law_a6_nothing_spins_while_all_branches_wait
                law_a6_no_wake_up_is_stolen
                law_a7_what_a_cancellation_does_to_branches
            }
            aggregate::waiting {
                law_a3_all_completed
                law_a3_first_completed
                law_a3_first_exception
                law_a3_the_timeout_touches_no_task
                law_a3_empty_input
                law_a3_finished_tasks_do_not_suspend
                law_a3_the_borrowing_form_survives_being_dropped
                law_a3_a_cancelled_waiter_leaves_the_tasks
                law_a4_completion_order
                law_a4_break_off_and_go_on
                law_a4_dropping_the_stream_cancels_nothing
                law_a4_a_deadline_touches_no_task
                law_a4_empty_input
            }
            run::after {
                law_r3_a_nested_run_is_noticed
                law_r3_a_run_in_a_blocking_job
                law_r4_handles_are_inert_after_the_end
                law_r4_wakers_are_inert_after_the_end
                law_r4_a_finished_task_is_not_polled_again
                law_r4_timers_are_inert_after_the_end
                law_r4_late_spawns_fail
                law_r4_nothing_is_left
                law_r4_runs_do_not_know_each_other
            }
            run::blocking {
                law_r6_outcomes
                law_r6_tasks_go_on_meanwhile
                law_r6_a_cancelled_waiter_leaves_at_once
                law_r6_a_job_can_ask
                law_r6_a_job_runs_once_or_not_at_all
                law_r6_the_shutdown_waits_for_running_jobs
                law_r6_a_job_that_outlasts_the_grace_is_left_behind
                law_r6_timeouts_fire_while_a_job_runs
            }
            run::ending {
                law_r1_mains_outcome_is_returned
                law_r1_the_shutdown_cancels_and_waits
                law_r1_unstarted_tasks_never_start
                law_r1_children_are_cancelled_by_their_groups
                law_r1_leftover_failures_are_reported
                law_r1_a_panicking_main_shuts_down
                law_r2_a_local_main_need_not_be_send
                law_r2_a_signal_cancels_main
                law_r2_a_second_signal_ends_the_grace
                law_r5_spawned_during_shutdown
                law_r5_groups_work_during_shutdown
                law_r5_the_shutdown_always_ends
                law_r5_destructors_may_use_the_runtime
            }
            backend::contract {
                law_b1_schedule_never_runs_inline
                law_b1_wake_ups_from_any_thread
                law_b1_wake_ups_from_thread_local_destructors
                law_b1_wake_ups_before_a_poll_are_one
                law_b2_local_tasks_stay_at_home
                law_b2_wakers_of_local_tasks_may_die_anywhere
                law_b3_tasks_run_in_wake_order
                law_b3_ping_pong_starves_nobody
                law_b5_drive_runs_until_told
                law_b5_is_virtual_tells_the_truth
            }
            backend::timers {
                law_b4_a_timer_fires_once_and_not_early
                law_b4_a_removed_timer_does_not_fire
                law_b4_a_timer_can_be_moved
                law_b4_the_last_waker_is_woken
                law_b4_dead_keys_stay_dead
                law_b4_order_of_deadlines_then_insertion
                law_b4_far_future_never_fires
                law_b4_many_timers_come_and_go
                law_b4_random_moves_against_a_model
            }
            cases::cancelling {
                case_003_awaiting_in_a_cancelled_groups_cleanup
                case_005_a_refusing_future_does_not_spin
                case_006_a_cycle_of_tasks_is_cancelled
                case_008_absorb_and_go_on
                case_009_cancel_and_wait
                case_010_a_cancelled_waiter_leaves_nothing_behind
                case_012_an_inner_group_does_not_cancel_the_outer
            }
            cases::grouping {
                case_026_a_failure_inside_a_cancelled_shield
                case_029_inner_and_outer_are_cancelled
                case_030_a_shielded_host
                case_031_a_thousand_failures
                case_034_gone_children_are_gone
                case_037_the_same_handle_twice
                case_038_result_order
                case_041_watching_in_a_retry_loop
                case_043_fire_and_forget_does_not_disappear
                case_064_woken_before_the_first_poll
                case_073_a_construction_that_panics
            }
            cases::kept_by_laws {
                case_001_cancel_before_the_first_poll
                case_002_cancel_of_self_right_before_returning
                case_007_deadline_and_request_in_three_orders
                case_011_late_cancel_of_a_finished_task
                case_016_the_inner_future_absorbs_the_deadline
                case_017_a_connection_won_at_the_deadline
                case_023_a_child_fails_during_its_cleanup
                case_024_an_inner_group_swallows_nothing
                case_025_a_child_fails_after_the_body_ended
                case_027_a_child_cancels_its_own_group
                case_028_nested_cancelled_groups_return_quietly
                case_032_spawning_into_a_closing_group
                case_035_gather_leaks_no_siblings
                case_036_a_collecting_gather_is_cancelled
                case_039_as_completed_abandoned_half_way
                case_040_wait_does_not_cancel
                case_042_fire_and_forget_failure_is_reported
                case_044_a_done_callback_panics
                case_045_ping_pong_starves_nobody
                case_050_spawn_order
                case_052_duration_max_anywhere
                case_057_resets
                case_060_wakers_of_what_is_gone
                case_065_nothing_spins_when_nothing_is_ready
                case_069_panic_in_a_task
                case_070_panic_in_drop
                case_071_a_panicking_waker
                case_081_cancelling_the_waiter_of_a_job
                case_083_a_local_task_and_other_threads
                case_084_unfinished_local_tasks_at_the_end
                case_098_tasks_spawned_during_shutdown
                case_103_a_name_from_the_first_poll
            }
            cases::locals {
                case_105_task_locals_are_inherited
                case_105_task_locals_in_drop
                case_105_task_locals_are_kept_apart
            }
            cases::scopes {
                case_066_a_stale_waker
                case_099_many_short_scopes
            }
            cases::timing {
                case_013_completion_and_request_in_one_turn
                case_014_wait_for_a_finished_task_keeps_the_request
                case_015_wait_for_waits_for_the_cleanup
                case_019_deadline_and_error_in_one_turn
                case_020_a_body_that_catches_everything
                case_022_sleeping_into_the_past
                case_053_absurd_intervals
                case_054_missed_ticks
                case_056_timeouts_of_ready_futures_are_free
                case_058_many_equal_deadlines
            }
            cases::waking {
                case_046_an_always_ready_source
                case_047_finished_handles_in_a_foreign_join
                case_061_the_latest_waker_wins
                case_062_repolling_keeps_one_waker
                case_063_waking_under_a_lock
                case_067_two_tasks_hold_each_other
                case_072_a_shared_task_panics
                case_101_debug_output_is_bounded
                case_104_current_task_in_odd_places
            }
        }
    };
}
