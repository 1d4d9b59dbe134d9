//! Skill folders as people write them for any agent: they load, and say what is in them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "in a test, a panic says where it went wrong"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use artel_skills::savings::{SkillTokenSizes, saved};
use artel_skills::{
    DiscoveredSkills, Skill, SkillAgentKind, SkillContextMode, SkillOrigin, SkillRunMode,
    SkillSizeEnforcement, SkillSourceFolder, body, cases, catalogue, choose, discover, load,
    prepare,
};
use artel_types::Money;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/skills")
}

fn all() -> DiscoveredSkills {
    let source = SkillSourceFolder {
        folder: examples(),
        scope: SkillOrigin::User,
    };
    discover(&[source], SkillSizeEnforcement::Enforce)
}

fn example(name: &str) -> Skill {
    load(
        &examples().join(name),
        SkillOrigin::User,
        SkillSizeEnforcement::Enforce,
    )
    .unwrap()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn minimal(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\nDo it.\n")
}

fn paths(skill: &Skill) -> Vec<&str> {
    skill.files.iter().map(|file| &*file.path).collect()
}

#[test]
fn folders_written_for_other_agents_load_unchanged() {
    let found = all();
    assert_eq!(found.broken, []);
    assert_eq!(found.shadowed, []);
    assert_eq!(found.skills.len(), 13);
    for skill in &found.skills {
        assert!(
            !skill.description.is_empty() && !skill.body.is_empty(),
            "{}",
            skill.name
        );
        assert!(skill.folder.is_absolute() && skill.lines > 5 && skill.hash.len() == 64);
        for file in &skill.files {
            let on_disk = fs::read(skill.folder.join(&file.path)).unwrap();
            assert_eq!(file.bytes, on_disk.len() as u64, "{}", file.path);
            if let Ok(text) = String::from_utf8(on_disk)
                && !text.contains('\0')
            {
                assert_eq!(file.lines, Some(text.lines().count()), "{}", file.path);
            }
        }
    }
}

#[test]
fn files_scripts_and_descriptions_are_found() {
    let pdf = example("pdf");
    assert_eq!(paths(&pdf), ["forms.md", "reference.md"]);
    let scripts: Vec<&str> = pdf.scripts.iter().map(|script| &*script.path).collect();
    assert_eq!(scripts.len(), 4);
    assert!(scripts.contains(&"scripts/fill_form.py"));
    let docx = example("docx");
    assert!(paths(&docx).contains(&"ooxml/scripts/pack.py"));
    assert_eq!(
        docx.scripts.len(),
        1,
        "a module and a template are no scripts"
    );
    let described = |skill: &str, path: &str| {
        let skill = example(skill);
        let file = skill.files.into_iter().find(|file| file.path == path);
        file.unwrap().description
    };
    let table = [
        (
            "xlsx",
            "references/pandas.md",
            "reading, cleaning and grouping tables",
        ),
        (
            "mcp-builder",
            "reference/mcp_best_practices.md",
            "naming, pagination, size of answers",
        ),
        ("mcp-builder", "reference/evaluation.md", "Evaluation guide"),
        (
            "brand-guidelines",
            "assets/palette.json",
            "all colors by name",
        ),
        (
            "api-docs",
            "references/style.md",
            "words and form of our documentation",
        ),
        ("commit-helper", "docs/conventions.md", "types and scopes"),
        (
            "webapp-testing",
            "examples/console_logging.py",
            "what the console said",
        ),
        (
            "data-analysis",
            "references/charts/colors.md",
            "colors that everybody can tell apart",
        ),
    ];
    for (skill, path, expected) in table {
        assert_eq!(
            described(skill, path).as_deref(),
            Some(expected),
            "{skill}/{path}"
        );
    }
    let brand = example("brand-guidelines");
    let logo = brand
        .files
        .iter()
        .find(|file| file.path == "assets/logo.png");
    assert_eq!(logo.unwrap().lines, None);
    let analysis = example("data-analysis");
    let scripts: Vec<&str> = analysis
        .scripts
        .iter()
        .map(|script| &*script.path)
        .collect();
    assert_eq!(
        scripts,
        ["scripts/check.sh", "scripts/lib/helpers.py", "scripts/plot"]
    );
}

#[test]
fn fields_are_read_in_every_spelling() {
    let front = example("csv-report").front;
    assert_eq!(front.mode, Some(SkillRunMode::Autonomous));
    assert_eq!(
        (front.max_iterations, front.max_retries_per_tool),
        (Some(20), Some(2))
    );
    assert_eq!(front.timeout_per_iteration, Some(Duration::from_secs(45)));
    assert_eq!(front.early_termination, Some(true));
    assert_eq!(front.max_cost, Some(Money(250_000)));
    assert_eq!(
        (front.context, front.agent),
        (SkillContextMode::Fork, Some(SkillAgentKind::General))
    );
    assert_eq!(
        front.allowed_tools.unwrap(),
        ["Read", "Write", "Bash(python3:*)"]
    );
    assert_eq!(front.paths, ["**/*.csv", "**/*.tsv"]);

    let commit = example("commit-helper");
    assert!(commit.front.disable_model_invocation);
    assert_eq!(commit.front.model.as_deref(), Some("haiku"));
    assert_eq!(
        commit.front.argument_hint.as_deref(),
        Some("[type] [scope]")
    );
    assert_eq!(commit.front.allowed_tools.unwrap().len(), 4);
    let mended = &commit.remarks[0];
    assert_eq!((&*mended.field, mended.line), ("frontmatter", Some(3)));
    assert!(commit.description.ends_with("type, scope, summary"));

    let changelog = example("changelog").front;
    assert_eq!(changelog.metadata["version"], "1.4");
    assert_eq!(changelog.other["version"], "2.0.1");
    assert_eq!(changelog.other["tags"][1], "release");
    assert_eq!(changelog.allowed_tools.unwrap()[1], "Bash(git log:*)");

    let analysis = example("data-analysis");
    assert_eq!(analysis.name, "Data Analysis");
    assert!(analysis.remarks.iter().all(|remark| remark.field == "name"));
    assert!(analysis.front.other.contains_key("hooks"));

    let review = example("incident-review");
    assert_eq!(review.front.max_iterations, Some(30));
    assert_eq!(review.front.metadata["owner"], "sre");
    assert_eq!(example("api-docs").front.user_invocable, Some(false));
}

#[test]
fn what_is_out_of_range_is_an_error_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x/SKILL.md");
    let table = [
        ("max-iterations: 0", "max-iterations"),
        ("max_iterations: 101", "max_iterations"),
        ("max-retries-per-tool: 11", "max-retries-per-tool"),
        ("timeout-per-iteration: 30", "timeout-per-iteration"),
        ("execution-mode: turbo", "execution-mode"),
        ("context: share", "context"),
        ("allowed-tools: {a: b}", "allowed-tools"),
        (
            "disable-model-invocation: perhaps",
            "disable-model-invocation",
        ),
        ("max_cost_usd: lots", "max_cost_usd"),
        ("license: a\nlicense: b", "license"),
    ];
    for (line, field) in table {
        write(
            &file,
            &minimal("x").replace("---\nDo", &format!("{line}\n---\nDo")),
        );
        let complaints = load(
            file.parent().unwrap(),
            SkillOrigin::Portal,
            SkillSizeEnforcement::Warn,
        )
        .unwrap_err();
        assert_eq!(complaints[0].field, field);
        assert!(complaints[0].line >= Some(4), "{line}");
        assert_eq!(complaints[0].file.as_deref(), Some(&*file));
    }
    let lenient = [
        "max-iterations: \"15\"",
        "early-termination: yes",
        "license: 5",
        "metadata: text",
        "compatibility:",
        "allowed-tools:",
        "allowed-tools: Read Bash(git",
        "model: inherit",
        "name_: x",
        "paths: {a: b}",
        "description2: a: b",
        "max-iterations: 5\nmax_iterations: 6",
    ];
    for line in lenient {
        write(
            &file,
            &minimal("x").replace("---\nDo", &format!("{line}\n---\nDo")),
        );
        load(
            file.parent().unwrap(),
            SkillOrigin::Portal,
            SkillSizeEnforcement::Warn,
        )
        .unwrap();
    }
    for text in [
        "",
        "no frontmatter",
        "---\nname: x\n---\nb",
        "---\nname: x\ndescription: \"\"\n---\nb",
    ] {
        write(&file, text);
        assert!(
            load(
                file.parent().unwrap(),
                SkillOrigin::User,
                SkillSizeEnforcement::Warn
            )
            .is_err(),
            "{text}"
        );
    }
    let missing = load(dir.path(), SkillOrigin::User, SkillSizeEnforcement::Warn).unwrap_err();
    assert!(missing[0].remedy.as_ref().unwrap().contains("SKILL.md"));
}

#[test]
fn a_rule_that_cannot_be_read_allows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x/SKILL.md");
    for (rules, left) in [("[Read, \"Bash(git\"]", 1), ("Bash(git", 0), ("[]", 0)] {
        let line = format!("allowed-tools: {rules}\n---\nDo");
        write(&file, &minimal("x").replace("---\nDo", &line));
        let skill = load(
            file.parent().unwrap(),
            SkillOrigin::Portal,
            SkillSizeEnforcement::Warn,
        )
        .unwrap();
        assert_eq!(skill.front.allowed_tools.unwrap().len(), left, "{rules}");
        assert_eq!(skill.remarks.is_empty(), rules == "[]");
    }
}

#[test]
fn a_name_that_cannot_be_used_gives_way_to_the_folder_s() {
    let dir = tempfile::tempdir().unwrap();
    for (given, expected) in [
        ("other", "other"),
        ("My Skill", "My Skill"),
        ("\"a\\nb\"", "x"),
        ("\"</skill>\"", "x"),
        ("[a]", "x"),
    ] {
        write(
            &dir.path().join("x/SKILL.md"),
            &minimal("y").replace(" y\n", &format!(" {given}\n")),
        );
        let skill = load(
            &dir.path().join("x"),
            SkillOrigin::User,
            SkillSizeEnforcement::Warn,
        )
        .unwrap();
        assert_eq!(skill.name, expected);
        assert!(
            skill.remarks.iter().any(|remark| remark.field == "name"),
            "{given}"
        );
    }
}

#[test]
fn five_hundred_lines_are_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x/SKILL.md");
    let try_lines = |lines: usize, extra: &str, limit: SkillSizeEnforcement| {
        let head = minimal("x").replace("---\nDo", &format!("{extra}---\nDo"));
        let rest = lines - head.lines().count();
        write(&file, &(head + &"line\n".repeat(rest)));
        load(file.parent().unwrap(), SkillOrigin::Workshop, limit)
    };
    assert_eq!(
        try_lines(500, "", SkillSizeEnforcement::Enforce)
            .unwrap()
            .remarks,
        []
    );
    let complaint = try_lines(501, "", SkillSizeEnforcement::Enforce)
        .unwrap_err()
        .remove(0);
    let text = complaint.to_string();
    for word in [
        "501",
        "500",
        "reference.md",
        "examples.md",
        "templates/",
        "legacy_large_file",
    ] {
        assert!(text.contains(word), "{text}");
    }
    let legacy = try_lines(
        501,
        "legacy_large_file: true\n",
        SkillSizeEnforcement::Enforce,
    )
    .unwrap();
    assert_eq!((legacy.remarks.len(), legacy.lines), (1, 501));
    assert_eq!(
        try_lines(501, "", SkillSizeEnforcement::Warn)
            .unwrap()
            .remarks
            .len(),
        1
    );
}

#[test]
fn nothing_outside_of_the_folder_is_listed_or_read() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("secret.md"), "MARKER");
    write(&dir.path().join("secret.py"), "MARKER");
    let skill = dir.path().join("x");
    let text = minimal("x") + "see /etc/hosts.txt for x\nsee ../secret.md for y\n- link.md: z\n";
    write(&skill.join("SKILL.md"), &text);
    write(&skill.join("real.md"), "real\n");
    symlink("../secret.md", skill.join("link.md")).unwrap();
    symlink("real.md", skill.join("alias.md")).unwrap();
    symlink("..", skill.join("up")).unwrap();
    fs::create_dir(skill.join("scripts")).unwrap();
    symlink("../../secret.py", skill.join("scripts/evil.py")).unwrap();
    let loaded = load(&skill, SkillOrigin::Portal, SkillSizeEnforcement::Warn).unwrap();
    assert_eq!(paths(&loaded), ["alias.md", "real.md"]);
    assert_eq!(loaded.scripts, []);
    let remarked: Vec<&str> = loaded
        .remarks
        .iter()
        .map(|remark| &*remark.message)
        .collect();
    assert_eq!(remarked.len(), 3, "{remarked:?}");

    fs::remove_file(skill.join("SKILL.md")).unwrap();
    symlink("../secret.md", skill.join("SKILL.md")).unwrap();
    assert!(load(&skill, SkillOrigin::Portal, SkillSizeEnforcement::Warn).is_err());
}

#[test]
fn the_hash_is_of_everything_in_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let skill = dir.path().join("x");
    write(&skill.join("SKILL.md"), &minimal("x"));
    write(&skill.join("a.md"), "one");
    write(&skill.join("scripts/run.sh"), "echo\n");
    let hash = || {
        load(&skill, SkillOrigin::Portal, SkillSizeEnforcement::Warn)
            .unwrap()
            .hash
    };
    let mut seen = vec![hash()];
    assert_eq!(hash(), seen[0]);
    let mut changed = |what: &str| {
        let now = hash();
        assert!(!seen.contains(&now), "{what}");
        seen.push(now);
    };
    write(&skill.join("a.md"), "two");
    changed("a supporting file");
    write(&skill.join("scripts/run.sh"), "rm\n");
    changed("a script");
    write(&skill.join("scripts/data.bin"), "\0");
    changed("data beside a script");
    write(&skill.join(".hidden"), "x");
    changed("a hidden file");
    write(&skill.join("tests/a.yaml"), "runs: []");
    changed("a test");
    fs::rename(skill.join("a.md"), skill.join("b.md")).unwrap();
    changed("a name");
    write(&skill.join("SKILL.md"), &(minimal("x") + "more"));
    changed("the text");
    symlink("/etc/hosts", skill.join("link")).unwrap();
    changed("a link");
}

#[test]
fn earlier_sources_come_first_and_what_is_shadowed_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    write(&at("shop/Skills/pdf/SKILL.md"), &minimal("pdf"));
    write(&at("repo/.agents/skills/pdf/SKILL.md"), &minimal("PDF"));
    write(
        &at("repo/.agents/skills/deep/er/csv/SKILL.md"),
        &minimal("csv"),
    );
    write(&at("repo/.claude/skills/bad/SKILL.md"), "nothing");
    write(
        &at("repo/.claude/skills/node_modules/no/SKILL.md"),
        &minimal("no"),
    );
    write(&at("repo/.claude/skills/.git/no/SKILL.md"), &minimal("no"));
    write(
        &at("repo/.claude/skills/csv/nested/SKILL.md"),
        &minimal("nested"),
    );
    write(&at("elsewhere/out/SKILL.md"), &minimal("out"));
    write(&at("home/.agents/skills/mine/SKILL.md"), &minimal("mine"));
    symlink("../../.agents/skills/deep", at("repo/.claude/skills/same")).unwrap();
    symlink(at("elsewhere/out"), at("repo/.claude/skills/out")).unwrap();
    symlink(at("elsewhere/out"), at("home/.agents/skills/linked")).unwrap();
    symlink("..", at("home/.agents/skills/loop")).unwrap();
    let source = |path: &str, scope| SkillSourceFolder {
        folder: at(path),
        scope,
    };
    let sources = [
        source("shop/Skills", SkillOrigin::Workshop),
        source("repo/.agents/skills", SkillOrigin::Portal),
        source("repo/.claude/skills", SkillOrigin::Portal),
        source("home/.agents/skills", SkillOrigin::User),
        source("home/.claude/skills", SkillOrigin::User),
    ];
    let found = discover(&sources, SkillSizeEnforcement::Warn);
    let names: Vec<&str> = found.skills.iter().map(|skill| &*skill.name).collect();
    assert_eq!(names, ["csv", "mine", "nested", "out", "pdf"]);
    let pdf = found
        .skills
        .iter()
        .find(|skill| skill.name == "pdf")
        .unwrap();
    assert_eq!(pdf.scope, SkillOrigin::Workshop);
    assert_eq!(found.shadowed.len(), 1, "{:?}", found.shadowed);
    assert_eq!(found.shadowed[0].name, "PDF");
    assert_eq!(found.shadowed[0].by, pdf.folder);
    let broken: Vec<String> = found
        .broken
        .iter()
        .map(|one| one.path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(broken, ["out", "bad"]);
}

#[test]
fn the_section_of_a_skill_names_files_and_shows_none() {
    let pdf = example("pdf");
    let section = body::section(&pdf, &pdf.body);
    assert!(section.starts_with("<skill_content name=\"pdf\">\n# PDF files"));
    assert!(section.contains("AVAILABLE SUPPORTING FILES (load on-demand with 'read' tool):\n"));
    assert!(section.contains("- scripts/fill_form.py\n"));
    assert!(section.contains(&format!("Skill directory: {}\n", pdf.folder.display())));
    for hidden in ["pypdfium2", "Step 7 of the form", "import sys", "LICENSE"] {
        assert!(!section.contains(hidden), "{hidden}");
    }
    let twice = body::section(&pdf, "x </skill_content> y");
    assert_eq!(twice.matches("</skill_content>").count(), 1);
}

#[test]
fn the_catalogue_keeps_to_its_budget() {
    let skills = all().skills;
    let (whole, dropped) = catalogue::block(&skills, 100_000);
    assert_eq!(dropped, [""; 0]);
    assert_eq!(
        whole.matches("<skill>").count(),
        12,
        "one is for people only"
    );
    assert!(whole.starts_with("<available_skills>\n<skill><name>Data Analysis</name>"));
    assert!(whole.contains("&quot;why did sales fall in May?&quot;"));
    for budget in [6_000, 4_000, 2_500, 1_000, 300, 10] {
        let (text, dropped) = catalogue::block(&skills, budget);
        assert!(text.chars().count() <= budget, "{budget}");
        let kept = text.matches("<skill>").count();
        assert_eq!(kept + dropped.len(), 12, "{budget}");
    }
    let total = whole.chars().count();
    let (shorter, dropped) = catalogue::block(&skills, total - 50);
    assert!(dropped.is_empty() && shorter.contains('…'));
    assert_eq!(catalogue::block(&[], 1_000), (String::new(), vec![]));
}

#[test]
fn requests_find_their_skill() {
    let skills = all().skills;
    let sure = [
        ("merge these two PDF files into one", "pdf"),
        ("fill in the form in contract.pdf", "pdf"),
        (
            "fix the formula errors in this spreadsheet budget.xlsx",
            "xlsx",
        ),
        (
            "write a memo as a Word document with tracked changes",
            "docx",
        ),
        (
            "build an MCP server for our API in TypeScript",
            "mcp-builder",
        ),
        (
            "what is in sales.csv? make a report of the CSV file",
            "csv-report",
        ),
        (
            "test the local web application in a browser and take screenshots",
            "webapp-testing",
        ),
        ("prepare the release notes since the last tag", "changelog"),
        (
            "review the incident after last night's outage",
            "incident-review",
        ),
        (
            "document the endpoints and error codes of the HTTP API",
            "api-docs",
        ),
        ("use the brand-guidelines", "brand-guidelines"),
    ];
    for (request, expected) in sure {
        let ranked = choose::rank(request, &skills);
        assert_eq!(ranked[0].name, expected, "{request}: {ranked:?}");
        let choice = choose::best(request, &skills);
        assert_eq!(
            choice,
            choose::SkillChoice::One(expected.into()),
            "{request}: {ranked:?}"
        );
    }
    for request in [
        "",
        "what is the weather like tomorrow?",
        "hello, who are you?",
        "please help me",
        "translate this letter into French",
    ] {
        let choice = choose::best(request, &skills);
        assert!(
            !matches!(choice, choose::SkillChoice::One(_)),
            "{request}: {choice:?}"
        );
    }
    assert_eq!(
        choose::best("what is the weather?", &skills),
        choose::SkillChoice::None
    );
    assert_eq!(
        choose::best("commit-helper", &[example("commit-helper")]),
        choose::SkillChoice::None
    );
}

#[test]
fn a_skill_carries_its_cases() {
    let found = cases::read(&examples().join("csv-report")).unwrap();
    let [(path, found)] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(path, "tests/basic.yaml");
    assert_eq!((found.triggers.must.len(), found.runs.len()), (2, 1));
    let run = &found.runs[0];
    assert_eq!(run.expect.turns_at_most, Some(5));
    assert_eq!(
        run.expect.files["draft.md"],
        cases::ExpectedFileState::Absent(true)
    );
    assert_eq!(cases::parse(&cases::write(found)).unwrap(), *found);
    assert_eq!(cases::read(&examples().join("pdf")).unwrap(), []);
    let skills = all().skills;
    for request in &found.triggers.must {
        assert_eq!(
            choose::rank(request, &skills)[0].name,
            "csv-report",
            "{request}"
        );
    }
}

#[test]
fn commands_that_can_never_run_are_remarked_on() {
    let dir = tempfile::tempdir().unwrap();
    let text = minimal("x") + "\n!`df -h | head -5`\n!`git status`\n";
    write(&dir.path().join("x/SKILL.md"), &text);
    let skill = load(
        &dir.path().join("x"),
        SkillOrigin::User,
        SkillSizeEnforcement::Warn,
    )
    .unwrap();
    let [remark] = skill.remarks.as_slice() else {
        panic!("{:?}", skill.remarks);
    };
    assert_eq!(remark.line, Some(7));
    assert!(remark.message.contains("`|`"));
    assert_eq!(prepare::commands(&skill.body).len(), 2);
}

/// Eight turns of a usual run: the skill alone, and from the third turn on its largest file too.
#[test]
fn loading_on_demand_saves_at_least_two_fifths() {
    let mut savings = Vec::new();
    for skill in all().skills {
        let sizes = SkillTokenSizes::of(&skill);
        let largest = sizes.files.values().copied().max().unwrap_or_default();
        let mut turns = vec![sizes.skill; 2];
        turns.resize(8, sizes.skill + largest);
        savings.push((skill.name, saved(&turns, sizes.all())));
    }
    let sum: f64 = savings.iter().map(|(_, percent)| percent).sum();
    let mean = sum / f64::from(u32::try_from(savings.len()).unwrap());
    println!("{mean:.1} % of {savings:?}");
    assert!(mean >= 40.0, "{mean:.1} % of {savings:?}");
}
