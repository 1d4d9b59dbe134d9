//! How large a proof is, and what it says at the end.

/// Tells whether the long form was asked for (`cargo xtask prove`).
pub fn is_long() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "the scale of a proof is given from outside"
    )]
    let proof = std::env::var_os("ARTEL_PROOF");
    proof.is_some_and(|word| word == "long")
}

/// Returns `long` in a proof, and its tenth in an ordinary test run.
pub fn scaled(long: u64) -> u64 {
    if is_long() { long } else { long.div_ceil(10) }
}

/// Prints a figure that `cargo xtask prove` collects.
pub fn figure(text: &str) {
    #[expect(clippy::print_stdout, reason = "figures are the report of a proof")]
    {
        println!("figure: {text}");
    }
}
