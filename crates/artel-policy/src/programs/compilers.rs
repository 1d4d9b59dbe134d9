//! Compilers and linkers: what they write is named, and options that load code are asked about.

use super::builds::{leaves, names_linker, names_specification};
use super::options::Parsed;
use super::table::{
    Entry, Operands, Program, Role, Style, Why, asks, asks_flag, calls, checks, reads, starts,
    writes,
};
use super::view::{View, base_name};

pub(super) const TABLE: &[Program] = &[
    Program::works("gcc g++ cc c++ clang clang++ cpp tcc x86_64-linux-gnu-gcc")
        .style(Style::Dash)
        .values(&[
            "-I* -L* -l* -D* -U* -x -std -include -isystem* -MT -MQ -arch -target -T \
            -u -z",
        ])
        .entries(CC)
        .operands(Operands::Call(compiler)),
    Program::works("ld ld.gold ld.lld lld as gas ld.bfd mold")
        .style(Style::Dash)
        .values(&["-L* -l* -T* -m* -e* -z* -rpath -soname -u"])
        .entries(&[
            writes("-o* --output -Map --Map"),
            asks("-plugin* --plugin* -dynamic-linker* -I*", Why::Loads),
        ])
        .operands(Operands::Call(compiler)),
    Program::works("objcopy strip patchelf install_name_tool")
        .operands(Operands::Write)
        .values(&["-j -R -K -N -O -I -F"])
        .entries(&[writes("-o --output")]),
    Program::works("rustc clippy-driver")
        .values(&[
            "-D -A -W -F -L -l --cap-lints --cfg --check-cfg --crate-name --crate-type \
                --edition -O",
            "--target-cpu --print --error-format --color --json --extern --explain -g",
        ])
        .entries(&[
            checks("-C --codegen -Z", names_linker),
            checks("--target", names_specification),
            writes("-o --out-dir --dep-info"),
            checks("--emit", emits_elsewhere),
            asks("--sysroot --remap-path-scope", Why::Loads),
        ])
        .operands(Operands::Call(compiler)),
    Program::works("rustfmt")
        .values(&["--edition --emit --color --style-edition --file-lines"])
        .flags(&["--check -v -q -l"])
        .entries(&[asks("--config-path", Why::Loads), reads("--print-config")])
        .operands(Operands::Write),
    Program::works("gofmt goimports gofumpt")
        .values(&["-r -srcdir -local"])
        .entries(&[
            asks_flag("-w", Why::Writes),
            writes("-cpuprofile -memprofile"),
        ])
        .style(Style::Dash)
        .role(Role::Reads)
        .operands(Operands::Read),
    Program::works("javac java kotlinc scalac groovy jshell jar")
        .style(Style::Dash)
        .values(&["-source -target --release -D* -Xmx* -Xms* -XX*"])
        .flags(&["-version --version"])
        .entries(&[
            asks(
                "-agentlib* -agentpath* -javaagent* -Xbootclasspath* -Xrun*",
                Why::Loads,
            ),
            asks(
                "-processor -processorpath --processor-path -Xplugin*",
                Why::Loads,
            ),
            calls(
                "-cp -classpath -class-path -p -module-path -upgrade-module-path",
                class_path,
            ),
            asks(
                "-XX:OnError* -XX:OnOutOfMemoryError* -XX:Flags* -J*",
                Why::Starts,
            ),
            asks("-e", Why::Inline),
            writes("-d -s -h -f"),
        ])
        .operands(Operands::Call(java)),
    Program::works("tsc tsserver vue-tsc")
        .values(&["-t --target -m --module --lib --jsx"])
        .entries(&[
            writes(
                "--outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace \
                --generateCpuProfile",
            ),
            checks("-p --project -b --build", other_tsconfig),
            asks("--plugins", Why::Loads),
        ])
        .operands(Operands::Read),
    Program::works("protoc buf flatc thrift")
        .style(Style::Dash)
        .values(&["-I* --proto_path"])
        .entries(&[
            asks("--plugin*", Why::Starts),
            writes(
                "-cpp_out -python_out -java_out \
            -go_out -js_out -ts_out -csharp_out -ruby_out -php_out -kotlin_out -rust_out \
            -grpc_out -go-grpc_out -descriptor_set_out -o*",
            ),
        ])
        .operands(Operands::Read),
];

const CC: &[Entry] = &[
    writes("-o*"),
    writes("-MF*"),
    asks("-B*", Why::Loads),
    starts("-wrapper"),
    asks("-fplugin* -specs* --specs* -fuse-ld* -ld-path*", Why::Loads),
    asks(
        "-Xclang -load -fpass-plugin* -mllvm -fprofile-use*",
        Why::Loads,
    ),
    checks("-Wl,* -Wa,* -Xlinker -Xassembler", names_linker),
    asks(
        "--config* -gcc-toolchain* --sysroot* -dumpdir -save-temps*",
        Why::Elsewhere,
    )
    .glued(),
];

fn other_tsconfig(path: &str) -> Option<Why> {
    let name = base_name(path);
    let is_own = name.starts_with("tsconfig") || !name.contains('.') || name == ".";
    (leaves(path) || !is_own).then_some(Why::Loads)
}

fn emits_elsewhere(value: &str) -> Option<Why> {
    let mut paths = value.split(',').filter_map(|kind| kind.split_once('='));
    paths.any(|(_, path)| leaves(path)).then_some(Why::Writes)
}

/// `@file` holds more options.
fn compiler(view: &mut View<'_>, parsed: &Parsed<'_>) {
    for operand in &parsed.operands {
        if operand.starts_with('@') {
            view.doubt_word(Why::Loads, operand);
        }
        view.read(operand);
    }
}

fn java(view: &mut View<'_>, parsed: &Parsed<'_>) {
    for operand in &parsed.operands {
        if operand.starts_with('@') || view.strays(operand) {
            view.doubt_word(Why::Loads, operand);
        }
        view.read(operand);
    }
    if view.name == "jshell" {
        view.doubt_word(Why::Inline, "");
    }
}

/// Code is loaded from every directory of the list.
fn class_path(view: &mut View<'_>, value: &str) {
    for path in value.split(':') {
        if view.strays(path) {
            view.doubt_word(Why::Loads, path);
        }
    }
}
