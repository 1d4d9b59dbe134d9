//! Typesetting, documentation and drawing: programs that run others on request.

use super::inline;
use super::options::Parsed;
use super::table::{
    Operands, Program, Style, Subs, Why, asks, asks_flag, calls, inside, starts, writes,
};
use super::view::View;

pub(super) const TABLE: &[Program] = &[
    Program::works(
        "tex latex pdftex pdflatex xetex xelatex luatex lualatex luahbtex etex ptex platex uplatex \
            dvilualatex pdfcsplain lamed omega",
    )
    .style(Style::Dash)
    .values(&["-interaction -jobname -output-format"])
    .flags(&["-halt-on-error -file-line-error -draftmode -synctex -version -help -no-shell-escape"])
    .confined()
    .entries(&[
        asks_flag(
            "-shell-escape* -enable-write18 -shell-restricted",
            Why::Starts,
        ),
        asks(
            "-cnf-line -lua* -fmt -progname -translate-file -luaonly -ini",
            Why::Loads,
        ),
        writes("-output-directory -output-comment -recorder-file"),
    ])
    .operands(Operands::Call(tex)),
    Program::works("latexmk")
        .style(Style::Dash)
        .flags(&[
            "-pdf -xelatex -lualatex -c -C -f -g -silent -quiet -version -bibtex -halt-on-error",
        ])
        .confined()
        .entries(&[
            calls("-e", inline::code),
            asks("-r", Why::Loads),
            asks_flag("-shell-escape -enable-write18 -pv -pvc -gui", Why::Starts),
            asks(
                "-pdflatex -latex -usepretex* -pretex -latexoption -pdflatexoption -view \
                -print -xelatexoption -lualatexoption",
                Why::Starts,
            )
            .glued(),
            writes("-outdir -output-directory -auxdir -aux-directory -out2dir"),
        ])
        .operands(Operands::Call(tex)),
    Program::works("tectonic typst").confined().entries(&[
        asks(
            "-Z --untrusted --web-bundle --bundle --package-path",
            Why::Loads,
        ),
        writes("-o --outdir --output --makefile-rules --timings"),
        asks_flag("--open", Why::Starts).glued(),
    ]),
    Program::works("dvips dvipdfmx bibtex biber makeindex")
        .style(Style::Dash)
        .confined()
        .entries(&[writes("-o* -output*"), asks_flag("-R0 -z", Why::Starts)]),
    Program::works("context mtxrun texdoc").operands(Operands::Doubt(Why::Starts)),
    Program::works("sphinx-build sphinx-apidoc mkdocs mdbook hugo jekyll doxygen")
        .confined()
        .entries(&[
            asks(
                "-c --config --config-file -D -f --source --themesDir",
                Why::Loads,
            ),
            writes("-d --dest-dir --site-dir --destination -o -w"),
            asks_flag("--open", Why::Starts),
        ])
        .operands(Operands::Subs(&SITES)),
    Program::works("m4 gm4")
        .confined()
        .entries(&[
            asks("-I --include -R --reload-state", Why::Loads),
            calls("-D --define", inline::code),
        ])
        .operands(Operands::Call(commands)),
    Program::works("gnuplot dc")
        .confined()
        .entries(&[
            calls("-e --expression", inline::code),
            asks("-c -f --file -I --include -R --reload-state", Why::Loads),
        ])
        .operands(Operands::Call(commands)),
    Program::works("dot neato fdp sfdp twopi circo mmdc plantuml")
        .confined()
        .entries(&[
            writes("-o --output"),
            asks_flag("-O", Why::Writes),
            asks("-l -c --configFile --puppeteerConfigFile", Why::Loads),
        ]),
    Program::works("ctags etags gtags cscope indent astyle uncrustify")
        .confined()
        .entries(&[
            writes("-f -o --output"),
            asks(
                "--options --langdef --pre-load -c --options-maybe",
                Why::Loads,
            ),
        ]),
    Program::works("cppcheck lcov genhtml gcovr gcov llvm-cov llvm-profdata")
        .style(Style::Dash)
        .confined()
        .entries(&[
            asks(
                "--addon --clang --library --rule-file --project --config-file --rc",
                Why::Loads,
            ),
            starts("--gcov-tool --gcov-executable -Xdemangler"),
            writes("-o* --output --output-file --html-details --cppcheck-build-dir"),
        ]),
    Program::works("opt llc lli nasm yasm")
        .style(Style::Dash)
        .confined()
        .entries(&[
            asks("-load* -load-pass-plugin* -@", Why::Loads),
            inside("-I*", Why::Loads),
            writes("-o* -l*"),
        ]),
];

const SITES: Subs = Subs {
    plain: "",
    doubtful: &[
        ("serve server deploy gh-deploy watch", Why::Socket),
        ("mod", Why::Installs),
    ],
    starting: "",
    writing: "",
    unknown: None,
};

/// Asks about a document in the command line itself, which is code.
fn tex(view: &mut View<'_>, parsed: &Parsed<'_>) {
    for operand in &parsed.operands {
        if operand.starts_with(['\\', '&', '*']) {
            view.doubt_word(Why::Inline, operand);
        }
        view.read(operand);
    }
}

/// Asks if no file is named, because commands then come from standard input.
fn commands(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let file = parsed.operands.first().copied().unwrap_or("-");
    if file == "-" {
        view.doubt_word(Why::Inline, file);
    }
    view.read(file);
}
