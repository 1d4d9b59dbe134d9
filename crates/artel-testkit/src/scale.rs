//! The size of long-running tests, and the figures they report.

/// Returns whether the long form was requested (`cargo xtask prove`).
pub fn is_long() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "the scale of a proof is given from outside"
    )]
    let proof = std::env::var_os("ARTEL_PROOF");
    proof.is_some_and(|word| word == "long")
}

/// Returns `long` in the long form, and a tenth of it in an ordinary test run.
pub fn scaled(long: u64) -> u64 {
    if is_long() { long } else { long.div_ceil(10) }
}

/// Prints a figure for `cargo xtask prove` to collect.
pub fn figure(text: &str) {
    #[expect(clippy::print_stdout, reason = "figures are the report of a proof")]
    {
        println!("figure: {text}");
    }
}
