//! What hints are worth: scenarios in which something goes wrong, played through the real run path
//! (engine, tools, sandbox, journal, a provider on the wire) by one mediocre follower, once with
//! hints and once without. This program is the sandbox's starter, as Artel's is, so it has a `main`
//! instead of the usual harness.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test program that says what it did; a step that fails, fails the test"
)]

mod place;
mod scenario;
mod strikes;
mod suite;

const TESTS: &[(&str, fn())] = &[
    ("proof_recovery", suite::proof_recovery),
    (
        "a_call_is_carried_out_three_times_at_most",
        strikes::a_call_is_carried_out_three_times_at_most,
    ),
    (
        "three_strikes_put_the_files_back",
        strikes::three_strikes_put_the_files_back,
    ),
    (
        "an_encoding_is_recovered_and_counted",
        strikes::an_encoding_is_recovered_and_counted,
    ),
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
