//! One connection from inside: what it asks for, how it is answered, which bytes pass.
//!
//! The first byte tells the protocol; if it begins none, the connection ends.

use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

use super::Shared;
use super::client::Client;
use super::grants::Refused;
use super::host::{BadHost, Name, Target};
use super::open::{NotOpened, Unreachable, open};
use super::page::Page;
use super::passage::Verdict;
use super::relay::{Filter, Over, Pump, relay};
use super::request::{BadRequest, Errand, Request};
use super::response::Response;
use super::socks::{self, BadSocks, Reply, SocksRequest};
use super::wait::{Deadline, Ended, Slot};
use crate::sandbox::DoorKind;

pub(crate) struct Connection<'a> {
    shared: &'a Shared,
    client: Client<'a>,
    slot: Arc<Slot>,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(shared: &'a Shared, client: TcpStream, slot: Slot) -> Self {
        let patience = shared.reach.limits.head;
        Self {
            shared,
            client: Client::new(client, &shared.stop, patience),
            slot: Arc::new(slot),
        }
    }

    /// Serves the connection to its end. Whatever ends it early has already been reported.
    pub(crate) fn serve(mut self, kind: DoorKind) {
        let served = match kind {
            DoorKind::Proxy => self.serve_proxy(),
            DoorKind::Address(address) => self.serve_address(address),
        };
        if let Err(Ended::Late | Ended::Failed(_)) | Ok(()) = served {
            self.client.linger().ok();
        }
        self.client.stream.shutdown(Shutdown::Both).ok();
    }

    fn serve_proxy(&mut self) -> Result<(), Ended> {
        let deadline = Deadline::after(self.shared.reach.limits.head)?;
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
    fn serve_address(&mut self, address: SocketAddr) -> Result<(), Ended> {
        let target = match Name::address(address.ip()) {
            Ok(name) => Target {
                name,
                port: address.port(),
            },
            Err(fault) => {
                let bad = BadHost::new(address.to_string().as_bytes(), fault);
                self.report_refusal(&bad.text, address.port(), &bad.fault.to_string());
                return Ok(());
            }
        };
        match self.open(&target) {
            Ok((upstream, address)) => self.tunnel(&target, &upstream, address),
            Err(NotOpened::Stopped) => Err(Ended::Stopped),
            Err(_) => Ok(()),
        }
    }

    fn serve_http(&mut self, deadline: &Deadline) -> Result<(), Ended> {
        let Some(head) = self.client.read_head(deadline)? else {
            let why = "the head of the request has no end within 32 KiB";
            self.report_refusal("", 0, why);
            let page = Page::new("431 Request Header Fields Too Large").what(why);
            return self.client.send(&page.bytes());
        };
        let request = match Request::parse(&head) {
            Ok(request) => request,
            Err(bad) => return self.refuse_request(&bad),
        };
        match self.open(&request.target) {
            Ok((upstream, address)) => self.run_errand(request, &upstream, address),
            Err(NotOpened::Stopped) => Err(Ended::Stopped),
            Err(NotOpened::Refused(refused)) => self.client.send(&Page::refusing(&refused).bytes()),
            Err(NotOpened::Unreachable(why)) => {
                let status = match why {
                    Unreachable::Late => "504 Gateway Timeout",
                    Unreachable::NoAddress(_) | Unreachable::Failed(_) => "502 Bad Gateway",
                };
                let what = format!("could not reach {}: {why}", request.host());
                self.client.send(&Page::new(status).what(&what).bytes())
            }
        }
    }

    fn run_errand(
        &mut self,
        request: Request,
        upstream: &TcpStream,
        address: SocketAddr,
    ) -> Result<(), Ended> {
        let target = request.target;
        let (head, body, answer, waits) = match request.errand {
            Errand::Tunnel => {
                self.tell(
                    &target,
                    address,
                    b"HTTP/1.1 200 Connection established\r\n\r\n",
                )?;
                return self.tunnel(&target, upstream, address);
            }
            Errand::Fetch {
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
            Pump::new(&self.client.stream, upstream, Filter::Body(body), came).begin_with(head);
        let response = Filter::Response(Response::to(answer));
        let mut down = Pump::new(upstream, &self.client.stream, response, Vec::new());
        let moved = self.relay(&target, address, (&mut up, &mut down), Over::Answered);
        let unanswered = down.is_broken() && down.gone() == 0;
        moved?;
        if unanswered {
            let what = format!("{} gave no answer that is HTTP", target.host());
            return self
                .client
                .send(&Page::new("502 Bad Gateway").what(&what).bytes());
        }
        Ok(())
    }

    fn serve_socks(&mut self, deadline: &Deadline) -> Result<(), Ended> {
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
                self.tell(&target, address, &Reply::Connected.bytes())?;
                self.tunnel(&target, &upstream, address)
            }
            Err(NotOpened::Stopped) => Err(Ended::Stopped),
            Err(NotOpened::Refused(_)) => self.client.send(&Reply::NotAllowed.bytes()),
            Err(NotOpened::Unreachable(_)) => self.client.send(&Reply::Unreachable.bytes()),
        }
    }

    /// Reads until a part of the conversation is complete. A bad one is answered and reported.
    fn read_socks<T>(
        &mut self,
        deadline: &Deadline,
        parse: impl Fn(&[u8]) -> Result<Option<(usize, T)>, BadSocks>,
    ) -> Result<Option<T>, Ended> {
        loop {
            match parse(&self.client.came) {
                Ok(Some((length, part))) => {
                    self.client.came.drain(..length);
                    return Ok(Some(part));
                }
                Ok(None) => {}
                Err(bad) => {
                    let host = match &bad {
                        BadSocks::Host(bad) => bad.text.as_str(),
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

    fn refuse_request(&mut self, bad: &BadRequest) -> Result<(), Ended> {
        let host = match bad {
            BadRequest::Host(bad) => bad.text.as_str(),
            _ => "",
        };
        self.report_refusal(host, 0, &bad.to_string());
        let page = match bad {
            BadRequest::Host(bad) => Page::refusing(&Refused::Spelling(bad.clone())),
            _ => Page::new(bad.status()).what(&bad.to_string()),
        };
        self.client.send(&page.bytes())
    }

    /// Opens a target, and reports a failure.
    fn open(&self, target: &Target) -> Result<(TcpStream, SocketAddr), NotOpened> {
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
            Err(NotOpened::Stopped) => return opened,
            Err(NotOpened::Refused(refused)) => Verdict::Refused {
                why: refused.to_string(),
            },
            Err(NotOpened::Unreachable(why)) => Verdict::Unreachable {
                why: why.to_string(),
            },
        };
        shared.report(&target.name.to_string(), target.port, verdict, (0, 0));
        opened
    }

    /// Tells the client that it is connected. If the client is gone, the connection is still
    /// reported, because it was made.
    fn tell(&mut self, target: &Target, address: SocketAddr, words: &[u8]) -> Result<(), Ended> {
        let told = self.client.send(words);
        if told.is_err() {
            self.report_passage(target, address, (0, 0));
        }
        told
    }

    fn tunnel(
        &mut self,
        target: &Target,
        upstream: &TcpStream,
        address: SocketAddr,
    ) -> Result<(), Ended> {
        let came = std::mem::take(&mut self.client.came);
        let mut up = Pump::new(&self.client.stream, upstream, Filter::Everything, came);
        let mut down = Pump::new(
            upstream,
            &self.client.stream,
            Filter::Everything,
            Vec::new(),
        );
        self.relay(target, address, (&mut up, &mut down), Over::Both)
    }

    /// Relays bytes and reports the connection.
    fn relay(
        &self,
        target: &Target,
        address: SocketAddr,
        (up, down): (&mut Pump<'_>, &mut Pump<'_>),
        over: Over,
    ) -> Result<(), Ended> {
        let shared = self.shared;
        let moved = relay(up, down, over, &shared.stop, shared.reach.limits.idle);
        self.report_passage(target, address, (up.gone(), down.gone()));
        moved
    }

    fn report_passage(&self, target: &Target, address: SocketAddr, bytes: (u64, u64)) {
        let verdict = Verdict::Allowed { address };
        let name = target.name.to_string();
        self.shared.report(&name, target.port, verdict, bytes);
    }

    fn report_refusal(&self, host: &str, port: u16, why: &str) {
        let why = why.to_owned();
        let verdict = Verdict::Refused { why };
        self.shared.report(host, port, verdict, (0, 0));
    }
}
