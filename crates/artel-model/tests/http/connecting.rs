//! Nobody there, nobody known, nobody to trust.

use std::net::Ipv4Addr;

use artel_model::ModelAddress;
use artel_testkit::standin::{Answer, Format, StandIn};
use artel_types::model::{ModelFault, ModelFaultKind};
use tokio::net::TcpSocket;

use crate::servers;
use crate::support::*;

async fn fault_at(format: Format, url: impl Into<String>) -> ModelFault {
    let heard = hear(&remote(format, url), &question()).await;
    assert_eq!(heard.chunks, []);
    let fault = heard.fault().clone();
    assert!(!format!("{fault:?}").contains(KEY), "{fault:?}");
    fault
}

#[tokio::test]
async fn nobody_listens_there() {
    // The port is taken, so that nobody else can begin to listen on it; but nobody listens.
    let taken = TcpSocket::new_v4().unwrap();
    taken.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let place = taken.local_addr().unwrap();
    for format in Format::ALL {
        let fault = fault_at(format, format!("http://{place}")).await;
        assert_eq!(fault.kind, ModelFaultKind::Unreachable, "{fault}");
        let looked = remote(format, format!("http://{place}")).look().await;
        assert_eq!(looked.unwrap_err().kind, ModelFaultKind::Unreachable);
    }
}

#[tokio::test]
async fn a_name_that_nobody_has() {
    let fault = fault_at(Format::Chat, "http://nobody.invalid/v1").await;
    assert_eq!(fault.kind, ModelFaultKind::Network, "{fault}");
}

/// An address that is none is the person's mistake, and no reason to try again.
#[tokio::test]
async fn an_address_that_is_none() {
    for url in ["", "api.example.com", "http://:80", "ftp://example.com"] {
        let fault = fault_at(Format::Chat, url).await;
        assert_eq!(fault.kind, ModelFaultKind::BadRequest, "`{url}`: {fault}");
    }
}

/// A server that speaks no TLS at all.
#[tokio::test]
async fn a_server_that_cannot_be_trusted_because_it_speaks_in_the_clear() {
    let stand_in = StandIn::start(Format::Anthropic, []);
    let url = stand_in.url().replace("http:", "https:");
    let fault = fault_at(Format::Anthropic, url).await;
    assert_eq!(fault.kind, ModelFaultKind::Untrusted, "{fault}");
    assert_eq!(stand_in.seen(), []);
}

#[tokio::test]
async fn a_server_that_cannot_be_trusted_because_nobody_vouches_for_it() {
    let (place, server) = servers::untrusted();
    let fault = fault_at(Format::Anthropic, format!("https://{place}")).await;
    assert_eq!(fault.kind, ModelFaultKind::Untrusted, "{fault}");
    assert!(fault.message.contains("certificate"), "{fault}");
    let said = tokio::task::spawn_blocking(|| server.join().unwrap());
    assert_eq!(said.await.unwrap(), b"", "the key stayed here");
}

#[tokio::test]
async fn hung_up_without_a_word() {
    for format in Format::ALL {
        let heard = hear_answer(format, Answer::hang_up()).await;
        assert_eq!(heard.fault().kind, ModelFaultKind::Network, "{heard:?}");
    }
}

/// A key must not travel to a place that nobody configured.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    for format in Format::ALL {
        for status in [301, 302, 307, 308] {
            let elsewhere = StandIn::start(format, [Answer::says("Hi.").repeating()]);
            let answer = Answer::status(status)
                .header("location", &elsewhere.url())
                .body("");
            let fault = hear_answer(format, answer).await.fault().clone();
            assert_eq!(
                (fault.kind, fault.status),
                (ModelFaultKind::BadRequest, Some(status)),
                "{fault}"
            );
            assert_eq!(elsewhere.seen(), []);
        }
    }
}

/// A key that cannot stand in a header is no key.
#[tokio::test]
async fn a_key_that_cannot_be_sent() {
    for key in ["sk-two\nlines", "sk-nul\0"] {
        let stand_in = StandIn::start(Format::Anthropic, [Answer::says("Hi.")]);
        let address = ModelAddress {
            key: Some(artel_types::Secret::new(key)),
            ..address(Format::Anthropic, stand_in.url())
        };
        let heard = hear(&reach(straight(), address), &question()).await;
        assert_eq!(heard.fault().kind, ModelFaultKind::Key, "{heard:?}");
        assert_eq!(stand_in.seen(), [], "nothing is sent without its key");
    }
}

/// To make a connection takes a provider far away a good part of a second: it is used again.
#[tokio::test]
async fn one_call_after_the_other_uses_one_connection() {
    for format in Format::ALL {
        let stand_in = StandIn::start(format, [Answer::says("Hi.").repeating()]);
        let url = stand_in.url();
        let place = url.split('/').nth(2).unwrap();
        let relay = servers::Relay::before(place.to_owned()).await;
        let url = url.replace(place, &relay.address().to_string());
        let remote = remote(format, url);
        for _ in 0..50 {
            assert_eq!(hear(&remote, &question()).await.fault, None);
        }
        // On a busy machine the end of an answer may once come too late.
        let count = relay.count();
        assert!(count <= 3, "{format:?}: {count} connections");
    }
}
