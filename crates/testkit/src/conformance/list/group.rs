//! The part of the list that belongs to the room `group/`.

/// Calls `$crate::$callback!` with what it was given and this part of the list behind `$head`.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_groups {
    ($callback:ident, $head:tt $($other:tt)*) => {
        $crate::$callback! { $head
            $($other)*
            group::cancelling {
                law_g5_a_request_unwinds_body_then_children
                law_g5_a_request_while_waiting_at_the_end
                law_g5_real_errors_are_returned_and_the_request_stays
                law_g5_the_body_may_absorb
                law_g5_an_inner_group_does_not_eat_the_outer_request
                law_g6_cancel_keeps_the_value_of_an_ended_body
                law_g6_cancel_without_a_value
                law_g6_finish_gives_the_value
                law_g6_real_errors_win
                law_g6_cancel_is_idempotent
                law_g6_a_foreign_request_still_unwinds
                law_g6_nested_groups_are_cancelled_quietly
                law_g6_a_child_cancels_its_own_group
                law_g10_a_dropped_group_cancels_its_children
                law_g10_an_unpolled_group_is_nothing
            }
            group::ending {
                law_g1_the_bodys_value_after_all_children
                law_g1_the_body_borrows_and_children_get_clones
                law_g1_the_error_belongs_to_the_group
                law_g1_passing_on_a_childs_failure_adds_nothing
                law_g1_an_empty_group_is_its_body
                law_g1_the_builder_opens_the_same_group
                law_g2_the_first_failure_cancels_the_rest
                law_g2_a_panic_is_a_failure
                law_g2_a_cancelled_child_is_no_failure
                law_g2_a_late_failure_cancels_siblings
                law_g2_the_bodys_failure_cancels_the_children
                law_g2_the_group_waits_for_cleanups
            }
            group::errors {
                law_g3_completion_order_and_the_body_last
                law_g3_panics_are_entries
                law_g3_cancelled_siblings_are_no_entries
                law_g3_every_failure_once
                law_g3_nested_groups_nest
                law_g3_split_and_subgroup
                law_g3_printing_shows_names
            }
            group::escalation {
                law_g9_pauses_between_restarts_grow
                law_g9_pauses_begin_anew_after_a_long_run
                law_g9_the_budget_slides
                law_g9_a_used_up_budget_tells_its_failures
                law_g9_a_budget_used_up_by_values
                law_g9_a_backoff_may_give_up
                law_g9_giving_up_stops_the_others_in_reverse_order
                law_g9_a_failure_during_a_stop_is_told
                law_g5_a_failure_in_the_end_of_a_supervisor_is_returned
                law_g9_giving_up_is_an_error_of_the_group
                law_g9_supervisors_nest
                law_g9_a_panic_of_the_maker_is_the_childs
                law_g9_a_supervisor_ends_with_its_last_child
            }
            group::keyed {
                law_g9_a_replaced_child_ends_before_the_new_one_begins
                law_g9_a_cancelled_caller_does_not_stop_a_replacement
                law_g9_a_waiting_replacement_is_dropped_unpolled
                law_g9_a_replacement_cancelled_in_the_turn_of_its_beginning
                law_g9_a_second_child_with_a_key_is_dropped_unpolled
                law_g7_a_key_is_forgotten_with_its_child
                law_g9_a_replaced_child_that_fails_fails_the_group
                law_g4_a_closed_group_takes_no_keys
                law_g9_the_groups_end_ends_a_replacement
                law_g9_a_child_replaces_itself
                law_g8_a_replacement_takes_the_slot_of_the_former
                law_g9_of_one_key_never_two_run
                law_t7_children_are_named_by_their_keys
            }
            group::limit {
                law_g8_at_most_n_run_at_once
                law_g8_first_come_first_served
                law_g8_a_queued_child_is_cancelled_unpolled
                law_g8_cancelled_in_the_turn_of_its_slot
                law_g8_the_groups_end_drops_the_queue
                law_g8_try_spawn_refuses_when_full
                law_g8_spawn_ready_waits_for_a_slot
                law_g8_spawn_ready_is_cancellable
                law_g8_a_slot_that_is_not_taken_goes_on
                law_g8_spawn_ready_on_a_group_that_ends
            }
            group::policies {
                law_g9_supervise_records_and_goes_on
                law_g9_a_supervising_body_that_fails_ends_the_group
                law_g9_first_success_ends_the_others
                law_g9_first_success_or_all_errors
                law_g9_a_policy_of_ones_own
            }
            group::services {
                law_g9_services_end_in_reverse_order
                law_g9_services_outlive_ordinary_children
                law_g9_services_end_last_when_the_group_fails
                law_g9_a_request_from_outside_ends_services_in_order
                law_g9_a_dropped_group_ends_its_services_in_order
                law_g9_a_service_that_fails_fails_the_group
                law_g9_start_returns_the_value_of_readiness
                law_g9_start_of_a_child_that_ends_first
                law_g9_start_that_is_cancelled_cancels_the_child
            }
            group::spawning {
                law_g4_children_spawn_while_the_group_waits
                law_g4_a_finished_group_refuses
                law_g4_a_cancelled_group_refuses
                law_g4_an_unstarted_child_never_runs
                law_g4_local_children
                law_g7_a_finished_child_leaves_nothing
                law_g7_values_belong_to_the_handles
            }
            group::supervision {
                law_g9_a_permanent_child_begins_again_however_it_ended
                law_g9_a_transient_child_begins_again_after_a_failure
                law_g9_a_temporary_child_never_begins_again
                law_g9_every_answered_failure_is_told
                law_g9_one_for_one_restarts_the_one
                law_g9_one_for_all_restarts_all
                law_g9_rest_for_one_restarts_those_after_it
                law_g9_a_temporary_child_is_stopped_with_the_others
                law_g9_who_begins_again_with_the_others
                law_g9_a_child_that_is_being_cancelled_stays_ended
                law_g9_a_slow_cleanup_holds_the_restart
                law_g9_the_grace_of_a_supervisor_bounds_a_stop
                law_g9_a_cancellation_ends_a_pause
                law_g9_a_cancellation_wins_over_a_restart
                law_g9_a_cancellation_during_a_stop_wins
                law_g9_a_timeout_during_a_stop_waits_for_the_children
                law_g9_nothing_is_restarted_while_the_group_ends
                law_g10_a_dropped_supervisor_ends_its_children_in_order
            }
        }
    };
}
