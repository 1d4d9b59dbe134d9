//! Variables in the command line of `make`: switches, flags and tools.

use super::builds::pass_on;
use super::options::ParsedProgramArguments;
use super::table::{DoubtReason, lists};
use super::view::CommandInspector;

/// Variables that by convention hold a switch, a name or a version, but not a program.
const PLAIN: &str = "V VERBOSE Q QUIET DEBUG RELEASE BUILD BUILD_TYPE BUILDTYPE MODE CONFIG ENV ARCH \
    TARGET OS PLATFORM VERSION TAG PROFILE FEATURES TEST TESTS TESTSUITE TEST_NAME T N NAME FILTER \
    PKG PACKAGE MODULE COUNT JOBS CI COVERAGE RACE SANITIZE ASAN UBSAN LTO STATIC SHARED STRICT \
    WERROR OPT COLOR FORMAT LANG LOCALE STAGE REGION SERVICE APP DIR FILE FILES SRC";

/// Variables that hold flags for the compiler.
const FLAGS: &str = "CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS EXTRA_CFLAGS EXTRA_CXXFLAGS \
    EXTRA_LDFLAGS OPTFLAGS WARNFLAGS";

/// Checks the variables among the operands of `make`. A variable that is not known to be
/// harmless may be a program that a recipe starts.
pub(super) fn make(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for operand in &parsed.operands {
        let Some((name, value)) = operand.split_once('=') else {
            continue;
        };
        let name = name.trim_end_matches([':', '+', '?']);
        if lists(FLAGS, name) && is_flat(value) {
            let words: Vec<&str> = value.split(' ').filter(|word| !word.is_empty()).collect();
            pass_on(view, "gcc", &words);
        } else if !is_harmless(view, name, value) {
            view.doubt_word(DoubtReason::ChangesShell, operand);
        }
    }
}

fn is_harmless(view: &CommandInspector<'_>, name: &str, value: &str) -> bool {
    let is_number = value.len() < 20 && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_switch = lists("y n yes no true false on off", value);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if is_number || is_switch {
        let is_own = lists("SHELL MAKE MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES", name);
        return !name.is_empty() && name.bytes().all(is_name) && !is_own;
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.,:+-/@".contains(&byte);
    lists(PLAIN, name)
        && value.bytes().all(is_plain)
        && !value.starts_with('-')
        && !view.leads_out(value)
}

/// Returns whether neither `make` nor its shell computes anything in a value.
fn is_flat(value: &str) -> bool {
    let is_flat = |byte: u8| byte.is_ascii_alphanumeric() || b"_.,:+-/= ".contains(&byte);
    value.bytes().all(is_flat)
}
