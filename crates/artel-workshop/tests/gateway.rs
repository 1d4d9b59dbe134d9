//! The gateway on the real journal: limits hold under load, after a restart, and in the report.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

use std::path::Path;
use std::sync::Arc;

use artel_config::ProcessEnvironment;
use artel_model::{
    ChunkStream, Gateway, Model, ModelCall, ModelCallContext, ModelCallProgress, ModelCallWait,
};
use artel_types::model::{
    ModelCallAttribution, ModelCallPriority, ModelMessage, ModelRequest, PrivacyLabel,
};
use artel_types::{Actor, ActorSurface, Failure, RunId, TraceId};
use artel_workshop::{
    CommandContext, GlobalFlags, OpenWorkshopJournal, UsageQuery, Workshop, WorkshopInitMode,
};
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use tokio::sync::Semaphore;

const SCRIPT: &str = "\
otherwise:
  say: \"done\"
  usage: { input: 900, output: 100 }
";

fn caller(home: &Path) -> CommandContext {
    let script = home.join("script.yaml");
    std::fs::write(&script, SCRIPT).unwrap();
    let model = format!("rehearsal:{}", script.display());
    let variables = [
        ("HOME", home.to_str().unwrap().to_owned()),
        ("ARTEL_MODEL", model),
    ];
    let environment = ProcessEnvironment::of(variables, home);
    let clock = artel_config::system_clock();
    CommandContext::new(
        environment,
        clock,
        GlobalFlags::default(),
        ActorSurface::Cli,
    )
    .unwrap()
}

fn workshop(home: &Path, settings: &str) -> Workshop {
    let caller = caller(home);
    let root = home.join("Artel");
    caller
        .init(Some(&root), WorkshopInitMode::Complete)
        .unwrap();
    std::fs::write(root.join("artel.toml"), settings).unwrap();
    caller.workshop().unwrap()
}

async fn ask(workshop: &Workshop, gateway: &Gateway, words: &str) -> Result<u64, Failure> {
    let answer = gateway.call(call(workshop, words).await?).answer().await?;
    Ok(answer.charged.tokens.0)
}

async fn call(workshop: &Workshop, words: &str) -> Result<ModelCall, Failure> {
    let models = workshop.models(None).await.unwrap();
    let chosen = models.choose(None)?;
    Ok(ModelCall {
        request: ModelRequest {
            // Longer than what fits into an event, so that it is kept beside the journal.
            messages: vec![ModelMessage::user(format!(
                "{words} {}",
                "word ".repeat(1_000)
            ))],
            max_output: Some(100),
            ..ModelRequest::default()
        },
        prior: None,
        model: models.connect(&chosen, workshop)?,
        chosen,
        priority: ModelCallPriority::Execution,
        privacy: PrivacyLabel::LocalOnly,
        account: ModelCallAttribution {
            role: Some("engineer".into()),
            ..ModelCallAttribution::default()
        },
        context: ModelCallContext {
            above: Vec::new(),
            step: None,
            trace: TraceId::from_random([1; 16]),
            actor: Actor::agent("engineer"),
            session: None,
            run: Some(RunId::from_random([2; 16])),
        },
    })
}

#[tokio::test]
async fn fifty_calls_at_once_stay_within_the_limit_also_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let limit = "[budget.run]\ntokens = 20_000\n[gateway]\nslots = 50\n";
    let workshop = workshop(home.path(), limit);
    let mut charged = 0;
    for _ in 0..2 {
        let OpenWorkshopJournal { journal, .. } = workshop.open().unwrap();
        let models = workshop.models(None).await.unwrap();
        let gateway = workshop.gateway(&journal, &models).await.unwrap();
        let words: Vec<String> = (0..50).map(|number| format!("question {number}")).collect();
        let calls = words.iter().map(|words| ask(&workshop, &gateway, words));
        let results = join_all(calls).await;
        charged += results.iter().flatten().sum::<u64>();
        let refused = results.into_iter().find_map(Result::err).unwrap();
        assert!(refused.what.starts_with("the run `02020202"), "{refused}");
    }
    assert!((15_000..=20_000).contains(&charged), "{charged}");
    // The report counts the same events.
    let report = workshop.usage(UsageQuery::default()).unwrap();
    assert_eq!(report.total.tokens, charged);
    assert_eq!(report.total.answered * 1_000, charged);
    assert_eq!(report.total.attempts, 100);
    assert_eq!(report.total.denied, 100 - report.total.answered);
    assert!(workshop.verify().unwrap().first_bad.is_none());
}

#[tokio::test]
async fn what_was_recorded_can_be_played_again() {
    let home = tempfile::tempdir().unwrap();
    let workshop = workshop(home.path(), "");
    let OpenWorkshopJournal { journal, .. } = workshop.open().unwrap();
    let models = workshop.models(None).await.unwrap();
    let gateway = workshop.gateway(&journal, &models).await.unwrap();
    for words in ["one", "two"] {
        ask(&workshop, &gateway, words).await.unwrap();
    }
    let trace = TraceId::from_random([1; 16]).to_string();
    let cassette = workshop.cassette(&trace).unwrap();
    let texts: Vec<String> = cassette
        .takes()
        .iter()
        .map(|take| take.reply.text())
        .collect();
    assert_eq!(texts, ["done", "done"]);
    let written = cassette.write_jsonl().unwrap();
    let again = artel_model::Cassette::read_jsonl(&written).unwrap();
    assert_eq!(again, cassette);
}

#[tokio::test]
async fn a_recording_goes_back_to_where_its_conversation_began() {
    let home = tempfile::tempdir().unwrap();
    let workshop = workshop(home.path(), "");
    let OpenWorkshopJournal { journal, .. } = workshop.open().unwrap();
    let models = workshop.models(None).await.unwrap();
    let gateway = workshop.gateway(&journal, &models).await.unwrap();
    let mut next = call(&workshop, "one").await.unwrap();
    let mut sent = Vec::new();
    for turn in 0..3 {
        // The second process that works on a run has a trace of its own.
        next.context.trace = TraceId::from_random([10 + turn / 2; 16]);
        let answer = gateway.call(next.clone()).answer().await.unwrap();
        sent.push(next.request.clone());
        next.prior = Some(answer.prior());
        let words = ModelMessage::user(format!("go on, {turn}"));
        next.request
            .messages
            .extend([ModelMessage::assistant(answer.reply.parts), words]);
    }
    let requests = |trace: u8| -> Vec<ModelRequest> {
        let trace = TraceId::from_random([trace; 16]).to_string();
        let cassette = workshop.cassette(&trace).unwrap();
        let takes = cassette.takes().iter();
        takes.map(|take| take.request.clone()).collect()
    };
    assert_eq!(requests(10), sent[..2]);
    assert_eq!(requests(11), sent[2..]);
}

/// A model that answers when it is let.
struct Slow {
    gate: Arc<Semaphore>,
    inner: Arc<dyn Model>,
}

impl Model for Slow {
    fn reply(&self, request: &ModelRequest) -> ChunkStream {
        let (gate, answer) = (Arc::clone(&self.gate), self.inner.reply(request));
        let waits = async move {
            gate.acquire().await.unwrap().forget();
            answer
        };
        Box::pin(stream::once(waits).flatten())
    }
}

/// Whatever opens the workshop again in the same process stands in the same line: the places of a
/// provider are places of the process. Other settings get a gateway of their own.
#[tokio::test]
async fn all_of_a_process_stand_in_one_line_before_a_provider() {
    let home = tempfile::tempdir().unwrap();
    let narrow = workshop(home.path(), "[gateway]\nslots = 1\n");
    let gate = Arc::new(Semaphore::new(0));
    let open = async |workshop: &Workshop| {
        let journal = workshop.open().unwrap().journal;
        let models = workshop.models(None).await.unwrap();
        workshop.gateway(&journal, &models).await.unwrap()
    };
    let (first, second) = (open(&narrow).await, open(&narrow).await);
    let slow = async |workshop: &Workshop| {
        let call = call(workshop, "one").await.unwrap();
        let slow = Slow {
            gate: Arc::clone(&gate),
            inner: Arc::clone(&call.model),
        };
        ModelCall {
            model: Arc::new(slow),
            ..call
        }
    };
    let mut begun = first.call(slow(&narrow).await);
    let mut waits = second.call(slow(&narrow).await);
    let waited = loop {
        let progress = tokio::select! {
            progress = begun.next() => progress,
            progress = waits.next() => progress,
        };
        match progress.unwrap() {
            ModelCallProgress::Waiting(wait) => break wait,
            ModelCallProgress::Failed(error) => panic!("{error:?}"),
            _ => {}
        }
    };
    assert!(matches!(waited, ModelCallWait::Turn { .. }), "{waited:?}");
    std::fs::write(narrow.root().join("artel.toml"), "[gateway]\nslots = 2\n").unwrap();
    let wider = caller(home.path()).workshop().unwrap();
    let third = open(&wider).await;
    gate.add_permits(3);
    assert!(third.call(slow(&wider).await).answer().await.is_ok());
    // The one before serves out what it has begun.
    drop((first, second));
    assert!(begun.answer().await.is_ok() && waits.answer().await.is_ok());
}
