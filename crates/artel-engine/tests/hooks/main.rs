//! Hooks from end to end: real commands in the real sandbox. This program is its own starter, as
//! Artel's is, so it has a `main` instead of the usual harness.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::print_stdout, reason = "it lists its tests like any harness")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test program reads the clock itself"
)]

mod codes;
mod order;
mod place;
mod walls;

macro_rules! tests {
    ($($module:ident::$name:ident),* $(,)?) => {
        &[$((concat!(stringify!($module), "::", stringify!($name)), $module::$name)),*]
    };
}

const TESTS: &[(&str, fn())] = tests![
    codes::every_way_to_end_has_its_meaning,
    codes::the_facts_are_told_as_documented,
    codes::answers_after_calls_and_at_the_end_are_heard,
    order::lower_priorities_run_first_and_equals_in_their_order,
    order::deny_beats_allow_and_ends_the_row,
    order::changed_input_reaches_the_next_hook_and_comes_back_in_our_words,
    order::built_in_hooks_are_hooks_like_others,
    order::questions_pass_hooks_first,
    walls::strangers_are_not_run,
    walls::a_script_that_the_run_changed_denies,
    walls::files_are_read_only_unless_declared,
    walls::the_persons_own_hooks_reach_what_they_declare,
    walls::what_a_hook_with_a_way_out_tells_the_agent_is_a_strangers,
];

fn main() {
    artel_sandbox::enter_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--list") {
        if !has("--ignored") {
            TESTS.iter().for_each(|(name, _)| println!("{name}: test"));
        }
        return;
    }
    let wanted: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    for (name, test) in TESTS {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
            test();
            println!("test {name} ... ok");
        }
    }
}
