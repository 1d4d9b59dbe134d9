//! Build tools of virtual machines and platforms: Gradle, Maven, .NET, Swift.

use super::builds::inside_directory;
use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, asks, asks_flag, calls, checks,
    inside, lists, writes,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works("gradle gradlew ant sbt lein mill")
        .values(&["-x --exclude-task --tests --max-workers --console"])
        .confined()
        .flags(&["--info --debug --stacktrace --parallel --continue --offline"])
        .entries(&[
            asks("-I --init-script --import", DoubtReason::Loads),
            checks("-D -P", sets_tool),
            asks_flag("--scan", DoubtReason::Sends),
            asks(
                "-p --project-dir -b --build-file -c --settings-file -f",
                DoubtReason::Elsewhere,
            ),
            asks(
                "-g --gradle-user-home --include-build --project-cache-dir \
                --gradle-distribution-url",
                DoubtReason::Elsewhere,
            ),
        ])
        .operands(OperandMeaning::Call(gradle)),
    ProgramSpec::works("mvn mvnw")
        .style(ProgramOptionStyle::Dash)
        .values(&["-P* -pl -projects -T* -rf"])
        .confined()
        .entries(&[
            checks("-D*", sets_tool),
            writes("-l -log-file"),
            asks(
                "-s -settings -gs -global-settings -t -toolchains",
                DoubtReason::Loads,
            ),
            asks("-f -file", DoubtReason::Elsewhere),
        ])
        .operands(OperandMeaning::Call(maven)),
    ProgramSpec::works("dotnet msbuild")
        .style(ProgramOptionStyle::Dash)
        .confined()
        .values(&["-c --configuration -f --framework -r --runtime -v --verbosity --filter"])
        .entries(&[
            writes("-o --output --results-directory --diag --report"),
            asks(
                "--settings -s --test-adapter-path --configfile --source --packages --logger-path",
                DoubtReason::Loads,
            ),
            inside("--project", DoubtReason::Elsewhere),
            asks(
                "-logger:* -l:* -fl* -dl* -distributedLogger* -bl* -binaryLogger* -rsp*",
                DoubtReason::Loads,
            )
            .glued(),
            calls("--logger -l", inside_directory),
            checks("-p:* -property:*", sets_tool),
            asks_flag("-g --global", DoubtReason::Installs),
        ])
        .operands(OperandMeaning::Call(dotnet)),
    ProgramSpec::works("swift xcodebuild")
        .style(ProgramOptionStyle::Dash)
        .values(&["-scheme -sdk -c -configuration"])
        .confined()
        .entries(&[
            asks(
                "--package-path --build-path --scratch-path",
                DoubtReason::Elsewhere,
            ),
            asks(
                "-Xlinker -Xcc -Xswiftc -Xcxx --toolchain --destination",
                DoubtReason::Loads,
            ),
            asks("-e", DoubtReason::Inline),
        ])
        .operands(OperandMeaning::Call(swift)),
];

const DOTNET_PLAIN: &str = "build test run restore clean format list build-server help msbuild";

/// Doubts properties that decide which virtual machine, agent or extension is loaded.
fn sets_tool(value: &str) -> Option<DoubtReason> {
    let lower = value.to_ascii_lowercase();
    let tools = [
        "jvmargs",
        "java.home",
        "agent",
        "argline",
        "jvm=",
        "classpath",
        "class.path",
        "executable",
        "plugin",
        "ext.",
        "tool",
        "targets",
        "import",
        "repo.local",
        "url=",
        "init",
    ];
    let is_tool = tools.iter().any(|tool| lower.contains(tool));
    (is_tool || CommandInspector::new("").leads_out(value)).then_some(DoubtReason::Loads)
}

/// Asks about tasks that publish, and about texts that `sbt` and `lein` run.
fn gradle(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for task in &parsed.operands {
        let name = task.rsplit(':').next().unwrap_or(task);
        if name.starts_with("publish") || name.starts_with("upload") || name.starts_with("deploy") {
            view.doubt_word(DoubtReason::Installs, task);
        } else if task.starts_with(['!', ';'])
            || lists(
                "eval console repl exec update-in set",
                task.split(' ').next().unwrap_or_default(),
            ) && lists("sbt lein", &view.name)
        {
            view.doubt_word(DoubtReason::Inline, task);
        }
    }
}

fn maven(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for goal in &parsed.operands {
        let is_launch = goal.starts_with("exec:") || goal.contains("exec-maven-plugin");
        let is_named = goal.matches(':').count() > 1 && !goal.starts_with(':');
        if is_launch || is_named || goal.starts_with("deploy") || goal.starts_with("antrun") {
            view.doubt_word(DoubtReason::Starts, goal);
        }
    }
}

/// Checks every word, because switches can also be spelled with a slash or a colon.
fn dotnet(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for word in &parsed.operands {
        let is_switch = word.starts_with('@') || word.starts_with('/') || word.contains(":/");
        if is_switch {
            view.doubt_word(DoubtReason::Loads, word);
        }
    }
    let sub = parsed.operands.first().copied().unwrap_or_default();
    if lists("tool nuget publish workload new add exec fsi", sub) {
        view.doubt_word(DoubtReason::Installs, sub);
    } else if !sub.is_empty() && !lists(DOTNET_PLAIN, sub) && view.name == "dotnet" {
        view.doubt_word(DoubtReason::Unknown, sub);
    }
}

fn swift(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if view.name != "swift" {
        return;
    }
    match parsed.operands.as_slice() {
        ["build" | "test" | "run", ..] => {}
        ["package", sub, ..]
            if lists(
                "describe resolve update dump-package show-dependencies",
                sub,
            ) => {}
        [] if parsed.has("--version") => {}
        operands => {
            let first = operands.first().copied().unwrap_or_default();
            view.doubt_word(DoubtReason::Inline, first);
        }
    }
}
