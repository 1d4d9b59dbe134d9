//! What the models of these tests say.

use serde_json::{Value, json};

use crate::town::SCRIPT;

/// What only whoever may see everything sees: a word in thoughts, a word in arguments of tools.
pub(crate) const THOUGHT: &str = "heronthought";
pub(crate) const CALL: &str = "herontool";

/// The usual story, with a second version of the plan once the person wants it changed, and a
/// question of whoever does the first step. Thoughts and calls hold words of their own.
pub(crate) fn talkative() -> String {
    let more = r##"rules:
  - expect: { says: The person wants it changed }
    think: "heronthought: they want it shorter"
    call:
      - submit_plan:
          title: Mend add
          kind: fix
          overview: add adds, and the notes are one line.
          steps:
            - id: mend
              title: Mend add
              role: engineer
              work: Make add in calc.py add, and show it with a test.
              check: The tests pass.
              verify: evaluator
              scope: { paths: [calc.py, test_calc.py] }
              gives: [RESULT]
            - id: notes
              title: One line in the notes
              role: engineer
              work: Write NOTES.md with one line.
              check: The file is there.
              verify: none
              after: [mend]
              uses: [RESULT]
              scope: { paths: [NOTES.md] }
              evidence: [{ kind: file, what: NOTES.md }]
      - finish: { answer: planned again }
  - expect: { matches: "(?s)step 1 of 2.*You may change" }
    think: "heronthought: which test?"
    call:
      - read: { path: herontool.txt }
      - ask_person: { question: "Which numbers shall the test add?", choices: ["2 and 3", "4 and 5"] }
  - expect: { result_of: ask_person, tools: [edit] }
    think: "heronthought: now I know"
    call:
      - edit: { path: calc.py, old: "a - b", new: "a + b" }
      - edit: { path: test_calc.py, old: "    # more", new: "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n\n    # more" }
"##;
    SCRIPT.trim_start().replacen("rules:\n", more, 1)
}

/// The same, with a risk of its own in each version.
pub(crate) fn risky() -> String {
    let risk = |script: String, overview: &str, risk: &str| {
        let with = format!("{overview}\n          risks: [{risk}]\n");
        script.replacen(&format!("{overview}\n"), &with, 1)
    };
    let script = risk(talkative(), "overview: add adds.", "The first heron");
    let second = "overview: add adds, and the notes are one line.";
    risk(script, second, "The second heron")
}

/// The same with a question that is answered in words.
pub(crate) fn asking() -> String {
    talkative().replacen(", choices: [\"2 and 3\", \"4 and 5\"]", "", 1)
}

/// The same besides work that fails, work of which no plan comes, and runs that need a yes or leave
/// files.
pub(crate) fn busy() -> String {
    let more = r##"rules:
  - expect: { matches: "(?s)Plan this request.*Never plan" }
    call: { finish: { answer: there is no plan in it } }
  - expect: { matches: "(?s)Plan this request.*Break add" }
    call:
      - submit_plan:
          title: Break add
          kind: fix
          overview: add breaks.
          steps:
            - id: break
              title: Break add
              role: engineer
              work: Break add in calc.py.
              check: It breaks.
              verify: evaluator
              scope: { paths: [BROKEN.md] }
              evidence: [{ kind: tests, what: the tests show that add breaks }]
      - finish: { answer: planned }
  - expect: { matches: "(?s)step 1 of 1.*You may change" }
    call: { write: { path: BROKEN.md, content: "add breaks\n" } }
  - expect: { tools: [propose_change], says: BROKEN.md }
    call: { finish: { answer: broken } }
  - expect: { tools: [verdict], says: Break add }
    call:
      - verdict: { verdict: pass, evidence: ["BROKEN.md says so"] }
      - finish: { answer: judged }
  - expect: { says: Look outside }
    call: { bash: { command: "ls -l" } }
  - expect: { says: Write a note }
    call: { write: { path: note.txt, content: "a note\n" } }
  - expect: { result_of: write, says: note.txt }
    call: { finish: { answer: written } }
"##;
    let script = talkative().replacen("rules:\n", more, 1);
    format!("{script}otherwise:\n  say: done\n")
}

/// Text that would like to be run, of the usual sorts.
pub(crate) fn hostile() -> Vec<String> {
    serde_json::from_str(include_str!("hostile.json")).unwrap()
}

/// A story in which everything that can hold text holds text that would like to be run. JSON is
/// YAML.
pub(crate) fn hostile_script() -> String {
    let all = hostile().join("\n");
    // A plan with characters that cannot be seen is refused before anybody looks at it.
    let mut texts = hostile();
    texts.retain(|text| !text.contains('\u{202e}'));
    let seen = texts.join("\n");
    let name = format!("{}.txt", texts[3].replace('/', ""));
    let step = |id: &str, title: &str, file: &str, after: Value| {
        json!({
            "id": id, "title": title, "role": "engineer", "work": seen, "check": texts[4],
            "verify": "none", "after": after, "scope": { "paths": ["*.txt"] },
            "evidence": [{ "kind": "file", "what": file }],
        })
    };
    let plan = json!({
        "title": texts[3], "kind": "fix", "overview": seen, "reasoning": seen,
        "risks": texts, "questions": texts, "references": texts,
        "steps": [step("one", &texts[5], &name, json!([])), step("two", &texts[6], "two.txt", json!(["one"]))],
    });
    let ask = json!({ "question": all, "choices": [texts[4], texts[5]] });
    json!({ "rules": [
        { "expect": { "says": "Plan this request" }, "think": all,
          "call": [{ "submit_plan": plan }, { "finish": { "answer": all } }] },
        { "expect": { "matches": "(?s)step 1 of 2.*You may change" }, "think": all, "say": all,
          "call": [{ "read": { "path": texts[4] } }, { "ask_person": ask }] },
        { "expect": { "result_of": "ask_person" }, "think": all,
          "call": [{ "write": { "path": name, "content": all } }, { "read": { "path": name } }] },
        { "expect": { "result_of": "write" }, "call": { "finish": { "answer": all } } },
        { "expect": { "matches": "(?s)step 2 of 2.*You may change" },
          "call": { "write": { "path": "two.txt", "content": all } } },
    ] })
    .to_string()
}
