//! Waits for an answer without an async runtime.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a future that another thread completes.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
            return answer;
        }
        std::thread::yield_now();
    }
}
