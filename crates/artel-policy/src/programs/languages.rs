//! Language toolboxes whose builds and programs go through one command.

use super::inline;
use super::table::{
    Operands, Program, Style, Subs, Why, asks, calls, checks, inside, starts, writes,
};

pub(super) const TABLE: &[Program] = &[
    Program::works("stack cabal")
        .confined()
        .entries(&[
            asks(
                "--stack-yaml --project-file --ghc-options --with-gcc -w --with-compiler",
                Why::Loads,
            ),
            starts("--exec"),
            asks("--docker --nix", Why::Starts).glued(),
        ])
        .operands(Operands::Subs(&HASKELL)),
    Program::works("ghc")
        .style(Style::Dash)
        .confined()
        .entries(&[
            asks("-pgm* -fplugin* -F -package-db -optl* -optc*", Why::Loads),
            calls("-e", inline::code),
            writes("-o -odir -hidir -outputdir -dumpdir"),
        ]),
    Program::works("ocamlfind ocamlopt ocamlc dune opam")
        .style(Style::Dash)
        .confined()
        .entries(&[
            asks("-pp -ppx -plugin -cc -as -I", Why::Loads),
            inside("--root --workspace", Why::Elsewhere),
            calls("-e", inline::code),
            writes("-o"),
        ])
        .operands(Operands::Subs(&OCAML)),
    Program::works("zig nim crystal dart flutter")
        .style(Style::Dash)
        .confined()
        .entries(&[
            asks(
                "--build-file --zig-lib-dir --test-cmd --test-cmd-bin --passC* --passL* --gcc*",
                Why::Loads,
            ),
            calls("-e --eval", inline::code),
            asks("-o:* --out:*", Why::Writes),
            writes("-o -p --prefix --output"),
            asks("-r", Why::Starts),
        ])
        .operands(Operands::Subs(&TOOLS)),
    Program::works("rspec minitest cucumber phpunit phpstan phpcs psalm busted luacheck")
        .confined()
        .values(&["-e --example -t --tag --filter --seed -P --pattern --testsuite"])
        .entries(&[
            asks(
                "-r --require -I -O --options -c --configuration --config --bootstrap --printer \
                --include-path --extension -d --helper --standard -a --autoload-file --drb \
                --default-path",
                Why::Loads,
            ),
            checks("-f --format --formatter", super::checkers::names_module),
            writes(
                "-o --out --log-junit --coverage-html --coverage-xml --report-file --cache-file",
            ),
        ]),
];

const HASKELL: Subs = Subs {
    plain: "build test bench clean haddock run repl-options list-bin check sdist path ls",
    doubtful: &[
        ("exec runghc runhaskell", Why::Starts),
        ("ghci repl", Why::Interactive),
        ("install upload", Why::Installs),
    ],
    starting: "",
    writing: "",
    unknown: None,
};

const OCAML: Subs = Subs {
    plain: "build test clean fmt runtest list show",
    doubtful: &[
        ("exec utop", Why::Starts),
        (
            "install pin upgrade switch remove repository",
            Why::Installs,
        ),
    ],
    starting: "",
    writing: "",
    unknown: None,
};

const TOOLS: Subs = Subs {
    plain: "build test check fmt format analyze doctor spec tool c compile js",
    doubtful: &[
        ("eval e secret i play", Why::Inline),
        ("pub config upgrade channel install", Why::Installs),
    ],
    starting: "",
    writing: "",
    unknown: None,
};
