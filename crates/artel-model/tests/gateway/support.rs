//! A journal in memory, a clock that follows the runtime's, and models to steer by hand.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use artel_model::{
    ChosenModel, ChunkStream, Gateway, GatewayEventBatch, GatewaySetup, GatewayState, GatewayStore,
    GatewayStoreError, Model, ModelCall, ModelCallContext, ModelCallError, ModelCallReply,
};
use artel_rules::breaker::BreakerThresholds;
use artel_types::model::{
    ModelAliasSettings, ModelCallAttribution, ModelCallPriority, ModelFault, ModelFaultKind,
    ModelMessage, ModelRequest, ModelSpec, PrivacyLabel, Provider, ReplyChunk, ReplyStopReason,
    TokenUsage,
};
use artel_types::{
    Actor, Clock, ConfiguredSpendLimits, Event, Fact, Failure, FailureCode, Money, RecordedText,
    RunId, SecretRedactor, SessionId, StreamName, Timestamp, TraceId,
};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// A Sunday morning.
pub(crate) const BEGIN: i64 = 1_794_733_200_000_000;

/// Returns a clock that goes as the runtime's does: with time paused, it stands until somebody
/// waits.
pub(crate) fn clock() -> Clock {
    let start = Instant::now();
    Clock::new(
        move || Timestamp::from_micros(BEGIN).after(start.elapsed()),
        move || start.elapsed(),
    )
}

/// A journal in memory, with the same promises.
pub(crate) struct MemoryBook {
    clock: Clock,
    events: Mutex<Vec<Event>>,
    /// So many appends find the disk full.
    full: AtomicUsize,
}

impl MemoryBook {
    /// Lets the next appends find the disk full.
    pub(crate) fn fill_disk(&self, appends: usize) {
        self.full.store(appends, Ordering::SeqCst);
    }

    fn is_full(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.full
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
            .is_ok()
    }

    pub(crate) fn new(clock: &Clock) -> Arc<Self> {
        Arc::new(Self {
            clock: clock.clone(),
            events: Mutex::default(),
            full: AtomicUsize::new(0),
        })
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    /// Returns the facts of one kind, in order.
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        self.events()
            .iter()
            .map(|event| event.fact.kind())
            .collect()
    }

    pub(crate) fn write(&self, entries: GatewayEventBatch) -> Result<(), GatewayStoreError> {
        let mut events = self.events.lock().unwrap();
        let position = |events: &[Event], stream: &StreamName| {
            events
                .iter()
                .filter(|event| event.stream == *stream)
                .count() as u64
        };
        if let Some((stream, expected)) = &entries.expecting
            && position(&events, stream) != *expected
        {
            return Err(GatewayStoreError::Moved);
        }
        for draft in entries.drafts {
            let stream_seq = position(&events, &draft.stream) + 1;
            let event = Event {
                seq: events.len() as u64 + 1,
                stream: draft.stream,
                stream_seq,
                at: self.clock.now(),
                trace: draft.trace,
                session: draft.session,
                run: draft.run,
                cause: draft.cause,
                actor: draft.actor,
                target: draft.target,
                outcome: draft.outcome,
                visibility: draft.visibility,
                fact: draft.fact,
            };
            events.push(event);
        }
        Ok(())
    }
}

impl GatewayStore for MemoryBook {
    fn open(&self) -> Result<(GatewayState, u64), Failure> {
        let mut account = GatewayState::default();
        let seq = self.read_on(0, &mut |event| account.fold(event))?;
        Ok((account, seq))
    }

    fn read_on(&self, after: u64, visit: &mut dyn FnMut(&Event)) -> Result<u64, Failure> {
        let events = self.events.lock().unwrap();
        let new = events.iter().skip(after as usize);
        new.filter(|event| GatewayState::concerns(event.fact.kind()))
            .for_each(visit);
        Ok(events.len() as u64)
    }

    fn append(
        &self,
        entries: GatewayEventBatch,
    ) -> BoxFuture<'static, Result<(), GatewayStoreError>> {
        let written = if self.is_full() {
            Err(GatewayStoreError::Failed(Failure::new(
                FailureCode::J006,
                "the disk is full",
            )))
        } else {
            self.write(entries)
        };
        Box::pin(async move { written })
    }

    fn keep(&self, text: String) -> BoxFuture<'static, Result<RecordedText, Failure>> {
        Box::pin(async { Ok(RecordedText::Inline(text)) })
    }
}

/// A gateway with all that a test looks at.
pub(crate) struct House {
    pub(crate) clock: Clock,
    pub(crate) book: Arc<MemoryBook>,
    pub(crate) gateway: Gateway,
}

pub(crate) fn house(change: impl FnOnce(&mut GatewaySetup)) -> House {
    let clock = clock();
    let book = MemoryBook::new(&clock);
    house_on(&clock, &book, change)
}

/// Opens another gateway on the same journal, as another process would.
pub(crate) fn house_on(
    clock: &Clock,
    book: &Arc<MemoryBook>,
    change: impl FnOnce(&mut GatewaySetup),
) -> House {
    let mut setup = GatewaySetup {
        book: book.clone(),
        clock: clock.clone(),
        redactor: SecretRedactor::none(),
        formats: None,
        limits: ConfiguredSpendLimits::default(),
        slots: 10,
        max_wait: Duration::from_secs(3_600),
        thresholds: BreakerThresholds::MODEL,
    };
    change(&mut setup);
    House {
        clock: clock.clone(),
        book: book.clone(),
        gateway: Gateway::open(setup).unwrap(),
    }
}

impl House {
    pub(crate) async fn answer(&self, call: ModelCall) -> Result<ModelCallReply, ModelCallError> {
        self.gateway.call(call).answer().await
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.uptime()
    }

    pub(crate) fn facts<T>(&self, pick: impl Fn(&Fact) -> Option<T>) -> Vec<T> {
        self.book
            .events()
            .iter()
            .filter_map(|event| pick(&event.fact))
            .collect()
    }
}

/// A model that is a function of how often it was asked before.
pub(crate) struct Puppet {
    asked: AtomicUsize,
    script: Box<Script>,
}

type Script = dyn Fn(usize, &ModelRequest) -> ChunkStream + Send + Sync;

impl Puppet {
    pub(crate) fn new(
        script: impl Fn(usize, &ModelRequest) -> ChunkStream + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            asked: AtomicUsize::new(0),
            script: Box::new(script),
        })
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Model for Puppet {
    fn reply(&self, request: &ModelRequest) -> ChunkStream {
        let before = self.asked.fetch_add(1, Ordering::SeqCst);
        (self.script)(before, request)
    }
}

pub(crate) fn start() -> ReplyChunk {
    ReplyChunk::Start {
        id: None,
        model: None,
    }
}

pub(crate) fn text(text: &str) -> ReplyChunk {
    ReplyChunk::Text {
        text: text.to_owned(),
    }
}

pub(crate) fn end(input: u64, output: u64) -> ReplyChunk {
    let usage = Some(TokenUsage {
        input,
        output,
        ..TokenUsage::default()
    });
    ReplyChunk::End {
        stop: ReplyStopReason::End,
        usage,
    }
}

pub(crate) fn says(words: &str) -> ChunkStream {
    chunks(vec![Ok(start()), Ok(text(words)), Ok(end(10, 5))])
}

pub(crate) fn faulty(fault: ModelFault) -> ChunkStream {
    chunks(vec![Err(fault)])
}

pub(crate) fn fault(kind: ModelFaultKind) -> ModelFault {
    ModelFault::new(kind, "as scripted")
}

pub(crate) fn chunks(chunks: Vec<Result<ReplyChunk, ModelFault>>) -> ChunkStream {
    Box::pin(stream::iter(chunks))
}

/// Begins an answer, and ends it when the gate has a permit.
pub(crate) fn held(gate: &Arc<Semaphore>) -> ChunkStream {
    let gate = gate.clone();
    let opened = async move {
        gate.acquire_owned().await.unwrap().forget();
        Ok(end(10, 5))
    };
    let begin = stream::iter(vec![Ok(start()), Ok(text("thinking about it"))]);
    Box::pin(begin.chain(stream::once(opened)))
}

pub(crate) fn chosen(provider: Provider) -> ChosenModel {
    ChosenModel {
        wanted: "default".into(),
        resolved: "as named".into(),
        entry: ModelAliasSettings {
            provider,
            model: "puppet-1".into(),
            base_url: None,
            api_key_env: None,
            account: None,
            headers: Default::default(),
            timeout: None,
            proxy: None,
        },
        card: ModelSpec {
            input: Some(Money(1_000_000)),
            output: Some(Money(1_000_000)),
            ..ModelSpec::default()
        },
    }
}

pub(crate) fn call(model: &Arc<Puppet>, words: &str) -> ModelCall {
    ModelCall {
        request: ModelRequest {
            messages: vec![ModelMessage::user(words)],
            max_output: Some(100),
            ..ModelRequest::default()
        },
        prior: None,
        model: model.clone(),
        chosen: chosen(Provider::Anthropic),
        priority: ModelCallPriority::Execution,
        privacy: PrivacyLabel::Any,
        account: ModelCallAttribution {
            step: Some("1".into()),
            role: Some("engineer".into()),
            ..ModelCallAttribution::default()
        },
        context: ModelCallContext {
            above: Vec::new(),
            step: None,
            trace: TraceId::from_random([7; 16]),
            actor: Actor::agent("engineer"),
            session: Some(SessionId::from_random([8; 16])),
            run: Some(RunId::from_random([9; 16])),
        },
    }
}

pub(crate) fn urgent(model: &Arc<Puppet>, priority: ModelCallPriority, words: &str) -> ModelCall {
    ModelCall {
        priority,
        ..call(model, words)
    }
}

/// Lets every task that can go on go on, without moving the time.
pub(crate) async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}
