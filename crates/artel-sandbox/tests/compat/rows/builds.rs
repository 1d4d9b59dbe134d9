//! Version control, compilers, and what drives them.

use crate::both::{ROW, Row};

/// Makes a repository with two commits, a change and a file it does not know, and another one
/// below it. Everything that goes into a hash is fixed.
pub(crate) const REPOSITORY: &str = r#"
    export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.c GIT_AUTHOR_DATE='2020-01-02T03:04:05Z'
    export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.c GIT_COMMITTER_DATE='2020-01-02T03:04:05Z'
    git init -q -b main .
    printf 'one\n' > file
    git add file
    git commit -q -m first
    printf 'one\ntwo\n' > file
    git commit -q -a -m second
    printf 'one\ntwo\nthree\n' > file
    printf 'x\n' > new
    git clone -q . below
"#;

const CRATE: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"hello\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    ),
    (
        "src/main.rs",
        r#"
fn main() {
    let sum: u32 = std::thread::spawn(|| (1..=10).sum()).join().unwrap();
    println!("hello {sum}");
}

#[test]
fn it_adds() {
    assert_eq!(1 + 1, 2);
}
"#,
    ),
];

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "git status",
        needs: &["git"],
        before: REPOSITORY,
        script: "git -C below status; git status --short; git status",
        says: r"(?s)^On branch main.* M file\n\?\? below/\n\?\? new\nOn branch main\n",
        ..ROW
    },
    Row {
        name: "git log",
        needs: &["git"],
        before: REPOSITORY,
        script: "git log --stat; git rev-list --count HEAD",
        says: r"(?s)^commit [0-9a-f]{40}\n.*second.*first.*\n2\n$",
        ..ROW
    },
    Row {
        name: "git diff",
        needs: &["git"],
        before: REPOSITORY,
        script: "git diff; git diff HEAD~1 --stat",
        says: r"\n\+three\n",
        ..ROW
    },
    Row {
        name: "git show",
        needs: &["git"],
        before: REPOSITORY,
        script: "git show HEAD; git show HEAD:file; git cat-file -t HEAD",
        says: r"(?s)\n\+two\n.*\ncommit\n$",
        ..ROW
    },
    Row {
        name: "git blame, grep and ls-files",
        needs: &["git"],
        before: REPOSITORY,
        script: "git blame --date=short file; git grep -n two; git ls-files -o -c; git branch -a",
        says: r"(?s)Not Committed Yet.*file:2:two\n.*\* main\n$",
        ..ROW
    },
    Row {
        name: "cargo build",
        needs: &["cargo"],
        files: CRATE,
        script: "cargo build --offline && ./target/debug/hello && cargo run -q --offline",
        says: r"^hello 55\nhello 55\n$",
        ..ROW
    },
    Row {
        name: "cargo test",
        needs: &["cargo"],
        files: CRATE,
        script: "cargo test --offline",
        says: r"test it_adds \.\.\. ok",
        ..ROW
    },
    Row {
        name: "rustc",
        needs: &["rustc"],
        files: &[("a.rs", "fn main() { println!(\"{}\", 6 * 7); }")],
        script: "rustc a.rs && ./a && rustc --version && rustc --print sysroot",
        says: r"^42\nrustc ",
        ..ROW
    },
    Row {
        name: "gcc",
        needs: &["gcc"],
        files: &[(
            "a.c",
            r#"
#include <pthread.h>
#include <stdio.h>
static void *twice(void *it) { *(int *)it *= 2; return 0; }
int main(void) {
    int number = 21;
    pthread_t thread;
    if (pthread_create(&thread, 0, twice, &number)) return 1;
    pthread_join(thread, 0);
    printf("%d\n", number);
}
"#,
        )],
        script: "gcc -O2 -Wall -pthread -o a a.c && ./a",
        says: r"^42\n$",
        ..ROW
    },
    Row {
        name: "g++",
        needs: &["g++"],
        files: &[(
            "a.cc",
            "#include <iostream>\n#include <future>\nint main() { std::cout << \
             std::async(std::launch::async, [] { return 42; }).get() << std::endl; }\n",
        )],
        script: "g++ -pthread -o a a.cc && ./a",
        says: r"^42\n$",
        ..ROW
    },
    Row {
        name: "make",
        needs: &["make"],
        files: &[(
            "Makefile",
            "all: a b c\n\t@cat a b c\na b c:\n\t@echo $@ > $@\nbelow:\n\t@$(MAKE) -s -j2 all\n",
        )],
        script: "make -j2 && rm a b c && make -s -j2 below && make -q all",
        says: r"^a\nb\nc\na\nb\nc\n$",
        code: 1,
        ..ROW
    },
    Row {
        name: "cmake",
        needs: &["cmake"],
        files: &[
            (
                "CMakeLists.txt",
                "cmake_minimum_required(VERSION 3.10)\nproject(a C)\nadd_executable(a a.c)\n",
            ),
            (
                "a.c",
                "#include <stdio.h>\nint main(void) { puts(\"42\"); }\n",
            ),
        ],
        script: "cmake -B build . > /dev/null && cmake --build build > /dev/null && build/a",
        says: r"^42\n$",
        ..ROW
    },
    Row {
        name: "go",
        needs: &["go"],
        files: &[
            ("go.mod", "module hello\n"),
            (
                "a.go",
                "package main\nimport \"fmt\"\nfunc main() { fmt.Println(42) }\n",
            ),
        ],
        script: "go build -o a . && ./a && go env GOOS",
        says: r"^42\nlinux\n$",
        ..ROW
    },
    Row {
        name: "npm --version",
        needs: &["npm"],
        script: "npm --version",
        says: r"^\d+\.\d+",
        ..ROW
    },
    Row {
        name: "npm run",
        needs: &["npm"],
        files: &[(
            "package.json",
            r#"{"name": "a", "version": "1.0.0",
                "scripts": {"x": "node -p 6*7", "prex": "echo before", "test": "exit 3"}}"#,
        )],
        script: "export npm_config_update_notifier=false; npm run x; npm test",
        says: r"(?s)before\n.*\n42\n",
        code: 3,
        ..ROW
    },
    Row {
        name: "npm install of a folder",
        needs: &["npm"],
        files: &[
            ("package.json", r#"{"name": "a", "version": "1.0.0"}"#),
            ("dep/package.json", r#"{"name": "dep", "version": "1.0.0"}"#),
            ("dep/index.js", "module.exports = 42;"),
        ],
        script: "npm install --offline --no-audit --no-fund --no-update-notifier ./dep > /dev/null
                 node -p 'require(\"dep\")'; npm ls",
        says: r"^42\n.*a@1.0.0",
        ..ROW
    },
    Row {
        name: "pnpm",
        needs: &["pnpm"],
        files: &[("package.json", r#"{"scripts": {"x": "echo 42"}}"#)],
        script: "pnpm --version; pnpm -s run x",
        says: r"\n42\n$",
        ..ROW
    },
];
