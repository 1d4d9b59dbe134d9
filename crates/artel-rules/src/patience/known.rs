//! Commands that are known to take minutes.

use std::time::Duration;

/// The words that a command begins with, without flags, and its minutes. The longest match
/// counts.
const KNOWN: &[(&[&str], u64)] = &[
    (&["ant"], 10),
    (&["apk", "add"], 5),
    (&["apt", "install"], 5),
    (&["apt-get", "install"], 5),
    (&["bazel"], 10),
    (&["buck2"], 10),
    (&["bun", "install"], 5),
    (&["bun", "run", "build"], 10),
    (&["bun", "test"], 5),
    (&["bundle", "install"], 5),
    (&["c++"], 5),
    (&["cabal"], 10),
    (&["cargo", "bench"], 10),
    (&["cargo", "build"], 10),
    (&["cargo", "check"], 10),
    (&["cargo", "clippy"], 10),
    (&["cargo", "doc"], 10),
    (&["cargo", "fetch"], 5),
    (&["cargo", "install"], 10),
    (&["cargo", "miri"], 10),
    (&["cargo", "nextest"], 10),
    (&["cargo", "run"], 10),
    (&["cargo", "test"], 10),
    (&["clang"], 5),
    (&["clang++"], 5),
    (&["cmake"], 10),
    (&["composer", "install"], 5),
    (&["conda", "install"], 5),
    (&["configure"], 5),
    (&["ctest"], 10),
    (&["docker", "build"], 10),
    (&["dotnet", "build"], 10),
    (&["dotnet", "test"], 10),
    (&["flutter", "build"], 10),
    (&["flutter", "test"], 5),
    (&["g++"], 5),
    (&["gcc"], 5),
    (&["go", "build"], 10),
    (&["go", "install"], 10),
    (&["go", "mod"], 5),
    (&["go", "test"], 5),
    (&["go", "vet"], 5),
    (&["gradle"], 10),
    (&["gradlew"], 10),
    (&["jest"], 5),
    (&["just"], 10),
    (&["make"], 10),
    (&["meson"], 10),
    (&["mix", "compile"], 10),
    (&["mix", "test"], 5),
    (&["mvn"], 10),
    (&["mvnw"], 10),
    (&["mypy"], 5),
    (&["ninja"], 10),
    (&["nix", "build"], 10),
    (&["nix-build"], 10),
    (&["nox"], 10),
    (&["npm", "ci"], 5),
    (&["npm", "install"], 5),
    (&["npm", "run", "build"], 10),
    (&["npm", "run", "test"], 5),
    (&["npm", "test"], 5),
    (&["npx", "jest"], 5),
    (&["npx", "playwright"], 10),
    (&["npx", "tsc"], 5),
    (&["npx", "vitest"], 5),
    (&["phpunit"], 5),
    (&["pip", "install"], 5),
    (&["playwright", "test"], 10),
    (&["pnpm", "build"], 10),
    (&["pnpm", "install"], 5),
    (&["pnpm", "run", "build"], 10),
    (&["pnpm", "test"], 5),
    (&["poetry", "install"], 5),
    (&["poetry", "run", "pytest"], 5),
    (&["pytest"], 5),
    (&["python", "pip", "install"], 5),
    (&["python", "pytest"], 5),
    (&["python", "unittest"], 5),
    (&["rake"], 10),
    (&["rspec"], 5),
    (&["rustc"], 5),
    (&["sbt"], 10),
    (&["scons"], 10),
    (&["stack", "build"], 10),
    (&["stack", "test"], 10),
    (&["swift", "build"], 10),
    (&["swift", "test"], 10),
    (&["tox"], 10),
    (&["tsc"], 5),
    (&["uv", "pip", "install"], 5),
    (&["uv", "run", "pytest"], 5),
    (&["uv", "sync"], 5),
    (&["vitest"], 5),
    (&["webpack"], 10),
    (&["yarn", "build"], 10),
    (&["yarn", "install"], 5),
    (&["yarn", "test"], 5),
    (&["zig", "build"], 10),
    (&["zig", "test"], 5),
];

/// Returns the base time of a known command.
pub(super) fn base(words: &[impl AsRef<str>]) -> Option<Duration> {
    let mut words = words.iter().map(AsRef::as_ref);
    let program = program(words.next()?);
    // `+nightly` names a toolchain and `-m` in `python -m pytest` a module, so neither
    // counts as a word.
    let said: Vec<&str> = words
        .filter(|word| !word.starts_with(['-', '+']))
        .take(3)
        .collect();
    let fits = |known: &&(&[&str], u64)| known.0[0] == program && said.starts_with(&known.0[1..]);
    let (_, minutes) = KNOWN
        .iter()
        .filter(fits)
        .max_by_key(|(words, _)| words.len())?;
    Some(Duration::from_secs(60 * minutes))
}

/// Returns the name without folder and version: `/usr/bin/python3.12` is `python`.
fn program(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    // `buck2` is a name, not a version.
    if KNOWN.iter().any(|(words, _)| words[0] == name) {
        return name;
    }
    plain
}
