//! One connection from inside: what it asks for, how it is answered, which bytes pass.
//!
//! The first byte tells the protocol; if it begins none, the connection ends.

use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

use super::ProxySharedState;
use super::client::ProxyClient;
use super::grants::TargetRefusedError;
use super::host::{HostParseError, ProxyTarget, ProxyTargetHost};
use super::open::{HostUnreachableError, ProxyOpenError, open};
use super::page::ProxyErrorPage;
use super::passage::ProxyAccessOutcome;
use super::relay::{RelayDirection, RelayEndCondition, RelayFilter, relay};
use super::request::{ProxyRequest, ProxyRequestError, ProxyRequestKind};
use super::response::RelayedResponse;
use super::socks::{self, SocksReply, SocksRequest, SocksRequestError};
use super::wait::{ConnectionSlot, ProxyDeadline, ProxyWaitError};
use crate::sandbox::ProxyDoorKind;

pub(crate) struct ProxyConnection<'a> {
    shared: &'a ProxySharedState,
    client: ProxyClient<'a>,
    slot: Arc<ConnectionSlot>,
}

impl<'a> ProxyConnection<'a> {
    pub(crate) fn new(
        shared: &'a ProxySharedState,
        client: TcpStream,
        slot: ConnectionSlot,
    ) -> Self {
        let patience = shared.reach.limits.head;
        Self {
            shared,
            client: ProxyClient::new(client, &shared.stop, patience),
            slot: Arc::new(slot),
        }
    }

    /// Serves the connection to its end. Whatever ends it early has already been reported.
    pub(crate) fn serve(mut self, kind: ProxyDoorKind) {
        let served = match kind {
            ProxyDoorKind::Proxy => self.serve_proxy(),
            ProxyDoorKind::Address(address) => self.serve_address(address),
        };
        if let Err(ProxyWaitError::Late | ProxyWaitError::Failed(_)) | Ok(()) = served {
            self.client.linger().ok();
        }
        self.client.stream.shutdown(Shutdown::Both).ok();
    }

    fn serve_proxy(&mut self) -> Result<(), ProxyWaitError> {
        let deadline = ProxyDeadline::after(self.shared.reach.limits.head)?;
        if !self.client.read_more(&deadline)? {
            return Ok(());
        }
        match self.client.came[0] {
            5 => self.serve_socks(&deadline),
            4 => {
                self.report_refusal("", 0, "SOCKS 4 is not spoken here, use SOCKS 5");
                self.client.send(&socks::REJECTED_BY_4)
            }
            first if first.is_ascii_alphabetic() => self.serve_http(&deadline),
            _ => {
                self.report_refusal("", 0, "neither HTTP nor SOCKS 5");
                Ok(())
            }
        }
    }

    /// Serves a door that stands for one address, if that address was granted.
    fn serve_address(&mut self, address: SocketAddr) -> Result<(), ProxyWaitError> {
        let target = match ProxyTargetHost::address(address.ip()) {
            Ok(name) => ProxyTarget {
                name,
                port: address.port(),
            },
            Err(fault) => {
                let bad = HostParseError::new(address.to_string().as_bytes(), fault);
                self.report_refusal(&bad.text, address.port(), &bad.fault.to_string());
                return Ok(());
            }
        };
        match self.open(&target) {
            Ok((upstream, address)) => self.tunnel(&target, &upstream, address),
            Err(ProxyOpenError::Stopped) => Err(ProxyWaitError::Stopped),
            Err(_) => Ok(()),
        }
    }

    fn serve_http(&mut self, deadline: &ProxyDeadline) -> Result<(), ProxyWaitError> {
        let Some(head) = self.client.read_head(deadline)? else {
            let why = "the head of the request has no end within 32 KiB";
            self.report_refusal("", 0, why);
            let page = ProxyErrorPage::new("431 Request Header Fields Too Large").what(why);
            return self.client.send(&page.bytes());
        };
        let request = match ProxyRequest::parse(&head) {
            Ok(request) => request,
            Err(bad) => return self.refuse_request(&bad),
        };
        match self.open(&request.target) {
            Ok((upstream, address)) => self.run_errand(request, &upstream, address),
            Err(ProxyOpenError::Stopped) => Err(ProxyWaitError::Stopped),
            Err(ProxyOpenError::Refused(refused)) => self
                .client
                .send(&ProxyErrorPage::refusing(&refused).bytes()),
            Err(ProxyOpenError::Unreachable(why)) => {
                let status = match why {
                    HostUnreachableError::Late => "504 Gateway Timeout",
                    HostUnreachableError::NoAddress(_) | HostUnreachableError::Failed(_) => {
                        "502 Bad Gateway"
                    }
                };
                let what = format!("could not reach {}: {why}", request.host());
                self.client
                    .send(&ProxyErrorPage::new(status).what(&what).bytes())
            }
        }
    }

    fn run_errand(
        &mut self,
        request: ProxyRequest,
        upstream: &TcpStream,
        address: SocketAddr,
    ) -> Result<(), ProxyWaitError> {
        let target = request.target;
        let (head, body, answer, waits) = match request.errand {
            ProxyRequestKind::Tunnel => {
                self.tell(
                    &target,
                    address,
                    b"HTTP/1.1 200 Connection established\r\n\r\n",
                )?;
                return self.tunnel(&target, upstream, address);
            }
            ProxyRequestKind::Fetch {
                head,
                body,
                answer,
                waits,
            } => (head, body, answer, waits),
        };
        if waits {
            self.tell(&target, address, b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let came = std::mem::take(&mut self.client.came);
        let mut up =
            RelayDirection::new(&self.client.stream, upstream, RelayFilter::Body(body), came)
                .begin_with(head);
        let response = RelayFilter::Response(RelayedResponse::to(answer));
        let mut down = RelayDirection::new(upstream, &self.client.stream, response, Vec::new());
        let moved = self.relay(
            &target,
            address,
            (&mut up, &mut down),
            RelayEndCondition::Answered,
        );
        let unanswered = down.is_broken() && down.gone() == 0;
        moved?;
        if unanswered {
            let what = format!("{} gave no answer that is HTTP", target.host());
            return self
                .client
                .send(&ProxyErrorPage::new("502 Bad Gateway").what(&what).bytes());
        }
        Ok(())
    }

    fn serve_socks(&mut self, deadline: &ProxyDeadline) -> Result<(), ProxyWaitError> {
        let Some(answer) = self.read_socks(deadline, socks::greeting)? else {
            return Ok(());
        };
        self.client.send(&answer)?;
        if answer == socks::NOT_ACCEPTABLE {
            self.report_refusal("", 0, "SOCKS 5 with a password only");
            return Ok(());
        }
        let parse = |input: &[u8]| {
            let parsed = SocksRequest::parse(input)?;
            Ok(parsed.map(|(request, length)| (length, request.target)))
        };
        let Some(target) = self.read_socks(deadline, parse)? else {
            return Ok(());
        };
        match self.open(&target) {
            Ok((upstream, address)) => {
                self.tell(&target, address, &SocksReply::Connected.bytes())?;
                self.tunnel(&target, &upstream, address)
            }
            Err(ProxyOpenError::Stopped) => Err(ProxyWaitError::Stopped),
            Err(ProxyOpenError::Refused(_)) => self.client.send(&SocksReply::NotAllowed.bytes()),
            Err(ProxyOpenError::Unreachable(_)) => {
                self.client.send(&SocksReply::Unreachable.bytes())
            }
        }
    }

    /// Reads until a part of the conversation is complete. A bad one is answered and reported.
    fn read_socks<T>(
        &mut self,
        deadline: &ProxyDeadline,
        parse: impl Fn(&[u8]) -> Result<Option<(usize, T)>, SocksRequestError>,
    ) -> Result<Option<T>, ProxyWaitError> {
        loop {
            match parse(&self.client.came) {
                Ok(Some((length, part))) => {
                    self.client.came.drain(..length);
                    return Ok(Some(part));
                }
                Ok(None) => {}
                Err(bad) => {
                    let host = match &bad {
                        SocksRequestError::Host(bad) => bad.text.as_str(),
                        _ => "",
                    };
                    self.report_refusal(host, 0, &bad.to_string());
                    self.client.send(&bad.reply().bytes())?;
                    return Ok(None);
                }
            }
            if !self.client.read_more(deadline)? {
                return Ok(None);
            }
        }
    }

    fn refuse_request(&mut self, bad: &ProxyRequestError) -> Result<(), ProxyWaitError> {
        let host = match bad {
            ProxyRequestError::Host(bad) => bad.text.as_str(),
            _ => "",
        };
        self.report_refusal(host, 0, &bad.to_string());
        let page = match bad {
            ProxyRequestError::Host(bad) => {
                ProxyErrorPage::refusing(&TargetRefusedError::Spelling(bad.clone()))
            }
            _ => ProxyErrorPage::new(bad.status()).what(&bad.to_string()),
        };
        self.client.send(&page.bytes())
    }

    /// Opens a target, and reports a failure.
    fn open(&self, target: &ProxyTarget) -> Result<(TcpStream, SocketAddr), ProxyOpenError> {
        let shared = self.shared;
        let opened = open(
            target,
            &shared.grants,
            &shared.reach,
            &shared.stop,
            &self.slot,
        );
        let verdict = match &opened {
            Ok((upstream, _)) => {
                // Otherwise small messages would wait for each other. If this fails, the
                // connection is only slower.
                upstream.set_nodelay(true).ok();
                return opened;
            }
            Err(ProxyOpenError::Stopped) => return opened,
            Err(ProxyOpenError::Refused(refused)) => ProxyAccessOutcome::Refused {
                why: refused.to_string(),
            },
            Err(ProxyOpenError::Unreachable(why)) => ProxyAccessOutcome::Unreachable {
                why: why.to_string(),
            },
        };
        shared.report(&target.name.to_string(), target.port, verdict, (0, 0));
        opened
    }

    /// Tells the client that it is connected. If the client is gone, the connection is still
    /// reported, because it was made.
    fn tell(
        &mut self,
        target: &ProxyTarget,
        address: SocketAddr,
        words: &[u8],
    ) -> Result<(), ProxyWaitError> {
        let told = self.client.send(words);
        if told.is_err() {
            self.report_passage(target, address, (0, 0));
        }
        told
    }

    fn tunnel(
        &mut self,
        target: &ProxyTarget,
        upstream: &TcpStream,
        address: SocketAddr,
    ) -> Result<(), ProxyWaitError> {
        let came = std::mem::take(&mut self.client.came);
        let mut up =
            RelayDirection::new(&self.client.stream, upstream, RelayFilter::Everything, came);
        let mut down = RelayDirection::new(
            upstream,
            &self.client.stream,
            RelayFilter::Everything,
            Vec::new(),
        );
        self.relay(
            target,
            address,
            (&mut up, &mut down),
            RelayEndCondition::Both,
        )
    }

    /// Relays bytes and reports the connection.
    fn relay(
        &self,
        target: &ProxyTarget,
        address: SocketAddr,
        (up, down): (&mut RelayDirection<'_>, &mut RelayDirection<'_>),
        over: RelayEndCondition,
    ) -> Result<(), ProxyWaitError> {
        let shared = self.shared;
        let moved = relay(up, down, over, &shared.stop, shared.reach.limits.idle);
        self.report_passage(target, address, (up.gone(), down.gone()));
        moved
    }

    fn report_passage(&self, target: &ProxyTarget, address: SocketAddr, bytes: (u64, u64)) {
        let verdict = ProxyAccessOutcome::Allowed { address };
        let name = target.name.to_string();
        self.shared.report(&name, target.port, verdict, bytes);
    }

    fn report_refusal(&self, host: &str, port: u16, why: &str) {
        let why = why.to_owned();
        let verdict = ProxyAccessOutcome::Refused { why };
        self.shared.report(host, port, verdict, (0, 0));
    }
}
