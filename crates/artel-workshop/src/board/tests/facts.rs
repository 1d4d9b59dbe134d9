//! Facts as the journal stores them, each with only the fields that matter here.

use artel_types::model::{
    ModelCallAttribution, ModelCallPriority, PrivacyLabel, Provider, ReplyStopReason, TokenUsage,
};
use artel_types::plan::{PlanState, RequestSize, Urgency};
use artel_types::{
    ChangesetCreated, ModelFailed, ModelReplied, ModelRequested, Money, PlanApproved, PlanDrafted,
    PlanEnded, PlanRunning, RequestCreated, RunFinished, RunId, RunMetrics, RunPrepared,
    RunStarted, SpendAmount, ToolFinished, ToolRequested,
};

pub(crate) fn started(run: RunId, title: &str) -> RunStarted {
    RunStarted {
        skill: Some("tidy".to_owned()),
        ..RunStarted::new(run, title)
    }
}

pub(crate) fn prepared(role: &str) -> RunPrepared {
    RunPrepared {
        role: role.to_owned(),
        model: None,
        mode: "autonomous".to_owned(),
        calls: "native".to_owned(),
        system: "Do it.".into(),
        opening: "Begin.".into(),
        turns: 30,
        retries: 3,
        cost: None,
        checks_itself: false,
        window: 100_000,
        skill_folder: None,
        skill_hash: None,
        allowed_tools: None,
        parts: Vec::new(),
        standing: Vec::new(),
        calls_limit: None,
        directive: None,
    }
}

fn account() -> ModelCallAttribution {
    ModelCallAttribution {
        role: Some("engineer".to_owned()),
        skill: Some("tidy".to_owned()),
        portal: Some("web".to_owned()),
        ..ModelCallAttribution::default()
    }
}

pub(crate) fn requested(call: &str, attempt: u32) -> ModelRequested {
    ModelRequested {
        call: call.to_owned(),
        attempt,
        wanted: "usual".to_owned(),
        resolved: "by the settings".to_owned(),
        provider: Provider::Anthropic,
        model: "sonnet".to_owned(),
        priority: ModelCallPriority::Execution,
        privacy: PrivacyLabel::Any,
        account: account(),
        estimate: SpendAmount::new(1_000, 50),
        request: r#"{"messages":[]}"#.into(),
        fingerprint: "f".to_owned(),
        prior: None,
    }
}

pub(crate) fn replied(call: &str, attempt: u32, cost: Option<u64>) -> ModelReplied {
    ModelReplied {
        call: call.to_owned(),
        attempt,
        provider: Provider::Anthropic,
        model: "sonnet".to_owned(),
        account: account(),
        stop: ReplyStopReason::ToolUse,
        usage: Some(TokenUsage {
            input: 700,
            cache_read: 300,
            output: 90,
            ..TokenUsage::default()
        }),
        charged: SpendAmount::new(790, cost.unwrap_or(0)),
        cost: cost.map(Money),
        first_ms: 40,
        total_ms: 1_200,
        reply: r#"{"parts":[{"text":"It is done, and these are the files that I looked at."}]}"#
            .into(),
    }
}

pub(crate) fn failed(call: &str, attempt: u32) -> ModelFailed {
    ModelFailed {
        call: call.to_owned(),
        attempt,
        provider: Provider::Anthropic,
        model: "sonnet".to_owned(),
        account: account(),
        fault: None,
        class: None,
        status: Some(529),
        message: "overloaded".to_owned(),
        request_id: None,
        charged: SpendAmount::new(0, 0),
        cost: None,
        retry_at: None,
        partial: None,
    }
}

pub(crate) fn tool_requested(call: &str, tool: &str, decision: &str) -> ToolRequested {
    ToolRequested {
        call: call.to_owned(),
        tool: tool.to_owned(),
        role: "engineer".to_owned(),
        input: r#"{"path":"src/lib.rs"}"#.into(),
        decision: decision.to_owned(),
        rule: "default".to_owned(),
        reason: "it reads".to_owned(),
        record: "r".to_owned(),
        unknown: "pure".to_owned(),
        decided_by: None,
        opens: None,
    }
}

pub(crate) fn tool_finished(call: &str, tool: &str, exit: Option<i64>) -> ToolFinished {
    ToolFinished {
        call: call.to_owned(),
        tool: tool.to_owned(),
        observation: "fn main() {}".into(),
        trouble: None,
        changed: Vec::new(),
        millis: 12,
        sandbox: None,
        redacted: 0,
        exit,
        memory: None,
        images: None,
    }
}

pub(crate) fn finished(run: RunId, state: &str) -> RunFinished {
    RunFinished {
        state: Some(state.to_owned()),
        metrics: Some(RunMetrics {
            turns: 2,
            tool_failures: 1,
            recoveries: [("exit".to_owned(), 1)].into(),
            cost: Some(Money(70)),
            ..RunMetrics::default()
        }),
        ..RunFinished::new(run, "over")
    }
}

pub(crate) fn request(title: &str, urgency: Urgency) -> RequestCreated {
    RequestCreated {
        words: title.into(),
        title: title.to_owned(),
        portal: Some("web".to_owned()),
        folder: "/src/web".to_owned(),
        agent: "engineer".to_owned(),
        urgency,
        source: "file".to_owned(),
        file: "Inbox/Requests/one.md".to_owned(),
        size: RequestSize::Work,
        why: "it changes files".to_owned(),
        verify: None,
        constraints: Vec::new(),
        criteria: Vec::new(),
        skill: None,
        model: None,
    }
}

pub(crate) fn drafted(version: u32, title: &str) -> PlanDrafted {
    PlanDrafted {
        version,
        plan: "{}".into(),
        hash: format!("hash-{version}"),
        title: title.to_owned(),
        file: "Inbox/Plans/one.md".to_owned(),
        run: None,
    }
}

pub(crate) fn approved(version: u32, run: RunId) -> PlanApproved {
    PlanApproved {
        version,
        hash: format!("hash-{version}"),
        run,
        model: None,
    }
}

pub(crate) fn running(run: RunId, version: u32) -> PlanRunning {
    PlanRunning { run, version }
}

pub(crate) fn ended(run: RunId, state: PlanState) -> PlanEnded {
    PlanEnded {
        run,
        state,
        why: None,
    }
}

pub(crate) fn changeset(run: RunId) -> ChangesetCreated {
    ChangesetCreated {
        run,
        portal: Some("web".to_owned()),
        folder: "/src/web".to_owned(),
        branch: Some("feat/one".to_owned()),
        into: Some("main".to_owned()),
        base: "b".to_owned(),
        head: "h".to_owned(),
        commits: 2,
        files: Vec::new(),
        added: 12,
        removed: 3,
        proven: true,
        complete: true,
        deferred: Vec::new(),
        patch: None,
    }
}
