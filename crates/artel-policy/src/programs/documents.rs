//! Typesetting, documentation and drawing: programs that run others on request.

use super::inline;
use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, ProgramSubcommands, asks,
    asks_flag, calls, inside, starts, writes,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works(
        "tex latex pdftex pdflatex xetex xelatex luatex lualatex luahbtex etex ptex platex uplatex \
            dvilualatex pdfcsplain lamed omega",
    )
    .style(ProgramOptionStyle::Dash)
    .values(&["-interaction -jobname -output-format"])
    .flags(&["-halt-on-error -file-line-error -draftmode -synctex -version -help -no-shell-escape"])
    .confined()
    .entries(&[
        asks_flag(
            "-shell-escape* -enable-write18 -shell-restricted",
            DoubtReason::Starts,
        ),
        asks(
            "-cnf-line -lua* -fmt -progname -translate-file -luaonly -ini",
            DoubtReason::Loads,
        ),
        writes("-output-directory -output-comment -recorder-file"),
    ])
    .operands(OperandMeaning::Call(tex)),
    ProgramSpec::works("latexmk")
        .style(ProgramOptionStyle::Dash)
        .flags(&[
            "-pdf -xelatex -lualatex -c -C -f -g -silent -quiet -version -bibtex -halt-on-error",
        ])
        .confined()
        .entries(&[
            calls("-e", inline::code),
            asks("-r", DoubtReason::Loads),
            asks_flag(
                "-shell-escape -enable-write18 -pv -pvc -gui",
                DoubtReason::Starts,
            ),
            asks(
                "-pdflatex -latex -usepretex* -pretex -latexoption -pdflatexoption -view \
                -print -xelatexoption -lualatexoption",
                DoubtReason::Starts,
            )
            .glued(),
            writes("-outdir -output-directory -auxdir -aux-directory -out2dir"),
        ])
        .operands(OperandMeaning::Call(tex)),
    ProgramSpec::works("tectonic typst").confined().entries(&[
        asks(
            "-Z --untrusted --web-bundle --bundle --package-path",
            DoubtReason::Loads,
        ),
        writes("-o --outdir --output --makefile-rules --timings"),
        asks_flag("--open", DoubtReason::Starts).glued(),
    ]),
    ProgramSpec::works("dvips dvipdfmx bibtex biber makeindex")
        .style(ProgramOptionStyle::Dash)
        .confined()
        .entries(&[
            writes("-o* -output*"),
            asks_flag("-R0 -z", DoubtReason::Starts),
        ]),
    ProgramSpec::works("context mtxrun texdoc")
        .operands(OperandMeaning::Doubt(DoubtReason::Starts)),
    ProgramSpec::works("sphinx-build sphinx-apidoc mkdocs mdbook hugo jekyll doxygen")
        .confined()
        .entries(&[
            asks(
                "-c --config --config-file -D -f --source --themesDir",
                DoubtReason::Loads,
            ),
            writes("-d --dest-dir --site-dir --destination -o -w"),
            asks_flag("--open", DoubtReason::Starts),
        ])
        .operands(OperandMeaning::Subs(&SITES)),
    ProgramSpec::works("m4 gm4")
        .confined()
        .entries(&[
            asks("-I --include -R --reload-state", DoubtReason::Loads),
            calls("-D --define", inline::code),
        ])
        .operands(OperandMeaning::Call(commands)),
    ProgramSpec::works("gnuplot dc")
        .confined()
        .entries(&[
            calls("-e --expression", inline::code),
            asks(
                "-c -f --file -I --include -R --reload-state",
                DoubtReason::Loads,
            ),
        ])
        .operands(OperandMeaning::Call(commands)),
    ProgramSpec::works("dot neato fdp sfdp twopi circo mmdc plantuml")
        .confined()
        .entries(&[
            writes("-o --output"),
            asks_flag("-O", DoubtReason::Writes),
            asks(
                "-l -c --configFile --puppeteerConfigFile",
                DoubtReason::Loads,
            ),
        ]),
    ProgramSpec::works("ctags etags gtags cscope indent astyle uncrustify")
        .confined()
        .entries(&[
            writes("-f -o --output"),
            asks(
                "--options --langdef --pre-load -c --options-maybe",
                DoubtReason::Loads,
            ),
        ]),
    ProgramSpec::works("cppcheck lcov genhtml gcovr gcov llvm-cov llvm-profdata")
        .style(ProgramOptionStyle::Dash)
        .confined()
        .entries(&[
            asks(
                "--addon --clang --library --rule-file --project --config-file --rc",
                DoubtReason::Loads,
            ),
            starts("--gcov-tool --gcov-executable -Xdemangler"),
            writes("-o* --output --output-file --html-details --cppcheck-build-dir"),
        ]),
    ProgramSpec::works("opt llc lli nasm yasm")
        .style(ProgramOptionStyle::Dash)
        .confined()
        .entries(&[
            asks("-load* -load-pass-plugin* -@", DoubtReason::Loads),
            inside("-I*", DoubtReason::Loads),
            writes("-o* -l*"),
        ]),
];

const SITES: ProgramSubcommands = ProgramSubcommands {
    plain: "",
    doubtful: &[
        ("serve server deploy gh-deploy watch", DoubtReason::Socket),
        ("mod", DoubtReason::Installs),
    ],
    starting: "",
    writing: "",
    unknown: None,
};

/// Asks about a document in the command line itself, which is code.
fn tex(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for operand in &parsed.operands {
        if operand.starts_with(['\\', '&', '*']) {
            view.doubt_word(DoubtReason::Inline, operand);
        }
        view.read(operand);
    }
}

/// Asks if no file is named, because commands then come from standard input.
fn commands(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let file = parsed.operands.first().copied().unwrap_or("-");
    if file == "-" {
        view.doubt_word(DoubtReason::Inline, file);
    }
    view.read(file);
}
