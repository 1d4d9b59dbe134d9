//! Tests each page with hostile text in every field that can hold text.

use artel_types::plan::{Plan, ProofStage, StepState};
use artel_types::{Actor, ActorSurface, FileChange, RunId, Timestamp, TraceId};
use artel_workshop::{
    AgentDetail, AgentRow, AgentSource, ChangesetCommit, ChangesetDetail, ChangesetRow,
    SkillCommandRow, SkillDetail, SkillLesson,
};
use serde_json::json;

use super::super::coded::coded;
use super::super::evidence::{EVIDENCE, place};
use super::super::frame::PageFrame;
use super::super::now::{NowPage, RunTable, RunTableRow};
use super::super::questions::{
    AnswerFormsPanel, CallApprovalDetails, CallApprovalForm, PendingDecisionRow, QuestionForm,
    QuestionFormChoice, UnplannedRequestRow, UnplannedRequestsPanel,
};
use super::super::words::{self, TimeLabel};
use super::super::wrong::{ProblemsPanel, ProblemsPanelProvider};
use super::super::{
    agents, call, changeset, changesets, graph, journal, plan, plans, policies, prose, reports,
    run, runs, settings, skills, usage,
};
use super::{check, hostile};

fn frame() -> PageFrame {
    PageFrame {
        title: hostile(),
        place: "now",
        seq: 7,
        sign_in: hostile(),
        name: hostile(),
        role: "admin",
        needs: 3,
        view: "full",
        lacks: Some(hostile()),
    }
}

fn wrong() -> ProblemsPanel {
    ProblemsPanel {
        refused: vec![coded(&hostile())],
        faltered: vec![coded(&hostile())],
        held: vec![ProblemsPanelProvider {
            name: hostile(),
            how: "is paused",
            until: when(),
            why: hostile(),
        }],
        can_reset: true,
    }
}

fn when() -> TimeLabel {
    words::when(Timestamp::from_micros(1_700_000_000_000_000))
}

fn going() -> RunTable {
    RunTable {
        caption: "Runs",
        rows: vec![RunTableRow {
            href: format!("/runs/{}", hostile()),
            title: hostile(),
            state: words::state("open"),
            note: hostile(),
            steps: Some((1, 2)),
            turns: 3,
            tokens: Some(hostile()),
            cost: hostile(),
            since: when(),
        }],
    }
}

fn needs() -> AnswerFormsPanel {
    let query = |field: &str, choices: Vec<QuestionFormChoice>| QuestionForm {
        field: field.to_owned(),
        run: hostile(),
        question: Some(hostile()),
        title: hostile(),
        text: hostile(),
        choices,
        elsewhere: vec![hostile()],
        suggested: String::new(),
        since: when(),
    };
    let choice = QuestionFormChoice {
        value: hostile(),
        takes_reason: true,
        needs_reason: true,
        sure: None,
    };
    AnswerFormsPanel {
        calls: vec![CallApprovalForm {
            id: hostile(),
            trace: hostile(),
            tool: hostile(),
            shown: Some(CallApprovalDetails {
                why: hostile(),
                what: hostile(),
                brief: hostile(),
                for_run: Some(hostile()),
                always: Some(hostile()),
                hash: hostile(),
            }),
        }],
        queries: vec![query("one", Vec::new()), query("two", vec![choice])],
    }
}

fn unplanned() -> UnplannedRequestsPanel {
    UnplannedRequestsPanel {
        unplanned: vec![UnplannedRequestRow {
            field: "three".to_owned(),
            id: hostile(),
            title: hostile(),
            why: coded(&format!("`{}`", hostile())),
            since: when(),
        }],
    }
}

fn hostile_plan() -> Plan {
    let it = hostile();
    serde_json::from_value(json!({
        "title": it, "overview": it, "reasoning": it,
        "files": [{ "path": it, "action": "create", "why": it }],
        "steps": [{ "id": "a", "title": it, "role": it, "work": it, "check": it,
            "scope": { "paths": [it], "commands": [it], "network": [it],
                "criteria": [{ "text": it, "source": "explicit" }] },
            "evidence": [{ "kind": "command", "what": it }], "gives": [it], "uses": [it] }],
        "risks": [it], "questions": [it], "references": [it], "warnings": [it],
    }))
    .unwrap()
}

#[test]
fn now_shows_text_as_text() {
    let card = PendingDecisionRow {
        id: hostile(),
        sort: "plan",
        href: hostile(),
        title: hostile(),
        text: coded(&hostile()),
        since: when(),
    };
    let page = NowPage {
        frame: frame(),
        wrong: wrong(),
        portals: vec![hostile()],
        needs: needs(),
        cards: vec![card.clone()],
        theirs: vec![card.clone()],
        theirs_left_out: 1,
        queue: vec![card],
        unplanned: unplanned(),
        left_out: 1,
        running: going(),
        finished: going(),
        is_held: true,
        can_try: true,
        in_queue: 1,
        under_way: 1,
    };
    check(&page, 36);
}

#[test]
fn plans_show_text_as_text() {
    let row = plans::PlansPageRow {
        href: hostile(),
        title: hostile(),
        state: words::state("planned"),
        portal: hostile(),
        by: hostile(),
        tokens: hostile(),
        cost: hostile(),
        at: when(),
    };
    let page = plans::PlansPage {
        frame: frame(),
        rows: vec![row],
        wanted: plans::PlansPageQuery::default(),
        statuses: vec!["planned"],
        total: 1,
        next: Some(1),
    };
    check(&page, 9);
}

#[test]
fn a_plan_shows_text_as_text() {
    let plan = hostile_plan();
    let states = [("a".to_owned(), StepState::Failed)].into();
    let drawn = [("a".to_owned(), words::WAITS)].into();
    let page = plan::PlanPage {
        short: vec![hostile()],
        frame: frame(),
        id: hostile(),
        trace: hostile(),
        run: Some(hostile()),
        request: hostile(),
        claims: vec![plan::PlanPageRequirement {
            sort: "limit",
            text: hostile(),
            source: hostile(),
        }],
        asked: when(),
        by: hostile(),
        portal: Some(hostile()),
        state: words::state("review"),
        why: Some(coded(&hostile())),
        version: 2,
        hash: hostile(),
        versions: vec![plan::PlanPageVersionRow {
            number: 1,
            by: hostile(),
            at: when(),
            is_shown: true,
        }],
        is_open: true,
        is_running: true,
        is_going: true,
        can_retry: true,
        can_edit: true,
        graph: graph::draw(&plan, &drawn),
        steps: plan::cards(&plan, (&states, &drawn), &[]),
        tokens: hostile(),
        cost: hostile(),
        comments: vec![plan::PlanPageComment {
            version: 1,
            text: hostile(),
            by: hostile(),
            at: when(),
        }],
        proposals: vec![plan::PlanPageProposal {
            id: hostile(),
            step: hostile(),
            is_blocking: true,
        }],
        difference: Some(plan::PlanPageDiff {
            from: 1,
            to: 2,
            lines: vec![plan::PlanPageDiffLine {
                class: "added",
                text: hostile(),
            }],
        }),
        from: 1,
        plan,
    };
    check(&page, 48);
}

#[test]
fn runs_show_text_as_text() {
    let page = runs::RunsPage {
        frame: frame(),
        runs: going(),
        wanted: runs::RunsPageQuery {
            state: hostile(),
            text: hostile(),
            all: hostile(),
            before: None,
        },
        states: vec!["running"],
        total: 1,
        next: Some(5),
    };
    check(&page, 10);
}

fn finding() -> run::RunPageEvidence {
    run::RunPageEvidence {
        state: true.into(),
        head: hostile(),
        lines: vec![hostile()],
        place: Some(place(ProofStage::Red)),
        output: hostile(),
    }
}

#[test]
fn a_run_shows_text_as_text() {
    let line = || run::RunPageLine {
        sign: "✓",
        class: "good",
        text: hostile(),
        call: Some(7),
    };
    let tale = || run::RunPageAgent {
        run: hostile(),
        title: hostile(),
        turns: vec![run::RunPageTurn {
            lines: vec![line()],
        }],
    };
    let step = run::RunPageStep {
        number: 1,
        id: "a".to_owned(),
        title: hostile(),
        state: words::step(StepState::Running),
        is_open: true,
        hold: Some(run::StepHoldState::Free),
        round: 2,
        allowed: 3,
        turns: 4,
        took: Some(hostile()),
        doing: Some(hostile()),
        remarks: vec![line()],
        attempts: vec![run::RunPageAttempt {
            round: 1,
            tales: vec![tale()],
            findings: vec![finding()],
        }],
    };
    let page = run::RunPage {
        frame: frame(),
        run: Some(hostile()),
        short: hostile(),
        trace: hostile(),
        title: hostile(),
        state: words::state("open"),
        note: Some(hostile()),
        is_over: false,
        can_pause: true,
        can_resume: false,
        stuck: Some(hostile()),
        is_full: true,
        can_full: true,
        can_steer: true,
        totals: vec![("tokens", hostile())],
        done: Some((1, 2)),
        phase: Some(hostile()),
        links: vec![("plan", hostile())],
        graph: graph::draw(&hostile_plan(), &[].into()),
        needs: needs(),
        unplanned: unplanned(),
        milestones: vec![line()],
        steps: vec![step],
        tales: vec![tale()],
        answer: Some(hostile()),
        files: Some(2),
        events: vec![run::RunPageEventRow {
            seq: 1,
            at: hostile(),
            kind: hostile(),
            actor: hostile(),
            what: hostile(),
            is_point: true,
        }],
        is_cut: true,
        fork: Some(hostile()),
        is_older: false,
        older: Some(1),
        left_out: 7,
        legend: EVIDENCE.to_vec(),
        plan: Some(hostile()),
    };
    check(&page, 50);
}

#[test]
fn changesets_show_text_as_text() {
    let page = changesets::ChangesetsPage {
        frame: frame(),
        rows: vec![changesets::ChangesetsPageRow {
            id: hostile(),
            title: hostile(),
            state: words::state("open"),
            proven: false.into(),
            portal: hostile(),
            branch: hostile(),
            size: hostile(),
            at: when(),
        }],
        total: 1,
        next: Some(hostile()),
    };
    check(&page, 9);
}

fn shown() -> ChangesetDetail {
    let row = ChangesetRow {
        id: hostile(),
        trace: TraceId::from_random([1; 16]),
        run: RunId::from_random([2; 16]),
        at: Timestamp::from_micros(0),
        title: hostile(),
        portal: Some(hostile()),
        branch: Some(hostile()),
        into: Some(hostile()),
        state: "open",
        commits: 1,
        files: 1,
        added: 1,
        removed: 1,
        proven: false,
        complete: false,
    };
    ChangesetDetail {
        by_hand: None,
        row,
        folder: hostile(),
        base: hostile(),
        head: hostile(),
        log: vec![ChangesetCommit {
            commit: "0123456789abcdef".to_owned(),
            subject: hostile(),
        }],
        changed: Vec::<FileChange>::new(),
        patch: None,
        proofs: Vec::new(),
        proof: hostile(),
        unproven: vec![hostile()],
        deferred: vec![hostile()],
        decisions: Vec::new(),
        tokens: 1,
        cost: None,
        millis: 1,
        report: Some(hostile()),
        next: Vec::new(),
    }
}

#[test]
fn a_changeset_shows_text_as_text() {
    let text = hostile();
    let diff = format!(
        "diff --git a/{text} b/{text}\n{text}\n@@ -1,2 +1,2 @@ {text}\n {text}\n-{text}\n+{text}\n\
         diff --git a/x.py b/x.py\n@@ -1 +1 @@\n-# {text}\n+x = '{text}'\n"
    );
    for is_side in [false, true] {
        let page = changeset::ChangesetPage {
            frame: frame(),
            it: shown(),
            state: words::state("open"),
            cost: hostile(),
            tokens: hostile(),
            files: vec![changeset::ChangesetPageFileRow {
                path: hostile(),
                kind: "new",
                lines: hostile(),
                href: Some(hostile()),
            }],
            proofs: vec![changeset::ChangesetPageProofRow {
                state: true.into(),
                place: place(ProofStage::Final),
                step: hostile(),
                what: hostile(),
                found: hostile(),
                took: hostile(),
                output: Some(hostile()),
            }],
            legend: EVIDENCE.to_vec(),
            decisions: vec![changeset::ChangesetPageDecisionRow {
                act: hostile(),
                by: Actor::human(hostile(), ActorSurface::Web).id,
                at: when(),
                more: hostile(),
            }],
            can_decide: true,
            sees_lines: true,
            is_side,
            only: Some(1),
            diff: changeset::parse(&diff),
            no_diff: Some(hostile()),
        };
        check(&page, 40);
    }
}

fn figures() -> skills::PerformanceFigures {
    skills::PerformanceFigures {
        runs: 1,
        success: hostile(),
        turns: hostile(),
        recovery: hostile(),
        common: hostile(),
        cost: hostile(),
    }
}

#[test]
fn skills_show_text_as_text() {
    let row = skills::SkillsPageRow {
        name: hostile(),
        portal: Some(hostile()),
        description: hostile(),
        scope: hostile(),
        is_trusted: false,
        stats: Some(figures()),
    };
    let page = skills::SkillsPage {
        frame: frame(),
        rows: vec![row],
        broken: vec![(hostile(), hostile())],
    };
    check(&page, 14);
    let it = SkillDetail {
        name: hostile(),
        description: hostile(),
        folder: hostile(),
        scope: artel_skills::SkillOrigin::User,
        trusted: false,
        hash: hostile(),
        lines: 1,
        front: Default::default(),
        files: Vec::new(),
        scripts: Vec::new(),
        commands: vec![SkillCommandRow {
            command: hostile(),
            allowed: true,
            rule: hostile(),
        }],
        urls: vec![hostile()],
        tokens_first: 1,
        tokens_all: 2,
        remarks: vec![hostile()],
    };
    let page = skills::SkillPage {
        frame: frame(),
        scope: hostile(),
        stats: Some(figures()),
        lessons: vec![SkillLesson {
            id: hostile(),
            sort: hostile(),
            text: hostile(),
            from: Some(hostile()),
            by: Some(hostile()),
        }],
        files: vec![skills::SkillPageFile {
            path: hostile(),
            about: hostile(),
            size: hostile(),
            text: Some(hostile()),
        }],
        it,
    };
    check(&page, 24);
}

#[test]
fn agents_show_text_as_text() {
    let row = || AgentRow {
        id: hostile(),
        name: hostile(),
        description: hostile(),
        model: Some(hostile()),
        calls: 1,
        capabilities: vec![hostile()],
        source: AgentSource::File,
        broken: Some(hostile()),
    };
    let page = agents::AgentsPage {
        frame: frame(),
        rows: vec![(row(), Some(figures())), (row(), None)],
    };
    check(&page, 12);
    let it = AgentDetail {
        row: row(),
        file: Some(hostile()),
        tools: Some(vec![hostile()]),
        disallowed: vec![hostile()],
        prompt: hostile(),
    };
    let page = agents::AgentPage {
        frame: frame(),
        it,
        stats: Some(figures()),
        is_whole: true,
    };
    check(&page, 14);
}

#[test]
fn usage_shows_text_as_text() {
    let row = || usage::UsagePageRow {
        name: hostile(),
        calls: 1,
        input: hostile(),
        output: hostile(),
        tokens: hostile(),
        cost: hostile(),
        share: 3,
        days: vec![usage::UsageBarChart {
            most: hostile(),
            ..usage::UsageBarChart::default()
        }],
    };
    let page = usage::UsagePage {
        frame: frame(),
        days: 7,
        spans: &[7],
        total: row(),
        charts: vec![usage::UsageBarChart {
            title: "Cost",
            most: hostile(),
            first: hostile(),
            last: hostile(),
            bars: vec![usage::UsageBar {
                x: 1,
                y: 1,
                width: 1,
                height: 1,
                words: hostile(),
            }],
            ..usage::UsageBarChart::default()
        }],
        daily: vec![row()],
        groups: vec![usage::UsagePageGroup {
            by: "model",
            rows: vec![row()],
        }],
        budgets: vec![usage::UsagePageBudget {
            whose: hostile(),
            period: "day",
            used: hostile(),
            limit: hostile(),
            left: hostile(),
            percent: 4,
        }],
    };
    check(&page, 24);
}

#[test]
fn the_journal_shows_text_as_text() {
    let page = journal::JournalPage {
        frame: frame(),
        wanted: journal::JournalPageQuery {
            trace: hostile(),
            kind: hostile(),
            actor: hostile(),
            since: hostile(),
            until: hostile(),
            before: None,
        },
        rows: vec![journal::JournalPageRow {
            seq: 1,
            at: hostile(),
            trace: hostile(),
            kind: hostile(),
            actor: hostile(),
            outcome: hostile(),
            target: hostile(),
            payload: Some(hostile()),
        }],
        next: Some(3),
        can_verify: true,
    };
    check(&page, 20);
}

#[test]
fn settings_show_text_as_text() {
    let page = settings::SettingsPage {
        frame: frame(),
        is_admin: true,
        wrong: wrong(),
        models: vec![settings::SettingsPageModel {
            alias: hostile(),
            model: hostile(),
            how: hostile(),
            context: hostile(),
            price: hostile(),
        }],
        policies: policies::PoliciesPanel {
            rows: vec![policies::PoliciesPanelRule {
                answer: "deny",
                what: coded(&hostile()),
                why: hostile(),
                from: hostile(),
            }],
            broken: Some(coded(&hostile())),
            roles: vec![policies::PoliciesPanelRole {
                role: hostile(),
                may: hostile(),
                never: hostile(),
            }],
        },
        grants: vec![artel_policy::GrantEntry {
            rule: hostile(),
            reason: hostile(),
            by: hostile(),
            at: hostile(),
        }],
        portals: vec![settings::SettingsPagePortal {
            name: hostile(),
            path: hostile(),
            may: hostile(),
            agents: hostile(),
            privacy: "any",
        }],
        operations: vec!["read"],
        tokens: Some(vec![settings::SettingsPageToken {
            id: hostile(),
            name: hostile(),
            role: hostile(),
            approves: "no, a program holds it",
            by: hostile(),
            at: when(),
        }]),
        rules: vec![settings::SettingsPageVisibility {
            role: "user",
            about: "about",
            sees: "full",
            origin: hostile(),
        }],
        hidden: vec![hostile()],
        is_held: false,
        rows: vec![settings::SettingsPageRow {
            key: hostile(),
            value: hostile(),
            origin: hostile(),
            about: "about",
        }],
    };
    check(&page, 43);
}

#[test]
fn reports_show_text_as_text() {
    let row = || reports::ReportsPageRow {
        href: hostile(),
        title: hostile(),
        state: words::state("completed"),
        at: when(),
    };
    let page = reports::ReportsPage {
        frame: frame(),
        rows: vec![row()],
        total: 1,
        next: Some(hostile()),
    };
    check(&page, 6);
    let page = reports::ReportPage {
        frame: frame(),
        row: row(),
        id: hostile(),
        run: hostile(),
        path: hostile(),
        text: prose::prose(&format!(
            "## {it}\n### {it}\n{it}\n> {it}\n- {it}\n| {it} |\n| {it} |",
            it = hostile()
        )),
    };
    check(&page, 14);
}

#[test]
fn a_call_shows_text_as_text() {
    let part = || call::CallPageText {
        text: hostile(),
        left_out: 7,
        event: 3,
    };
    let page = call::CallPage {
        frame: frame(),
        run: hostile(),
        trace: hostile(),
        event: 3,
        tool: hostile(),
        call: hostile(),
        at: hostile(),
        decision: hostile(),
        input: Some(part()),
        result: Some(call::CallPageResult {
            state: words::state("done"),
            how: hostile(),
            changed: vec![hostile()],
            text: Some(part()),
        }),
    };
    check(&page, 12);
}
