//! Language toolboxes whose builds and programs go through one command.

use super::inline;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, ProgramSubcommands, asks, calls,
    checks, inside, starts, writes,
};

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works("stack cabal")
        .confined()
        .entries(&[
            asks(
                "--stack-yaml --project-file --ghc-options --with-gcc -w --with-compiler",
                DoubtReason::Loads,
            ),
            starts("--exec"),
            asks("--docker --nix", DoubtReason::Starts).glued(),
        ])
        .operands(OperandMeaning::Subs(&HASKELL)),
    ProgramSpec::works("ghc")
        .style(ProgramOptionStyle::Dash)
        .confined()
        .entries(&[
            asks(
                "-pgm* -fplugin* -F -package-db -optl* -optc*",
                DoubtReason::Loads,
            ),
            calls("-e", inline::code),
            writes("-o -odir -hidir -outputdir -dumpdir"),
        ]),
    ProgramSpec::works("ocamlfind ocamlopt ocamlc dune opam")
        .style(ProgramOptionStyle::Dash)
        .confined()
        .entries(&[
            asks("-pp -ppx -plugin -cc -as -I", DoubtReason::Loads),
            inside("--root --workspace", DoubtReason::Elsewhere),
            calls("-e", inline::code),
            writes("-o"),
        ])
        .operands(OperandMeaning::Subs(&OCAML)),
    ProgramSpec::works("zig nim crystal dart flutter")
        .style(ProgramOptionStyle::Dash)
        .confined()
        .entries(&[
            asks(
                "--build-file --zig-lib-dir --test-cmd --test-cmd-bin --passC* --passL* --gcc*",
                DoubtReason::Loads,
            ),
            calls("-e --eval", inline::code),
            asks("-o:* --out:*", DoubtReason::Writes),
            writes("-o -p --prefix --output"),
            asks("-r", DoubtReason::Starts),
        ])
        .operands(OperandMeaning::Subs(&TOOLS)),
    ProgramSpec::works("rspec minitest cucumber phpunit phpstan phpcs psalm busted luacheck")
        .confined()
        .values(&["-e --example -t --tag --filter --seed -P --pattern --testsuite"])
        .entries(&[
            asks(
                "-r --require -I -O --options -c --configuration --config --bootstrap --printer \
                --include-path --extension -d --helper --standard -a --autoload-file --drb \
                --default-path",
                DoubtReason::Loads,
            ),
            checks("-f --format --formatter", super::checkers::names_module),
            writes(
                "-o --out --log-junit --coverage-html --coverage-xml --report-file --cache-file",
            ),
        ]),
];

const HASKELL: ProgramSubcommands = ProgramSubcommands {
    plain: "build test bench clean haddock run repl-options list-bin check sdist path ls",
    doubtful: &[
        ("exec runghc runhaskell", DoubtReason::Starts),
        ("ghci repl", DoubtReason::Interactive),
        ("install upload", DoubtReason::Installs),
    ],
    starting: "",
    writing: "",
    unknown: None,
};

const OCAML: ProgramSubcommands = ProgramSubcommands {
    plain: "build test clean fmt runtest list show",
    doubtful: &[
        ("exec utop", DoubtReason::Starts),
        (
            "install pin upgrade switch remove repository",
            DoubtReason::Installs,
        ),
    ],
    starting: "",
    writing: "",
    unknown: None,
};

const TOOLS: ProgramSubcommands = ProgramSubcommands {
    plain: "build test check fmt format analyze doctor spec tool c compile js",
    doubtful: &[
        ("eval e secret i play", DoubtReason::Inline),
        ("pub config upgrade channel install", DoubtReason::Installs),
    ],
    starting: "",
    writing: "",
    unknown: None,
};
