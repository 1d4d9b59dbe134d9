//! The batch forms: one line out for every line in, whatever the line is.

use std::fs;
use std::io::{BufRead as _, BufReader, Seek as _, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{House, Tree};

/// Gives bytes to a batch command and returns its lines.
fn answers(house: &House, what: &str, input: &[u8]) -> Vec<String> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input).unwrap();
    file.rewind().unwrap();
    let mut command = house.artel(["policy", what, "--batch"]).command();
    let output = command.stdin(file).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stderr, b"", "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(str::to_owned).collect()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Judged {
    decision: String,
    rule: String,
    reason: String,
}

impl Judged {
    /// Reads a line that has exactly these keys in exactly this order.
    fn of(line: &str) -> Self {
        let judged: Self = serde_json::from_str(line).unwrap();
        let shape = format!(
            "{{\"decision\":{},\"rule\":{},\"reason\":{}}}",
            json!(judged.decision),
            json!(judged.rule),
            json!(judged.reason)
        );
        assert_eq!(line, shape);
        assert!(
            !judged.rule.is_empty() && !judged.reason.is_empty(),
            "{line}"
        );
        judged
    }
}

/// Lines that are no case, as bytes without their ends.
fn garbage() -> Vec<Vec<u8>> {
    let mut deep = b"[".repeat(100_000);
    deep.extend(b"]".repeat(100_000));
    let mut too_long =
        br#"{"allow":["Bash"],"command":"ls","text":"a","root":"/","path":"x","op":"read"}"#
            .to_vec();
    too_long.resize(17 << 20, b' ');
    vec![
        b"garbage".to_vec(),
        b"".to_vec(),
        b"   ".to_vec(),
        b"null".to_vec(),
        b"{}".to_vec(),
        b"[]".to_vec(),
        b"{\"command\":".to_vec(),
        b"{\"command\":1,\"text\":2,\"root\":3}".to_vec(),
        b"\xff\xfe\x00".to_vec(),
        b"{\"allow\":[\"Bash\"],\"command\":\"echo \xff\",\"text\":\"\xff\"}".to_vec(),
        b"{\"allow\":[\"Bash\"],\"command\":\"ls\",\"text\":\"a\"}\xff".to_vec(),
        b"{\"allow\":[\"Bash\"],\"command\":\"ls\",\"text\":\"a\"} {}".to_vec(),
        b"\0".to_vec(),
        vec![b'x'; 1 << 20],
        deep,
        too_long,
    ]
}

#[test]
fn every_line_about_a_command_is_answered() {
    let house = House::empty();
    let long =
        json!({ "allow": ["Bash(echo:*)"], "command": format!("echo {}", "a ".repeat(500_000)) });
    let cases = [
        (
            r#"{"allow":["Bash(git status)"],"command":"git status"}"#,
            "allow",
        ),
        (
            r#"{"allow":["Bash(ls:*)"],"ask":["Bash(ls -a)"],"command":"ls -a"}"#,
            "ask",
        ),
        (
            r#"{"allow":["Bash"],"deny":["Bash(rm:*)"],"command":"ls; rm x"}"#,
            "deny",
        ),
        (
            r#"{"allow":["Bash(ls:*)"],"command":"ls; rm -rf build"}"#,
            "ask",
        ),
        (r#"{"command":"ls"}"#, "ask"),
        (
            r#"{"allow":["Bash(ls:*)"],"context":"skill","command":"ls && ls"}"#,
            "ask",
        ),
        (
            r#"{"allow":["Bash(*)"],"context":"skill-untrusted","command":"ls"}"#,
            "ask",
        ),
        // The listed rules are the whole policy.
        (
            r#"{"allow":["Bash(git push)"],"command":"git push"}"#,
            "allow",
        ),
        (&long.to_string(), "allow"),
    ];
    let mut input = Vec::new();
    for (line, _) in &cases {
        input.extend_from_slice(line.as_bytes());
        input.extend_from_slice(b"\r\n");
    }
    let garbage = garbage();
    for line in &garbage {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    input.extend_from_slice(br#"{"allow":["Bash"],"command":"ls"}"#);
    let lines = answers(&house, "check", &input);
    assert_eq!(lines.len(), cases.len() + garbage.len() + 1);
    for ((case, wanted), line) in cases.iter().zip(&lines) {
        let shown = &case[..case.len().min(200)];
        assert_eq!(Judged::of(line).decision, *wanted, "{shown}: {line}");
    }
    for (line, answer) in garbage.iter().zip(&lines[cases.len()..]) {
        let judged = Judged::of(answer);
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]);
        assert_eq!(judged.decision, "deny", "{shown}: {answer}");
        assert!(answer.len() < 1000, "a whole line is not repeated");
    }
    assert_eq!(Judged::of(lines.last().unwrap()).decision, "allow");
    assert_eq!(answers(&house, "check", b"").len(), 0);
    assert_eq!(answers(&house, "check", b"\n\n").len(), 2);
}

#[test]
fn a_rule_that_does_not_parse_is_reported_and_widens_nothing() {
    let house = House::empty();
    let line = r#"{"allow":["Bash(ls","Bash(cat:*)"],"command":"ls"}"#;
    let judged = Judged::of(&answers(&house, "check", line.as_bytes())[0]);
    assert_eq!(judged.decision, "ask");
    assert!(judged.reason.contains("`Bash(ls`"), "{}", judged.reason);
}

#[test]
fn a_batch_answers_as_it_goes() {
    let house = House::empty();
    let mut command = house.artel(["policy", "check", "--batch"]).command();
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for command in ["ls", "cat x"] {
        let case = json!({ "allow": ["Bash(ls)"], "command": command });
        writeln!(input, "{case}").unwrap();
        let judged = Judged::of(&lines.next().unwrap().unwrap());
        assert_eq!(judged.decision == "allow", command == "ls");
    }
    // A reader that stops is no error, and neither is an input that ends.
    drop(input);
    assert!(lines.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    house
        .artel(["policy", "check", "--batch", "ls"])
        .run()
        .expect(2);
    let both = house.artel(["policy", "check", "--batch", "--allow", "Bash"]);
    both.run().expect(2);
}

/// Asks about one path and returns the answer.
fn path(house: &House, case: &Value) -> Value {
    let lines = answers(house, "path", case.to_string().as_bytes());
    assert_eq!(lines.len(), 1, "{case}");
    let answer: Value = serde_json::from_str(&lines[0]).unwrap();
    let start = format!(
        "{{\"decision\":{},\"reason\":{}",
        answer["decision"], answer["reason"]
    );
    assert!(lines[0].starts_with(&start), "{}", lines[0]);
    answer
}

/// Makes a root with a file, beside a folder that nothing may change or read.
fn rooms(house: &House) -> (PathBuf, PathBuf) {
    let (root, outside) = (house.folder("root"), house.folder("outside"));
    fs::write(root.join("a.txt"), "alpha").unwrap();
    fs::write(outside.join("b.txt"), "treasure").unwrap();
    symlink(&outside, root.join("away")).unwrap();
    symlink(outside.join("b.txt"), root.join("file-away")).unwrap();
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    fs::create_dir_all(root.join("private")).unwrap();
    fs::write(root.join("private/p.txt"), "treasure").unwrap();
    (root, outside)
}

#[test]
fn paths_are_really_read_written_and_removed() {
    let house = House::empty();
    let (root, _) = rooms(&house);
    let does =
        |path_: &str, op: &str| path(&house, &json!({"root": root, "path": path_, "op": op}));
    assert_eq!(does("a.txt", "read")["text"], "alpha");
    assert_eq!(does("new/deep/c.txt", "write")["decision"], "allow");
    assert_eq!(fs::read(root.join("new/deep/c.txt")).unwrap(), b"x");
    let content = "zwei\nДва\u{1F600}";
    let case = json!({"root": root, "path": "a.txt", "op": "write", "content": content});
    assert_eq!(path(&house, &case)["decision"], "allow");
    assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), content);
    assert_eq!(does("new/deep", "read")["entries"], json!(["c.txt"]));
    assert_eq!(does("new/deep/c.txt", "delete")["decision"], "allow");
    assert!(!root.join("new/deep/c.txt").exists());
    let inside = root.join("a.txt");
    assert_eq!(does(inside.to_str().unwrap(), "read")["text"], content);
    assert_eq!(does("back\\slash", "write")["decision"], "allow");
    assert!(root.join("back\\slash").exists());
}

#[test]
fn nothing_outside_of_the_root_is_read_or_changed() {
    let house = House::empty();
    let (root, outside) = rooms(&house);
    let socket = UnixListener::bind(root.join("socket")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(root.join("fifo"))
        .status();
    assert!(made.unwrap().success());
    let before = Tree::of(&house.root());
    let absolute = outside.join("b.txt");
    let paths = [
        "../outside/b.txt",
        absolute.to_str().unwrap(),
        "away/b.txt",
        "file-away",
        "away/new.txt",
        "private/../../outside/b.txt",
        "/etc/hostname",
        "/proc/self/environ",
        "/dev/zero",
        "fifo",
        "socket",
        ".git/hooks/pre-commit",
        ".git/config",
        ".artel/x",
        ".claude/settings.json",
        "@Nowhere/x",
        "a\0b",
        "",
    ];
    for op in ["read", "write", "delete"] {
        for name in paths {
            if op == "read" && (name.starts_with('.') || name.is_empty()) {
                continue;
            }
            // The name of a link may be removed; what it leads to stays.
            if op == "delete" && name == "file-away" {
                continue;
            }
            let answer = path(&house, &json!({"root": root, "path": name, "op": op}));
            assert_eq!(answer["decision"], "deny", "{op} {name}: {answer}");
            assert!(
                !answer.to_string().contains("treasure"),
                "{op} {name}: {answer}"
            );
        }
    }
    before.unchanged(&house.root());
    drop(socket);
}

#[test]
fn names_of_other_roots_and_rules_hold() {
    let house = House::empty();
    let (root, outside) = rooms(&house);
    let case = |path: &str, op: &str| {
        json!({"root": root, "path": path, "op": op,
               "aliases": {"Shop": outside}, "deny": ["Read(private/**)", "Write(locked/**)"]})
    };
    assert_eq!(
        path(&house, &case("@Shop/b.txt", "read"))["text"],
        "treasure"
    );
    assert_eq!(
        path(&house, &case("@Shop/../root/a.txt", "read"))["decision"],
        "deny"
    );
    let denied = path(&house, &case("private/p.txt", "read"));
    assert_eq!(denied["decision"], "deny");
    assert!(
        denied["reason"]
            .as_str()
            .unwrap()
            .contains("Read(private/**)"),
        "{denied}"
    );
    symlink("private", root.join("alias")).unwrap();
    assert_eq!(
        path(&house, &case("alias/p.txt", "read"))["decision"],
        "deny"
    );
}

#[test]
fn every_line_about_a_path_is_answered() {
    let house = House::empty();
    let (root, _) = rooms(&house);
    let before = Tree::of(&house.root());
    let mut input = Vec::new();
    for line in garbage() {
        input.extend_from_slice(&line);
        input.push(b'\n');
    }
    // A name that is no text is not written under another name.
    write!(
        input,
        "{{\"root\":{},\"op\":\"write\",\"path\":\"bad-",
        json!(root)
    )
    .unwrap();
    input.extend_from_slice(b"\xff\"}\n");
    let count = garbage().len() + 1;
    let lines = answers(&house, "path", &input);
    assert_eq!(lines.len(), count);
    for line in &lines {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer["decision"], "deny", "{line}");
        assert!(answer["reason"].is_string(), "{line}");
    }
    before.unchanged(&house.root());
}

#[test]
fn one_path_on_the_command_line_answers_as_a_line_does() {
    let house = House::empty();
    let (root, _) = rooms(&house);
    let root_text = root.to_str().unwrap();
    let does = |op: &str, path: &str| {
        let words = ["policy", "path", "--root", root_text, "--op", op];
        house.artel(words).words([path]).run()
    };
    does("read", "a.txt").expect(0).says("alpha");
    does("read", "../outside/b.txt").expect(3).says("deny");
    does("write", "n.txt").expect(0);
    assert_eq!(fs::read(root.join("n.txt")).unwrap(), b"x");
    does("delete", "n.txt").expect(0);
    assert!(!root.join("n.txt").exists());
    fs::write(root.join("steers"), "\u{1b}[2Jx").unwrap();
    let seen = does("read", "steers").expect(0);
    assert!(!seen.out.contains('\u{1b}'), "{}", seen.out);
    house
        .artel(["policy", "path", "--root", root_text])
        .run()
        .fails(2, "C005");
    does("move", "a.txt").expect(2);
    let relative = ["policy", "path", "--root", "root", "--op", "read", "a.txt"];
    house
        .artel(relative)
        .standing_in(&house.root())
        .run()
        .expect(0);
    let not_text = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"x\xff");
    let words = ["policy", "path", "--root", root_text, "--op", "write"];
    house.artel(words).words([not_text]).run().fails(2, "C004");
    assert!(!root.join("x\u{fffd}").exists());
}

const TOKEN: &str = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

#[test]
fn a_secret_is_gone_wherever_it_is_cut() {
    let house = House::empty();
    let text = format!("before {TOKEN} after");
    let mut input = Vec::new();
    for cut in 0..=text.len() {
        writeln!(input, "{}", json!({"text": text, "chunks": [cut, cut + 3]})).unwrap();
    }
    let lines = answers(&house, "redact", &input);
    assert_eq!(lines.len(), text.len() + 1);
    for line in &lines {
        let answer: Value = serde_json::from_str(line).unwrap();
        let clean = answer["text"].as_str().unwrap();
        assert!(
            !clean.contains("AbCdEf") && !clean.contains("456789"),
            "{line}"
        );
        assert!(
            clean.starts_with("before ") && clean.ends_with(" after"),
            "{line}"
        );
        assert_eq!(line, &format!("{{\"text\":{}}}", answer["text"]));
    }
}

#[test]
fn known_values_go_and_harmless_text_stays() {
    let house = House::empty();
    let known = json!({"text": "the word is swordfish-42, then", "known": ["swordfish-42"]});
    let clean: Value =
        serde_json::from_str(&answers(&house, "redact", known.to_string().as_bytes())[0]).unwrap();
    let clean = clean["text"].as_str().unwrap();
    assert!(
        !clean.contains("swordfish") && clean.starts_with("the word is "),
        "{clean}"
    );
    for harmless in [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "pwd = os.getcwd()",
        "\u{0}\u{1b}[31m\r\n\tДва\u{1F600}",
        "",
    ] {
        let case = json!({"text": harmless, "chunks": [1, 5, 9]});
        let line = &answers(&house, "redact", case.to_string().as_bytes())[0];
        assert_eq!(line, &json!({ "text": harmless }).to_string());
    }
}

#[test]
fn every_line_to_redact_is_answered_and_a_broken_one_is_not_repeated() {
    let house = House::empty();
    let mut input = Vec::new();
    let broken = format!("{{\"text\": \"{TOKEN}");
    let garbage: Vec<Vec<u8>> = garbage().into_iter().chain([broken.into_bytes()]).collect();
    for line in &garbage {
        input.extend_from_slice(line);
        input.extend_from_slice(b"\r\n");
    }
    let long = json!({"text": format!("{}{TOKEN}", "word ".repeat(200_000))});
    write!(input, "{long}").unwrap();
    let lines = answers(&house, "redact", &input);
    assert_eq!(lines.len(), garbage.len() + 1);
    let (last, broken) = lines.split_last().unwrap();
    for line in broken {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert!(
            answer["error"].is_string() && answer.get("text").is_none(),
            "{line}"
        );
        assert!(!line.contains(TOKEN) && line.len() < 1000, "{line}");
    }
    let last: Value = serde_json::from_str(last).unwrap();
    let text = last["text"].as_str().unwrap();
    assert!(text.len() > 1_000_000 && !text.contains(TOKEN));
}

#[test]
fn a_stream_keeps_its_other_bytes() {
    let house = House::empty();
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(b"\xff\x00 start\r\n").unwrap();
    writeln!(input, "Authorization: Bearer {TOKEN}").unwrap();
    input.write_all(b"end \xfe").unwrap();
    input.rewind().unwrap();
    let mut command = house.artel(["policy", "redact"]).command();
    let output = command.stdin(input).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let out = output.stdout;
    assert!(
        out.starts_with(b"\xff\x00 start\r\n") && out.ends_with(b"end \xfe"),
        "{out:?}"
    );
    let text = String::from_utf8_lossy(&out);
    assert!(
        text.contains("Authorization: ") && !text.contains("AbCdEf"),
        "{text}"
    );
}

#[test]
fn a_reader_of_a_stream_may_stop_early() {
    let house = House::empty();
    for words in [&["policy", "redact"][..], &["policy", "redact", "--batch"]] {
        let mut input = tempfile::tempfile().unwrap();
        let line = json!({ "text": "word ".repeat(100) }).to_string() + "\n";
        input.write_all(line.repeat(4_000).as_bytes()).unwrap();
        input.rewind().unwrap();
        let mut command = house.artel([]).words(words).command();
        let mut child = command.stdin(input).spawn().unwrap();
        let mut first = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut first).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{words:?}: {output:?}");
    }
}

/// The list that a rule stands in, the rule, and whether it is an error. A broken grant grants nothing;
/// a broken ban or question makes everything a question.
const SPELLINGS: [(&str, &str, bool); 48] = [
    ("allow", "Bash", false),
    ("allow", "Bash(*)", false),
    ("allow", "Bash( * )", false),
    ("allow", "Bash(ls:*)", false),
    ("allow", "Bash(ls *)", false),
    ("allow", "Bash(ls -l)", false),
    ("allow", " Bash(ls:*) ", false),
    ("allow", "bash", true),
    ("allow", "BASH", true),
    ("allow", "bASH(*)", true),
    ("allow", "bash(ls:*)", true),
    ("allow", "bash(ls -l)", true),
    ("allow", "Bash()", true),
    ("allow", "Bash( )", true),
    ("allow", "Bash(:*)", true),
    ("allow", "Bash( :* )", true),
    ("allow", "Bash('')", true),
    ("allow", "Bash(\"\":*)", true),
    ("allow", "Bash(:)", true),
    ("allow", "Bash(**)", true),
    ("allow", "bash()", true),
    ("allow", "bash(:*)", true),
    ("allow", "Bash (ls)", true),
    ("allow", "Bаsh(ls:*)", true),
    ("deny", "Bash(rm:*)", false),
    ("deny", "Read(private/**)", false),
    ("deny", "bash(rm:*)", true),
    ("deny", "Bash()", true),
    ("deny", "Bash(:*)", true),
    ("deny", "read(private/**)", true),
    ("deny", "READ", true),
    ("deny", "Read()", true),
    ("deny", "edit(src/**)", true),
    ("deny", "Write( )", true),
    ("deny", "fetch(docs.rs)", true),
    ("deny", "Fetch(:*)", true),
    ("ask", "Bash(make:*)", false),
    ("ask", "Edit(src/**)", false),
    ("ask", "bash(make:*)", true),
    ("ask", "Bash()", true),
    ("ask", "Bash(:*)", true),
    ("ask", "grep(private/**)", true),
    ("ask", "GREP", true),
    ("ask", "glob()", true),
    ("ask", "Glob()", true),
    ("ask", "list(a)", true),
    ("ask", "secret(github)", true),
    ("ask", "SECRET(github)", true),
];

#[test]
fn names_of_tools_are_case_sensitive_and_empty_patterns_are_errors() {
    let house = House::empty();
    let mut lines = String::new();
    for (list, rule, _) in SPELLINGS {
        let mut case = json!({ "allow": [], "ask": [], "deny": [], "command": "ls -l" });
        if list != "allow" {
            case["allow"] = json!(["Bash"]);
        }
        case[list] = json!([rule]);
        lines.push_str(&format!("{case}\n"));
    }
    let answers = answers(&house, "check", lines.as_bytes());
    assert_eq!(answers.len(), SPELLINGS.len());
    for ((list, rule, is_error), line) in SPELLINGS.iter().zip(&answers) {
        let judged = Judged::of(line);
        let decision = if *is_error { "ask" } else { "allow" };
        assert_eq!(judged.decision, decision, "{list} {rule}: {line}");
        let is_reported = judged.reason.contains("grants nothing");
        assert_eq!(is_reported, *is_error, "{list} {rule}: {line}");
    }
    // A skill's own list is read the same way.
    for context in ["skill", "skill-untrusted"] {
        for (rule, decision) in [
            ("Bash(ls:*)", "allow"),
            ("bash(ls:*)", "ask"),
            ("Bash(:*)", "ask"),
        ] {
            let case = json!({ "allow": [rule], "command": "ls -l", "context": context });
            let line = self::answers(&house, "check", case.to_string().as_bytes());
            assert_eq!(Judged::of(&line[0]).decision, decision, "{context} {rule}");
        }
    }
}
