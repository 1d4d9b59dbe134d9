//! Shells: a text after `-c` is judged as shell text, everything else is asked about.

use super::options::ParsedProgramArguments;
use super::table::{DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, asks, asks_flag};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::wraps("sh bash dash zsh ksh mksh ash rbash yash", 0)
        .style(ProgramOptionStyle::Posix)
        .values(&["-o"])
        .flags(&["-c --login --posix --norc --noprofile --version --help --verbose"])
        .entries(&[
            asks("--rcfile --init-file -O", DoubtReason::Loads),
            asks_flag("-i --interactive", DoubtReason::Interactive),
            asks_flag("-s", DoubtReason::Inline),
        ])
        .operands(OperandMeaning::Call(shell)),
    ProgramSpec::wraps("fish", 0)
        .values(&["-d --debug -o --debug-output -f --features"])
        .flags(&["-c --command -v --version -h --help -N --no-config -l --login -n --no-execute"])
        .entries(&[
            asks("-C --init-command", DoubtReason::Loads),
            asks_flag("-i --interactive", DoubtReason::Interactive),
            asks("--profile --profile-startup", DoubtReason::Writes),
        ])
        .operands(OperandMeaning::Call(shell)),
    ProgramSpec::doubtful(
        "csh tcsh elvish nu nushell xonsh pwsh powershell rc es osh ysh",
        DoubtReason::Interactive,
    ),
];

/// Judges the text of `-c`, which is the first operand wherever the option stands; so
/// `-ce` and `-lc` mean the same. In fish, `--command=TEXT` has the text glued to it.
fn shell(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if parsed.has("--version --help -v -h") {
        return;
    }
    if parsed.has("-c --command") {
        let glued = parsed.values_of("--command").find(|text| !text.is_empty());
        match glued.or(parsed.operands.first().copied()) {
            Some(text) => view.start_script(text),
            None => view.doubt_word(DoubtReason::Inline, "-c"),
        }
    } else if let Some(file) = parsed.operands.first() {
        view.read(file);
        view.doubt_word(DoubtReason::Loads, file);
    } else {
        let name = view.name.clone();
        view.doubt(DoubtReason::Inline, &name);
    }
}
