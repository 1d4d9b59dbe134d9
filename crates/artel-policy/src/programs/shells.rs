//! Shells: a text after `-c` is judged as shell text, everything else is asked about.

use super::options::Parsed;
use super::table::{Operands, Program, Style, Why, asks, asks_flag};
use super::view::View;

pub(super) const TABLE: &[Program] = &[
    Program::wraps("sh bash dash zsh ksh mksh ash rbash yash", 0)
        .style(Style::Posix)
        .values(&["-o"])
        .flags(&["-c --login --posix --norc --noprofile --version --help --verbose"])
        .entries(&[
            asks("--rcfile --init-file -O", Why::Loads),
            asks_flag("-i --interactive", Why::Interactive),
            asks_flag("-s", Why::Inline),
        ])
        .operands(Operands::Call(shell)),
    Program::wraps("fish", 0)
        .values(&["-d --debug -o --debug-output -f --features"])
        .flags(&["-c --command -v --version -h --help -N --no-config -l --login -n --no-execute"])
        .entries(&[
            asks("-C --init-command", Why::Loads),
            asks_flag("-i --interactive", Why::Interactive),
            asks("--profile --profile-startup", Why::Writes),
        ])
        .operands(Operands::Call(shell)),
    Program::doubtful(
        "csh tcsh elvish nu nushell xonsh pwsh powershell rc es osh ysh",
        Why::Interactive,
    ),
];

/// Judges the text of `-c`, which is the first operand wherever the option stands; so
/// `-ce` and `-lc` mean the same. In fish, `--command=TEXT` has the text glued to it.
fn shell(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if parsed.has("--version --help -v -h") {
        return;
    }
    if parsed.has("-c --command") {
        let glued = parsed.values_of("--command").find(|text| !text.is_empty());
        match glued.or(parsed.operands.first().copied()) {
            Some(text) => view.start_script(text),
            None => view.doubt_word(Why::Inline, "-c"),
        }
    } else if let Some(file) = parsed.operands.first() {
        view.read(file);
        view.doubt_word(Why::Loads, file);
    } else {
        let name = view.name.clone();
        view.doubt(Why::Inline, &name);
    }
}
