//! What the console's pages and the dashboard show of what happens.

use std::time::Duration;

use artel_journal::EventBatch;
use artel_types::{
    Actor, BreakerOpened, ChangesetCreated, EventDraft, EventVisibility, Fact, ProviderPaused,
    ReportWritten, RequestCreated, RunAsked, RunId, RunStarted, StreamName, ToolFinished,
    ToolRequested, TraceId,
};
use artel_workshop::ViewerRole;
use serde_json::{Value, json};

use crate::house::House;

/// Returns a page of the console as somebody of this role sees it.
fn page(house: &House, role: ViewerRole, path: &str) -> String {
    let cookie = house.sign_in(role).cookie;
    let call = house.with_cookie("GET", path, &cookie);
    call.send().expect(200).text
}

/// The dashboard is written a moment after something happened that it shows.
#[test]
fn the_dashboard_counts_and_names_calls_that_need_a_yes() {
    let house = House::with("[policy]\ncommands = \"ask\"\n");
    house.portal("shop");
    let body = json!({ "task": "Look outside" });
    house.post("developer", "/api/v1/runs", &body).expect(201);
    let waiting = house.until("/api/v1/waiting", |it| !it["calls"][0].is_null());
    let id = waiting["calls"][0]["id"].as_str().unwrap().to_owned();
    let file = house.workshop.root().join("Knowledge/Dashboard.md");
    let shows = |wanted: &[&str]| {
        let text = std::fs::read_to_string(&file).unwrap();
        wanted.iter().all(|it| text.contains(it))
    };
    let command = format!("; `artel answer {id} yes|run|");
    let named = [
        "\n| 1 |",
        "- call: Look outside, wants to run bash: ",
        &command,
    ];
    house.until("/api/v1/daemon", |_| shows(&named));
    let offered = page(&house, ViewerRole::Admin, "/");
    for answer in ["yes", "run", "always", "no"] {
        let button = format!("name=\"answer\" value=\"{answer}\"");
        assert!(offered.contains(&button), "{answer}: {offered}");
    }
    assert!(!offered.contains("value=\"session\""), "{offered}");
    let no = json!({ "hash": waiting["calls"][0]["hash"], "answer": "no" });
    let path = format!("/api/v1/waiting/calls/{id}");
    house.post("developer", &path, &no).expect(200);
    house.until("/api/v1/daemon", |_| {
        shows(&["\n| 0 |", "## Needs You\n\nNothing."])
    });
}

#[test]
fn settings_that_are_not_in_force_and_faults_are_shown_to_whoever_can_mend_them() {
    let house = House::new();
    let refused = "are not in force";
    let fault = "by a fault of its own";
    for path in ["/", "/settings"] {
        let seen = page(&house, ViewerRole::Developer, path);
        assert!(!seen.contains(refused) && !seen.contains(fault), "{seen}");
    }
    let file = house.workshop.root().join("artel.toml");
    std::fs::write(&file, "[server]\nworks_at_once = \"many\"\n").unwrap();
    let seen = house.until("/api/v1/daemon", |it| it["refused"] != json!([]));
    let why = seen["refused"][0].as_str().unwrap();
    assert!(why.contains("works_at_once"), "{why}");
    let journal = house.workshop.open().unwrap().journal;
    let broken = "index 6 is out of bounds";
    house
        .workshop
        .daemon_faltered(&journal, None, broken)
        .unwrap();
    for path in ["/", "/settings"] {
        let seen = page(&house, ViewerRole::Developer, path);
        assert!(
            seen.contains(refused) && seen.contains("works_at_once"),
            "{seen}"
        );
        assert!(seen.contains(fault) && seen.contains(broken), "{seen}");
    }
    let seen = page(&house, ViewerRole::User, "/");
    assert!(!seen.contains(refused) && !seen.contains(broken), "{seen}");
    std::fs::write(&file, "").unwrap();
    house.until("/api/v1/daemon", |it| it["refused"] == json!([]));
    let seen = page(&house, ViewerRole::Admin, "/settings");
    assert!(!seen.contains(refused), "{seen}");
    let none: Vec<Value> = Vec::new();
    assert_eq!(
        house.get("admin", "/api/v1/daemon").json()["refused"],
        json!(none)
    );
}

#[test]
fn the_settings_tell_which_policies_are_in_force() {
    let house = House::with("[policy]\ncommands = \"ask\"\n");
    let file = house.workshop.root().join("Policy/rules.toml");
    let rules = "[[rule]]\nprefix = [\"gh\", \"pr\", \"merge\"]\ndecision = \"deny\"\nreason = \
        \"people merge\"\n\n[[rule]]\nprefix = [\"gh\", \"pr\", \"list\"]\ndecision = \"allow\"\n";
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, rules).unwrap();
    let text = page(&house, ViewerRole::Developer, "/settings");
    let section = text.split("<section id=\"policies\"").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    let rows: Vec<&str> = section.split("<span class=\"tag\">").skip(1).collect();
    let place = |answer: &str, words: &str| {
        let is = |row: &&str| row.starts_with(&format!("{answer}<")) && row.contains(words);
        let found = rows.iter().position(is);
        found.unwrap_or_else(|| panic!("{answer} {words}: {section}"))
    };
    let order = [
        place("deny", "rewritten history"),
        place("deny", "gh pr merge"),
        place("allow", "gh pr list"),
        place("ask", "any other command that can be judged"),
        place("allow", "reading the run"),
        place("ask", "everything else"),
    ];
    assert!(order.is_sorted(), "{order:?}: {section}");
    assert!(section.contains("people merge"), "{section}");
    assert!(section.contains("policy.commands, "), "{section}");
    assert!(section.contains("href=\"/agents/engineer\""), "{section}");
    std::fs::write(&file, "[[rule]]\nprefix = 7\n").unwrap();
    let text = page(&house, ViewerRole::Developer, "/settings");
    assert!(
        text.contains("until then agents run nothing here"),
        "{text}"
    );
}

/// Puts on record how a provider is.
fn tell(house: &House, provider: &str, fact: impl Into<Fact>) {
    let journal = house.workshop.open().unwrap().journal;
    let stream = StreamName::provider(provider).unwrap();
    let trace = TraceId::from_random([5; 16]);
    let draft = EventDraft::new(stream, trace, Actor::system("test"), fact);
    journal.append(EventBatch::of([draft])).wait().unwrap();
}

#[test]
fn providers_that_are_not_asked_are_shown_and_asked_again_when_an_admin_says_so() {
    let house = House::new();
    let now = house.workshop.caller().clock().now();
    let hour = Duration::from_secs(3_600);
    let paused = |until| ProviderPaused {
        provider: "anthropic".to_owned(),
        until,
        attempt: 2,
        why: "asked to slow down: 429".to_owned(),
    };
    tell(&house, "anthropic", paused(now.before(hour)));
    let seen = |role: ViewerRole, path: &str| {
        // Whoever asks for a list has the board take in what is new.
        house.get("user", "/api/v1/runs").expect(200);
        page(&house, role, path)
    };
    assert!(
        !seen(ViewerRole::Admin, "/").contains("is paused"),
        "it is over"
    );
    tell(&house, "anthropic", paused(now.after(hour)));
    let opened = BreakerOpened {
        provider: "openai-chat:127.0.0.1:8080".to_owned(),
        until: now.after(hour),
        why: "5 failures in a row".to_owned(),
    };
    tell(&house, "openai-chat:127.0.0.1:8080", opened);
    let reset = "/api/v1/providers/anthropic/reset";
    for path in ["/", "/settings"] {
        for role in [ViewerRole::Developer, ViewerRole::Admin] {
            let text = seen(role, path);
            assert!(
                text.contains("<code>anthropic</code> is paused until "),
                "{text}"
            );
            assert!(text.contains(": asked to slow down: 429<"), "{text}");
            assert!(text.contains(":8080</code> is left alone until "), "{text}");
            assert_eq!(text.contains(reset), role == ViewerRole::Admin, "{text}");
        }
    }
    assert!(!seen(ViewerRole::User, "/").contains("anthropic"));
    house.workshop.reset_provider("anthropic").unwrap();
    let text = seen(ViewerRole::Admin, "/settings");
    assert!(!text.contains("<code>anthropic</code> is paused"), "{text}");
    assert!(text.contains("is left alone until "), "{text}");
}

/// Puts so many changesets on record, each with its report.
fn make_changesets(house: &House, count: u8) {
    let journal = house.workshop.open().unwrap().journal;
    let facts = (0..count).flat_map(|number| {
        let trace = TraceId::from_random([number; 16]);
        let run = RunId::from_random([number; 16]);
        let asked = json!({ "words": "Mend it", "title": format!("Part {number:03}"),
            "portal": "shop", "folder": "/shop", "agent": "default", "urgency": "normal",
            "source": "cli", "file": "a.md", "size": "work", "why": "", "verify": "tdd",
            "constraints": [], "criteria": [], "skill": null, "model": null });
        let made = json!({ "run": run, "portal": "shop", "folder": "/shop", "branch": "b",
            "into": "main", "base": "e4", "head": "aa", "commits": 1, "files": [], "added": 1,
            "removed": 0, "proven": true, "complete": true, "deferred": [], "patch": null });
        let told = json!({ "run": run, "path": "r.md", "status": "completed" });
        let facts: [Fact; 3] = [
            serde_json::from_value::<RequestCreated>(asked)
                .unwrap()
                .into(),
            serde_json::from_value::<ChangesetCreated>(made)
                .unwrap()
                .into(),
            serde_json::from_value::<ReportWritten>(told)
                .unwrap()
                .into(),
        ];
        let stream = StreamName::work(trace);
        facts.map(|fact| EventDraft::new(stream.clone(), trace, Actor::system("test"), fact))
    });
    journal.append(EventBatch::of(facts)).wait().unwrap();
}

#[test]
fn changesets_and_reports_are_listed_a_page_at_a_time() {
    let house = House::new();
    let hold = house.post("admin", "/api/v1/daemon/pause", &json!({}));
    hold.expect(200);
    make_changesets(&house, 130);
    // Whoever asks for a list has the board take in what is new.
    house.get("user", "/api/v1/changesets").expect(200);
    for path in ["/changesets", "/reports"] {
        let (mut seen, mut asked, mut pages) = (Vec::new(), path.to_owned(), 0);
        loop {
            let text = page(&house, ViewerRole::User, &asked);
            assert!(text.contains("130 in all"), "{text}");
            let titles = text.split(">Part ").skip(1);
            seen.extend(titles.map(|it| it[..3].to_owned()));
            pages += 1;
            let next = text.split("name=\"before\" value=\"").nth(1);
            let Some(next) = next.and_then(|it| it.split('"').next()) else {
                break;
            };
            asked = format!("{path}?before={next}");
        }
        let all: Vec<String> = (0..130).rev().map(|it| format!("{it:03}")).collect();
        seen.sort();
        seen.reverse();
        assert_eq!((pages, seen), (2, all), "{path}");
    }
}

/// Puts a question on record that a step of a plan asks after its last attempt.
fn ask_about_a_step(house: &House) {
    let (run, trace) = (RunId::from_random([90; 16]), TraceId::from_random([90; 16]));
    let started = json!({ "id": run, "title": "Mend it", "skill": null, "task": "x",
        "folder": "/shop", "parent": null, "call": null, "chain": [], "depth": 0 });
    let asked = json!({ "question": "mend/3/0", "text": "Step 1 did not pass",
        "choices": ["more", "waive-tester", "take-over", "skip", "give-up", "cancel"],
        "call": null, "suggested": null });
    let facts: [Fact; 2] = [
        serde_json::from_value::<RunStarted>(started)
            .unwrap()
            .into(),
        serde_json::from_value::<RunAsked>(asked).unwrap().into(),
    ];
    let draft = |fact| {
        EventDraft::new(StreamName::run(run), trace, Actor::system("test"), fact).in_run(run)
    };
    let journal = house.workshop.open().unwrap().journal;
    journal
        .append(EventBatch::of(facts.map(draft)))
        .wait()
        .unwrap();
}

/// Returns the section of a page with this id.
fn section<'p>(page: &'p str, id: &str) -> &'p str {
    let from = page.split(&format!("<section id=\"{id}\"")).nth(1);
    from.unwrap().split("</section>").next().unwrap()
}

#[test]
fn what_needs_somebody_is_what_they_may_decide() {
    let house = House::new();
    let hold = house.post("admin", "/api/v1/daemon/pause", &json!({}));
    hold.expect(200);
    make_changesets(&house, 2);
    ask_about_a_step(&house);
    let waiting = |role: &str| house.get(role, "/api/v1/waiting").expect(200).json();
    let (user, developer) = (waiting("user"), waiting("developer"));
    let of = |list: &Value, kind: &str| {
        let rows = list["rows"].as_array().unwrap().clone();
        rows.into_iter().find(|it| it["kind"] == kind).unwrap()
    };
    assert_eq!((&user["total"], &user["yours"]), (&json!(5), &json!(1)));
    assert_eq!(developer["yours"], 5);
    assert_eq!(of(&user, "left")["yours"], false);
    assert_eq!(of(&user, "changeset")["yours"], false);
    assert_eq!(of(&user, "changeset")["role"], "developer");
    assert_eq!(of(&user, "question")["choices"], json!(["more"]));
    let choices = of(&developer, "question")["choices"].clone();
    assert_eq!(choices.as_array().unwrap().len(), 6);

    let settling = ["waive-tester", "take-over", "skip", "give-up", "cancel"];
    let button = |choice: &str| format!("<button name=\"answer\" value=\"{choice}\"");
    for path in ["/", "/runs/5a5a5a5a"] {
        for (role, is_offered) in [(ViewerRole::User, false), (ViewerRole::Developer, true)] {
            let text = page(&house, role, path);
            let needs = section(&text, "needs");
            assert!(needs.contains(&button("more")), "{needs}");
            for choice in settling {
                assert_eq!(needs.contains(&button(choice)), is_offered, "{needs}");
            }
            let others = "Whoever has the role developer can also answer waive-tester, ";
            assert_eq!(needs.contains(others), !is_offered, "{needs}");
        }
    }
    let text = page(&house, ViewerRole::User, "/");
    assert!(text.contains("<title>(1) "), "{text}");
    let merge = "<a href=\"/changesets/";
    assert!(!section(&text, "needs").contains(merge), "{text}");
    assert_eq!(section(&text, "theirs").matches(merge).count(), 2, "{text}");
    let text = page(&house, ViewerRole::Developer, "/");
    assert!(text.contains("<title>(3) "), "{text}");
    assert_eq!(section(&text, "needs").matches(merge).count(), 2, "{text}");
    assert!(!section(&text, "theirs").contains("<li"), "{text}");
}

/// Puts a run on record that called a tool with this input, and was answered with this. Returns the
/// event that asked for it.
fn call_tool(house: &House, tool: &str, input: &Value, observation: &str) -> u64 {
    let (run, trace) = (RunId::from_random([80; 16]), TraceId::from_random([80; 16]));
    let started = json!({ "id": run, "title": "Write it", "skill": null, "task": "x",
        "folder": "/shop", "parent": null, "call": null, "chain": [], "depth": 0 });
    let asked = json!({ "call": "1.1", "tool": tool, "role": "engineer",
        "input": input.to_string(), "decision": "allow", "rule": "r", "reason": "",
        "record": "ab", "unknown": "restore" });
    let finished = json!({ "call": "1.1", "tool": tool, "observation": observation,
        "trouble": null, "changed": ["notes.md"], "millis": 12, "sandbox": null, "redacted": 0 });
    let draft = |fact: Fact| {
        let draft = EventDraft::new(StreamName::run(run), trace, Actor::agent("engineer"), fact);
        draft.in_run(run).shown(EventVisibility::Full)
    };
    let facts: [Fact; 3] = [
        serde_json::from_value::<RunStarted>(started)
            .unwrap()
            .into(),
        serde_json::from_value::<ToolRequested>(asked)
            .unwrap()
            .into(),
        serde_json::from_value::<ToolFinished>(finished)
            .unwrap()
            .into(),
    ];
    let journal = house.workshop.open().unwrap().journal;
    let kept = journal
        .append(EventBatch::of(facts.map(draft)))
        .wait()
        .unwrap();
    drop(kept);
    let path = "/api/v1/events?kind=tool.requested&view=full";
    let events = house.get("developer", path).expect(200).json();
    let events = events["events"].as_array().unwrap();
    events.last().unwrap()["seq"].as_u64().unwrap()
}

#[test]
fn a_call_is_opened_with_all_it_was_given_and_gave() {
    let house = House::new();
    let hold = house.post("admin", "/api/v1/daemon/pause", &json!({}));
    hold.expect(200);
    let content = format!("{}the last of it", "a line <b>\n".repeat(200));
    let input = json!({ "path": "notes.md", "content": content, "api_key": "hush-hush" });
    let output = format!("{}and it ends", "out\n".repeat(40_000));
    let event = call_tool(&house, "write", &input, &output);
    let path = format!("/runs/50505050/calls/{event}");
    let run = page(&house, ViewerRole::Developer, "/runs/50505050?view=full");
    assert!(run.contains(&format!("href=\"{path}\"")), "{run}");
    assert!(
        !run.contains("the last of it") && run.len() < 40_000,
        "{}",
        run.len()
    );
    // The time line says what each event is about.
    let rows = section(&run, "events");
    assert!(rows.contains(">writing notes.md</td>"), "{rows}");

    let call = page(&house, ViewerRole::Developer, &path);
    let given = section(&call, "input");
    assert!(
        given.contains("the last of it") && given.contains("&#60;b&#62;"),
        "{given}"
    );
    assert!(!call.contains("hush-hush"), "{given}");
    let came = section(&call, "result");
    assert!(
        came.contains("notes.md") && came.contains("12 ms"),
        "{came}"
    );
    assert!(!came.contains("and it ends"), "it is bounded");
    let left = output.len() - 64 * 1024;
    assert!(came.contains(&format!("{left} bytes more")), "{left}");
    assert!(call.len() < 200_000, "{}", call.len());

    // It is for those who see the full view, and names a call of that run.
    let of = |role: ViewerRole, path: &str| {
        let cookie = house.sign_in(role).cookie;
        let call = house.with_cookie("GET", path, &cookie);
        call.send()
    };
    let refused = of(ViewerRole::User, &path).expect(403);
    assert!(!refused.text.contains("notes.md"), "{}", refused.text);
    let other = event - 1;
    of(
        ViewerRole::Developer,
        &format!("/runs/50505050/calls/{other}"),
    )
    .expect(404);
}

#[test]
fn a_call_of_a_hidden_tool_is_not_opened() {
    let house = House::with("[visibility]\nhidden_tools = [\"wri*\"]\n");
    let hold = house.post("admin", "/api/v1/daemon/pause", &json!({}));
    hold.expect(200);
    let event = call_tool(
        &house,
        "write",
        &json!({ "path": "heron.md" }),
        "heron is out",
    );
    let path = format!("/runs/50505050/calls/{event}");
    let run = page(&house, ViewerRole::Admin, "/runs/50505050?view=full");
    let call = page(&house, ViewerRole::Admin, &path);
    assert!(!run.contains("heron") && !run.contains(&path), "{run}");
    assert!(
        !call.contains("heron") && !call.contains("notes.md"),
        "{call}"
    );
    assert!(call.contains("It is hidden."), "{call}");
}

#[test]
fn skills_that_came_with_a_portal_are_listed_and_have_their_pages() {
    let house = House::new();
    let shop = house.portal("shop");
    let skill = |folder: &std::path::Path, name: &str| {
        let at = folder.join(name);
        std::fs::create_dir_all(&at).unwrap();
        let text = format!("---\nname: {name}\ndescription: Counts {name}.\n---\n\nCount.\n");
        std::fs::write(at.join("SKILL.md"), text).unwrap();
    };
    skill(&shop.join(".agents/skills"), "count-stock");
    skill(&house.workshop.root().join("Skills"), "count-all");
    let text = page(&house, ViewerRole::Developer, "/skills");
    let listed = section(&text, "skills");
    let there = "href=\"/skills/count-stock?portal=shop\"";
    assert!(
        listed.contains(there) && listed.contains("portal shop"),
        "{listed}"
    );
    assert_eq!(listed.matches(">count-all<").count(), 1, "{listed}");
    let there = house.workshop.standing_in(&shop);
    let lesson = there.add_lesson("count-stock", "Stock is in crates");
    let lesson = lesson.unwrap();
    let text = page(
        &house,
        ViewerRole::Developer,
        "/skills/count-stock?portal=shop",
    );
    assert!(
        text.contains("Counts count-stock.") && text.contains("portal shop"),
        "{text}"
    );
    let lessons = section(&text, "lessons");
    assert!(lessons.contains("Stock is in crates"), "{lessons}");
    let remove = format!("/api/v1/skills/count-stock/lessons/{lesson}/remove");
    assert!(lessons.contains(&remove), "{lessons}");
    house.post("developer", &remove, &json!({})).expect(200);
    let text = page(
        &house,
        ViewerRole::Developer,
        "/skills/count-stock?portal=shop",
    );
    assert!(!text.contains("Stock is in crates"), "{text}");
}
