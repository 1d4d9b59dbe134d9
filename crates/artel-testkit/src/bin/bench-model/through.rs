//! The same replies through the gateway: queued, reserved, recorded in a journal on disk,
//! decoded, searched for keys, collected, settled.

use std::sync::Arc;
use std::time::Duration;

use artel_model::{
    ChosenModel, Gateway, GatewaySetup, ModelAddress, ModelCall, ModelCallContext,
    ModelCallProgress, ProviderHttpClientPool, RemoteModel,
};
use artel_rules::breaker::BreakerThresholds;
use artel_testkit::{Scratch, system_clock};
use artel_types::model::{
    ModelAliasSettings, ModelCallAttribution, ModelCallPriority, PrivacyLabel, Provider, ReplyChunk,
};
use artel_types::{Actor, ConfiguredSpendLimits, RunId, SecretRedactor, SessionId, TraceId};

use crate::book::JournalGatewayStore;
use crate::question::{self, MODEL, WIRE};
use crate::reader::Watch;
use crate::{STREAMS, meter, place};

/// A timeout that never expires during a round.
const PATIENCE: Duration = Duration::from_secs(300);

/// A gateway with a call to copy, and the folder of its journal.
pub(crate) struct Through {
    gateway: Gateway,
    call: ModelCall,
    _scratch: Scratch,
}

impl Through {
    pub(crate) fn new(base_url: &str) -> Self {
        let scratch = Scratch::inside(&place::on_disk().folder);
        let [key, other, third] = question::keys();
        let gateway = Gateway::open(GatewaySetup {
            book: Arc::new(JournalGatewayStore::new(scratch.create())),
            clock: system_clock(),
            redactor: SecretRedactor::of_known_values([&key, &other, &third]),
            formats: None,
            limits: ConfiguredSpendLimits::default(),
            slots: STREAMS,
            max_wait: PATIENCE,
            thresholds: BreakerThresholds::MODEL,
        });
        let address = ModelAddress {
            wire: WIRE,
            base_url: base_url.to_owned(),
            key: Some(key),
            headers: Vec::new(),
            patience: PATIENCE,
        };
        Self {
            gateway: gateway.unwrap(),
            call: call(address),
            _scratch: scratch,
        }
    }

    /// Starts one call, as a run of its own, and returns the future that reads its reply.
    pub(crate) fn read(&self, mut watch: Watch) -> impl Future<Output = Watch> + Send + 'static {
        let mut call = self.call.clone();
        let number = u128::try_from(watch.number()).unwrap();
        call.context.run = Some(RunId::from_random(number.to_le_bytes()));
        let mut calling = self.gateway.call(call);
        async move {
            while let Some(progress) = calling.next().await {
                match progress {
                    ModelCallProgress::Piece(ReplyChunk::Text { text }) => {
                        let now = meter::now();
                        watch.saw(text.trim_end().parse().unwrap(), now);
                    }
                    ModelCallProgress::Failed(error) => panic!("{error:?}"),
                    _ => {}
                }
            }
            watch
        }
    }
}

fn call(address: ModelAddress) -> ModelCall {
    let mut entry = ModelAliasSettings::named(Provider::OpenAiChat, MODEL);
    entry.base_url = Some(address.base_url.clone());
    let connection = ProviderHttpClientPool::new(PATIENCE).through(None).unwrap();
    let remote = RemoteModel::new(connection, address, MODEL, question::card(), system_clock());
    ModelCall {
        request: question::question(),
        prior: None,
        model: Arc::new(remote),
        chosen: ChosenModel {
            wanted: "default".into(),
            resolved: "as named".into(),
            entry,
            card: question::card(),
        },
        priority: ModelCallPriority::Execution,
        privacy: PrivacyLabel::Any,
        account: ModelCallAttribution {
            role: Some("engineer".into()),
            ..ModelCallAttribution::default()
        },
        context: ModelCallContext {
            above: Vec::new(),
            step: None,
            trace: TraceId::from_random([7; 16]),
            actor: Actor::agent("engineer"),
            session: Some(SessionId::from_random([8; 16])),
            run: None,
        },
    }
}
