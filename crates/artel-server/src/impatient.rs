//! Closes connections whose client stops reading, so that others can use the place.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Time limit for a client that leaves data unread.
const LONGEST: Duration = Duration::from_secs(30);

/// A stream that fails if writes stall for too long.
pub(crate) struct WriteTimeoutStream<S> {
    inner: S,
    /// Time limit of the stalled write; `None` while no write is stalled.
    limit: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeoutStream<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner, limit: None }
    }

    /// Returns the result of a write attempt, or a timeout if writes have stalled too long.
    fn judged<T>(
        &mut self,
        context: &mut Context<'_>,
        tried: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if tried.is_ready() {
            self.limit = None;
            return tried;
        }
        let limit = self.limit.get_or_insert_with(|| Box::pin(sleep(LONGEST)));
        match limit.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.judged(context, tried)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.inner).poll_write_vectored(context, parts);
        self.judged(context, tried)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let tried = Pin::new(&mut self.inner).poll_flush(context);
        self.judged(context, tried)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let tried = Pin::new(&mut self.inner).poll_shutdown(context);
        self.judged(context, tried)
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_nothing_for_long_is_let_go() {
        let (ours, _theirs) = duplex(16);
        let mut ours = WriteTimeoutStream::new(ours);
        let began = Instant::now();
        let failed = ours.write_all(&[b'x'; 64]).await.unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::TimedOut);
        assert!(began.elapsed() >= LONGEST);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_slow_gets_everything() {
        let (ours, mut theirs) = duplex(16);
        let mut ours = WriteTimeoutStream::new(ours);
        let sends = tokio::spawn(async move { ours.write_all(&[b'x'; 64]).await });
        let mut taken = [0; 16];
        for _ in 0..4 {
            sleep(LONGEST / 2).await;
            theirs.read_exact(&mut taken).await.unwrap();
        }
        sends.await.unwrap().unwrap();
    }
}
