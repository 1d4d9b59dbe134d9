//! Acceptance checks of planned work, one file for each source. A check is read with the words of
//! Artel: a step is tried three times before the person decides.
//!
//! Checks that other tests show are not written twice:
//!
//! | Check | Shown by |
//! | --- | --- |
//! | skills-agent 11 | `tool_declared::what_does_not_fit_is_refused_with_the_rule`, `tool::what_is_refused_names_its_rule_and_ends_with_three`, `omniforge::reach::check_15_scripts_reach_nothing_outside` |
//! | skills-agent 12 | `tool_declared::a_tool_that_takes_too_long_is_ended`, `omniforge::reach::proof_scripts_that_never_end_are_ended`, `a_cancel_ends_grandchildren_too` of the sandbox |
//! | skills-agent 13, a written file | `a_megabyte_arrives_byte_for_byte` of the tools |
//! | skills-agent 14, bounds and secrets | `skill_runs::what_is_kept_is_bounded_redacted_and_can_be_changed_and_removed` |
//! | sylk-5 9 | `agents::the_shell_is_no_way_around_the_git_matrix`, `built_in_roles_do_in_git_what_the_matrix_says_by_tool_and_by_shell` of the workshop |
//! | sylk-5 19, any order | `any_order_of_work_ends_as_one_step_after_another` of the rules |
//! | sylk-7 10 | `layers_follow_dependencies`, `a_circle_is_shown_as_its_path`, `everything_wrong_with_a_step_is_said_by_number_and_title` of the rules |
//! | sylk-7 12, every pair | `every_pair_of_state_and_act_is_decided` of the rules |
//! | sylk-7 14, old versions | `deciding::comments_are_all_kept_and_come_back_as_the_next_version` |
//! | sylk-2 6, urgency | `inbox::the_most_urgent_comes_first_and_keeps_what_its_person_wrote` |
//! | sylk-2 8 | `a_user_takes_the_place_of_the_least_urgent_who_is_then_asked_again`, `with_a_free_slot_nobody_is_disturbed` of the gateway |
//! | exoframe 1 | `init_again::the_second_time_nothing_changes`, `init_again::force_writes_untouched_templates_anew_and_never_an_edit` |
//! | exoframe 2 | `config::what_is_wrong_is_named_with_file_line_and_remedy`, `config::settings_are_recorded_by_a_command_that_writes_and_only_when_they_changed` |
//! | exoframe 6, 8 | `asking::a_request_is_kept_in_the_persons_words_with_what_was_understood`, `asking::a_rehearsal_of_a_request_writes_nothing`, `asking::what_cannot_be_asked_is_refused_before_anything_is_opened`, `inbox::a_file_that_cannot_be_used_is_said_once_and_beside_it` |
//! | exoframe 11 | `deciding::nothing_is_decided_without_a_reason_or_from_a_wrong_state`, `deciding::comments_are_all_kept_and_come_back_as_the_next_version` |
//! | exoframe 12, the branch | `story::a_request_becomes_a_merged_changeset` |
//! | exoframe 13 | `executors::two_executors_one_works_and_the_other_takes_over` |
//! | exoframe 14, the report | `reports::a_failed_run_says_what_was_tried_and_what_to_do` |
//! | exoframe 18 | `changesets::approving_makes_a_merge_commit_and_leaves_other_work_alone`, `changesets::another_branch_that_is_checked_out_is_not_touched`, `changesets::a_branch_that_moved_in_the_same_places_is_a_conflict_with_ways_out`, `changesets::rejecting_removes_branch_and_folder_and_keeps_the_record` |
//! | exoframe 19 | `reports::the_numbers_are_those_of_git`, `reports::a_report_is_made_again_byte_for_byte_and_follows_decisions`, `reports::what_is_not_on_record_is_said_and_nothing_is_written` |
//! | exoframe 22 | `agents::each_mistake_has_its_own_message`, `agents::every_template_passes_its_check` |

mod advice;
mod baseline;
mod checkers;
mod contract;
mod exoframe;
mod kept;
mod people;
mod renames;
mod rewritten;
mod skills_agent;
mod sylk_2;
mod sylk_4;
mod sylk_5;
mod sylk_7;

use super::stage;
