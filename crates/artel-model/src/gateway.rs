//! The one door to all models.
//!
//! A call passes the stages in a fixed order: priority queue, budget, privacy label,
//! limiter and breaker, the provider, settled usage. Its intent is on record before a byte
//! is sent, and its result before anybody acts on it. A charge stays charged even if the
//! process dies.

mod attempt;
mod call;
mod desk;
mod drive;
mod entries;
mod estimate;
mod health;
mod hold;
mod intend;
mod live;
mod settle;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use artel_rules::breaker::BreakerThresholds;
use artel_types::model::Provider;
use artel_types::{Clock, ConfiguredSpendLimits, Event, Failure, SecretDetector, SecretRedactor};
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::{mpsc, watch};

use crate::book::{GatewayStore, RecordedProviderHealth};
use crate::choose::ChosenModel;
use desk::SharedLedger;
use drive::ModelCallDriver;
use health::ProviderHealth;

pub use call::{
    ModelCall, ModelCallContext, ModelCallError, ModelCallProgress, ModelCallReply, ModelCallWait,
    PendingModelCall,
};

/// Number of reply chunks that may wait for a slow reader before the provider has to wait.
const PIECES_IN_FLIGHT: usize = 100;

/// A pending append that a call depends on. It resolves once that is durable.
pub type Owed = Shared<BoxFuture<'static, Result<(), Failure>>>;

/// Everything that a gateway is built from.
#[derive(Clone)]
pub struct GatewaySetup {
    /// Store for the gateway's events.
    pub book: Arc<dyn GatewayStore>,
    /// Clock for all times.
    pub clock: Clock,
    /// Removes secrets from everything that is sent, shown or recorded.
    pub redactor: SecretRedactor,
    /// Formats of likely secrets, which are removed from replies before anybody uses them.
    pub formats: Option<Arc<dyn SecretDetector>>,
    /// Limits on spending.
    pub limits: ConfiguredSpendLimits,
    /// Number of calls that one provider answers at once.
    pub slots: usize,
    /// Longest total time that a call may wait, for its turn and for a provider to come back.
    pub max_wait: Duration,
    /// Thresholds at which a provider counts as unhealthy.
    pub thresholds: BreakerThresholds,
}

impl GatewaySetup {
    /// Returns the redactor for replies of models.
    pub(crate) fn of_replies(&self) -> SecretRedactor {
        match &self.formats {
            Some(formats) => self.redactor.clone().with_formats(Arc::clone(formats)),
            None => self.redactor.clone(),
        }
    }
}

/// The one door to all models. Clones share everything.
#[derive(Clone)]
pub struct Gateway {
    inner: Arc<SharedGateway>,
    /// Number of open calls that this handle and its clones began.
    under_way: Arc<watch::Sender<usize>>,
}

/// A handle that does not keep the gateway open.
#[derive(Debug, Clone)]
pub struct WeakGateway(Weak<SharedGateway>);

pub(crate) struct SharedGateway {
    setup: GatewaySetup,
    /// Actor name by which this gateway recognizes its own events in the journal.
    name: String,
    desk: SharedLedger,
    health: Mutex<BTreeMap<String, Arc<ProviderHealth>>>,
}

impl Gateway {
    /// Opens the gateway: reads what was spent so far, and which providers are unhealthy.
    pub fn open(setup: GatewaySetup) -> Result<Self, Failure> {
        let desk = SharedLedger::open(&*setup.book)?;
        Ok(Self::of(Arc::new(SharedGateway {
            setup,
            name: format!("gateway-{}", &drive::random_id()[..8]),
            desk,
            health: Mutex::default(),
        })))
    }

    fn of(inner: Arc<SharedGateway>) -> Self {
        Self {
            inner,
            under_way: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Returns a handle that does not keep the gateway open.
    pub fn downgrade(&self) -> WeakGateway {
        WeakGateway(Arc::downgrade(&self.inner))
    }

    /// Begins a call. It runs on its own, on the caller's async runtime. Dropping the returned
    /// value cancels it; whatever had come by then is paid for and recorded.
    pub fn call(&self, call: ModelCall) -> PendingModelCall {
        self.begin(call, None)
    }

    /// Begins a call that depends on a pending append. The request is sent once that append is
    /// durable; the call has to wait for its own intent to be recorded anyway.
    pub fn call_after(&self, call: ModelCall, owed: Owed) -> PendingModelCall {
        self.begin(call, Some(owed))
    }

    fn begin(&self, call: ModelCall, owed: Option<Owed>) -> PendingModelCall {
        let (sender, pieces) = mpsc::channel(PIECES_IN_FLIGHT);
        let drive = ModelCallDriver::new(self.clone(), call, owed, sender);
        let counted = ModelCallGuard::begin(&self.under_way);
        tokio::spawn(async move {
            drive.run().await;
            drop(counted);
        });
        PendingModelCall::new(pieces)
    }

    /// Waits, at most `patience`, until no call of this handle is open, so that cancelled calls
    /// are settled before the process ends.
    pub async fn rest(&self, patience: Duration) {
        let mut under_way = self.under_way.subscribe();
        let quiet = under_way.wait_for(|count| *count == 0);
        // A call that is not done by then stays charged as unknown, as if the process had died.
        drop(tokio::time::timeout(patience, quiet).await);
    }

    pub(crate) fn setup(&self) -> &GatewaySetup {
        &self.inner.setup
    }

    pub(crate) fn desk(&self) -> &SharedLedger {
        &self.inner.desk
    }

    pub(crate) fn name(&self) -> &str {
        &self.inner.name
    }

    /// Returns the health of a provider, creating it on first use. A rehearsal has a health of
    /// its own, which is not recorded.
    pub(crate) async fn health(
        &self,
        chosen: &ChosenModel,
    ) -> Result<Arc<ProviderHealth>, Failure> {
        let is_rehearsal = chosen.entry.provider == Provider::Rehearsal;
        let name = chosen.health_name();
        let key = if is_rehearsal {
            format!("{name}:{}", chosen.entry.model)
        } else {
            name.clone()
        };
        if let Some(health) = self.known_health(&key) {
            return Ok(health);
        }
        let setup = &self.inner.setup;
        let standing = if is_rehearsal {
            RecordedProviderHealth::default()
        } else {
            self.inner.desk.turn(self).await?.standing(&name)
        };
        let mut known = self.lock_health();
        let clock = setup.clock.clone();
        let fresh = || {
            Arc::new(ProviderHealth::new(
                &name,
                setup.slots,
                setup.thresholds,
                clock,
                &standing,
            ))
        };
        Ok(known.entry(key).or_insert_with(fresh).clone())
    }

    /// Takes in an event about a provider that another process recorded.
    pub(crate) fn learn(&self, event: &Event) {
        let name = crate::book::provider_of(&event.fact);
        if let Some(health) = name.and_then(|name| self.known_health(name)) {
            health.learn(event);
        }
    }

    fn known_health(&self, name: &str) -> Option<Arc<ProviderHealth>> {
        self.lock_health().get(name).cloned()
    }

    fn lock_health(&self) -> MutexGuard<'_, BTreeMap<String, Arc<ProviderHealth>>> {
        self.inner
            .health
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl WeakGateway {
    /// Returns the gateway if it is still open, as a handle that counts its own calls.
    pub fn upgrade(&self) -> Option<Gateway> {
        self.0.upgrade().map(Gateway::of)
    }
}

/// Counts a call as open until dropped.
struct ModelCallGuard(Arc<watch::Sender<usize>>);

impl ModelCallGuard {
    fn begin(under_way: &Arc<watch::Sender<usize>>) -> Self {
        under_way.send_modify(|count| *count += 1);
        Self(Arc::clone(under_way))
    }
}

impl Drop for ModelCallGuard {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway")
            .field("limits", &self.inner.setup.limits)
            .finish_non_exhaustive()
    }
}
