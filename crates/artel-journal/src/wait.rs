//! Waits for a future outside of async code, by parking the thread.
//!
//! Unlike the blocking calls of a runtime, this also works on a runtime's own threads.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use tokio::task::coop::unconstrained;

/// Length of one park. A park may end early for no reason; counting slices keeps a limit
/// without a clock.
const SLICE: Duration = Duration::from_millis(5);

/// Waits for as long as it takes.
pub(crate) fn until_done<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Some(answer) = within(future.as_mut(), Duration::from_secs(3600)) {
            return answer;
        }
    }
}

/// Waits for at most `limit`. Returns `None` if the future was not ready by then.
pub(crate) fn within<T>(future: Pin<&mut impl Future<Output = T>>, limit: Duration) -> Option<T> {
    // On a runtime's thread, a task may poll only so often before it has to yield. Nothing
    // yields here, so once that budget is used up, every poll would be pending, forever.
    let mut future = pin!(unconstrained(future));
    let waker = Waker::from(Arc::new(ThreadWaker(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    for _ in 0..=limit.as_millis().div_ceil(SLICE.as_millis()) {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
            return Some(answer);
        }
        std::thread::park_timeout(SLICE);
    }
    None
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn a_task_may_wait_as_often_as_it_likes() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.build().unwrap();
        let waited = runtime.block_on(async {
            let wait = |number: u32| {
                let (sender, receiver) = oneshot::channel();
                sender.send(number).unwrap();
                within(pin!(receiver), Duration::from_secs(1))
            };
            (0..1_000).map_while(wait).count()
        });
        assert_eq!(waited, 1_000);
    }
}
