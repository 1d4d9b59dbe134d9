//! Compilers and linkers: their outputs are named, and options that load code are asked
//! about.

use super::builds::{leaves, names_linker, names_specification};
use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionEntry, ProgramOptionStyle, ProgramPurpose,
    ProgramSpec, asks, asks_flag, calls, checks, reads, starts, writes,
};
use super::view::{CommandInspector, base_name};

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works("gcc g++ cc c++ clang clang++ cpp tcc x86_64-linux-gnu-gcc")
        .style(ProgramOptionStyle::Dash)
        .values(&[
            "-I* -L* -l* -D* -U* -x -std -include -isystem* -MT -MQ -arch -target -T \
            -u -z",
        ])
        .confined()
        .entries(CC)
        .operands(OperandMeaning::Call(compiler)),
    ProgramSpec::works("ld ld.gold ld.lld lld as gas ld.bfd mold")
        .style(ProgramOptionStyle::Dash)
        .values(&["-L* -l* -T* -m* -e* -z* -rpath -soname -u"])
        .confined()
        .entries(&[
            writes("-o* --output -Map --Map --dependency-file --out-implib --MD"),
            calls("-a*", listing),
            asks(
                "-plugin* --plugin* -dynamic-linker* -I*",
                DoubtReason::Loads,
            ),
        ])
        .operands(OperandMeaning::Call(compiler)),
    ProgramSpec::works("objcopy strip patchelf install_name_tool")
        .operands(OperandMeaning::Write)
        .values(&["-j -R -K -N -O -I -F"])
        .entries(&[writes("-o --output"), asks("--plugin", DoubtReason::Loads)]),
    ProgramSpec::works("rustdoc")
        .values(&["--edition --cfg --crate-name --crate-type -A -W -D -F --cap-lints"])
        .confined()
        .entries(&[
            starts("--test-runtool --runtool --test-builder --test-builder-wrapper"),
            asks(
                "--theme --html-in-header --html-before-content --html-after-content",
                DoubtReason::Loads,
            ),
            writes("-o --output --out-dir --persist-doctests"),
            calls("-C --codegen -Z -L --extern", rust_setting),
            asks(
                "--sysroot --markdown-css --extend-css --index-page",
                DoubtReason::Loads,
            ),
        ])
        .operands(OperandMeaning::Call(compiler)),
    ProgramSpec::works("rustc clippy-driver")
        .values(&[
            "-D -A -W -F -l --cap-lints --cfg --check-cfg --crate-name --crate-type \
                --edition -O",
            "--target-cpu --error-format --color --json --explain -g",
        ])
        .confined()
        .entries(&[
            calls("-C --codegen -Z -L --extern --print", rust_setting),
            checks("--target", names_specification),
            writes("-o --out-dir --dep-info"),
            checks("--emit", emits_elsewhere),
            asks("--sysroot --remap-path-scope", DoubtReason::Loads),
        ])
        .operands(OperandMeaning::Call(compiler)),
    ProgramSpec::works("rustfmt")
        .values(&["--edition --emit --color --style-edition --file-lines"])
        .flags(&["--check -v -q -l"])
        .entries(&[
            asks("--config-path", DoubtReason::Loads),
            reads("--print-config"),
        ])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("gofmt goimports gofumpt")
        .values(&["-r -srcdir -local"])
        .entries(&[
            asks_flag("-w", DoubtReason::Writes),
            writes("-cpuprofile -memprofile"),
        ])
        .style(ProgramOptionStyle::Dash)
        .role(ProgramPurpose::Reads)
        .operands(OperandMeaning::Read),
    ProgramSpec::works("javac java kotlinc scalac groovy jshell jar")
        .style(ProgramOptionStyle::Dash)
        .values(&["-source -target --release -Xmx* -Xms*"])
        .flags(&["-version --version"])
        .confined()
        .entries(&[
            asks(
                "-XX:VMOptionsFile* -XX:StartFlightRecording* -Xlog* -Xloggc* -script",
                DoubtReason::Loads,
            ),
            asks(
                "-agentlib* -agentpath* -javaagent* -Xbootclasspath* -Xrun*",
                DoubtReason::Loads,
            ),
            asks(
                "-processor -processorpath --processor-path -Xplugin*",
                DoubtReason::Loads,
            ),
            calls(
                "-cp -classpath -class-path -p -module-path -upgrade-module-path",
                class_path,
            ),
            asks(
                "-XX:OnError* -XX:OnOutOfMemoryError* -XX:Flags* -J*",
                DoubtReason::Starts,
            ),
            asks("-e", DoubtReason::Inline),
            writes("-d -s -h -f"),
        ])
        .operands(OperandMeaning::Call(java)),
    ProgramSpec::works("tsc tsserver vue-tsc")
        .values(&["-t --target -m --module --lib --jsx"])
        .confined()
        .entries(&[
            writes(
                "--outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace \
                --generateCpuProfile",
            ),
            checks("-p --project -b --build", other_tsconfig),
            asks("--plugins", DoubtReason::Loads),
        ])
        .operands(OperandMeaning::Call(compiler)),
    ProgramSpec::works("buf flatc thrift")
        .style(ProgramOptionStyle::Dash)
        .values(&["-I*"])
        .confined()
        .entries(&[
            asks("--plugin* --template", DoubtReason::Starts),
            writes("-o*"),
        ])
        .operands(OperandMeaning::Call(compiler)),
    ProgramSpec::works("protoc")
        .style(ProgramOptionStyle::Dash)
        .values(&["-I* --proto_path -go_opt -go-grpc_opt -python_opt -ts_opt -js_opt -rust_opt"])
        .flags(&[
            "-version -help -include_imports -include_source_info -decode_raw \
            -experimental_allow_proto3_optional",
        ])
        .strict()
        .entries(&[
            asks("--plugin*", DoubtReason::Starts),
            writes(
                "-cpp_out -python_out -java_out \
            -go_out -js_out -ts_out -csharp_out -ruby_out -php_out -kotlin_out -rust_out \
            -grpc_out -go-grpc_out -descriptor_set_out -dependency_out -o*",
            ),
        ])
        .operands(OperandMeaning::Call(compiler)),
];

const CC: &[ProgramOptionEntry] = &[
    writes("-o*"),
    writes("-MF* -MJ* -serialize-diagnostics -aux-info -dependency-file -index-store-path"),
    asks("-B*", DoubtReason::Loads),
    starts("-wrapper"),
    asks(
        "-fplugin* -specs* --specs* -fuse-ld* -ld-path*",
        DoubtReason::Loads,
    ),
    asks(
        "-Xclang -load -fpass-plugin* -mllvm -fprofile-use* -iplugindir* -fmodule-mapper* \
            -ccc-gcc-name -ccc-install-dir -resource-dir -cc1 -auxbase*",
        DoubtReason::Loads,
    ),
    calls(
        "-Wl,* -Wa,* -Wp,* -Xlinker -Xassembler -Xpreprocessor",
        passed_on,
    ),
    asks(
        "--config* -gcc-toolchain* --sysroot* -dumpdir -save-temps*",
        DoubtReason::Elsewhere,
    )
    .glued(),
];

fn other_tsconfig(path: &str) -> Option<DoubtReason> {
    let name = base_name(path);
    let is_own = name.starts_with("tsconfig") || !name.contains('.') || name == ".";
    (leaves(path) || !is_own).then_some(DoubtReason::Loads)
}

fn emits_elsewhere(value: &str) -> Option<DoubtReason> {
    let mut paths = value.split(',').filter_map(|kind| kind.split_once('='));
    let leads_out = |path: &str| CommandInspector::new("").leads_out(path);
    paths
        .any(|(_, path)| leads_out(path))
        .then_some(DoubtReason::Writes)
}

/// Checks options handed to the linker, the assembler or the preprocessor, with commas for
/// blanks.
fn passed_on(view: &mut CommandInspector<'_>, value: &str) {
    if let Some(why) = names_linker(value) {
        view.doubt_word(why, value);
    } else if view.leads_out(value) || value.starts_with('@') {
        view.doubt_word(DoubtReason::Writes, value);
    }
}

/// Records the listing that the assembler writes for `-a=file`.
fn listing(view: &mut CommandInspector<'_>, value: &str) {
    if let Some((_, path)) = value.split_once('=') {
        view.write(path);
    } else if !value.chars().all(|key| "acdghilmns".contains(key)) {
        view.write(value);
    }
}

/// Asks about settings of `rustc` that load code or name a place outside the project.
fn rust_setting(view: &mut CommandInspector<'_>, value: &str) {
    let loads = ["passes=", "llvm-args", "plugins", "dlltool", "save-temps"];
    if let Some(why) = names_linker(value) {
        view.doubt_word(why, value);
    } else if view.leads_out(value) || loads.iter().any(|name| value.contains(name)) {
        view.doubt_word(DoubtReason::Loads, value);
    }
}

/// Asks about `@file`, which holds more options.
fn compiler(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for operand in &parsed.operands {
        if operand.starts_with('@') {
            view.doubt_word(DoubtReason::Loads, operand);
        }
        view.read(operand);
    }
}

fn java(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for operand in &parsed.operands {
        if operand.starts_with('@') || view.strays(operand) {
            view.doubt_word(DoubtReason::Loads, operand);
        }
        view.read(operand);
    }
    if view.name == "jshell" {
        view.doubt_word(DoubtReason::Inline, "");
    }
    if view.name == "jar"
        && parsed
            .operands
            .first()
            .is_some_and(|keys| keys.contains('x'))
    {
        parsed
            .operands
            .iter()
            .skip(2)
            .for_each(|path| view.write(path));
    }
}

/// Checks every directory of the list, because code is loaded from each.
fn class_path(view: &mut CommandInspector<'_>, value: &str) {
    for path in value.split(':') {
        if view.strays(path) {
            view.doubt_word(DoubtReason::Loads, path);
        }
    }
}
