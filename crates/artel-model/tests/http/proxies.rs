//! Through a proxy, and past all of them.

use artel_testkit::standin::{Answer, Format, StandIn};
use artel_types::model::ModelFaultKind;

use crate::servers::Proxy;
use crate::support::*;

#[tokio::test]
async fn what_goes_in_the_clear_is_passed_on() {
    for format in Format::ALL {
        let proxy = Proxy::start().await;
        let stand_in = StandIn::start(format, [Answer::says("Hi.").repeating()]);
        let connections = connections();
        let straight = connections.through(None).unwrap();
        let through = connections.through(Some(&proxy.url())).unwrap();
        let ask = async |connection| {
            let remote = reach(connection, address(format, stand_in.url()));
            hear(&remote, &question()).await.reply().unwrap().text()
        };
        assert_eq!(ask(straight).await, "Hi.");
        assert_eq!(proxy.heads(), [""; 0], "nothing goes through it unasked");
        assert_eq!(ask(through).await, "Hi.");
        let heads = proxy.heads();
        assert_eq!(heads.len(), 1);
        let place = format!("POST {}", stand_in.url());
        assert!(heads[0].starts_with(&place), "{heads:?}");
        assert_eq!(stand_in.seen().len(), 2);
    }
}

/// The proxy of a provider on the internet sees a name, and neither the question nor the key.
#[tokio::test]
async fn what_is_encrypted_goes_through_a_tunnel() {
    let proxy = Proxy::start().await;
    let through = connections().through(Some(&proxy.url())).unwrap();
    let address = address(Format::Anthropic, "https://nobody.invalid");
    let heard = hear(&reach(through, address), &question()).await;
    // It does not let anybody through.
    assert_eq!(heard.fault().kind, ModelFaultKind::Network, "{heard:?}");
    let heads = proxy.heads();
    assert!(
        heads[0].starts_with("CONNECT nobody.invalid:443 "),
        "{heads:?}"
    );
    assert!(!heads[0].contains(KEY), "{heads:?}");
}

/// A proxy's password is for the proxy alone.
#[tokio::test]
async fn the_password_of_a_proxy_is_shown_to_nobody_else() {
    let proxy = Proxy::start().await;
    let url = format!("http://me:canary-password@{}", proxy.address());
    let connections = connections();
    let through = connections.through(Some(&url)).unwrap();
    let stand_in = StandIn::start(Format::Chat, [Answer::says("Hi.")]);
    let remote = reach(through.clone(), address(Format::Chat, stand_in.url()));
    assert_eq!(hear(&remote, &question()).await.fault, None);
    let heads = proxy.heads();
    assert!(
        heads[0]
            .to_lowercase()
            .contains("proxy-authorization: basic"),
        "{heads:?}"
    );

    let nowhere = reach(
        through.clone(),
        address(Format::Chat, "https://nobody.invalid"),
    );
    let heard = hear(&nowhere, &question()).await;
    let odd = connections
        .through(Some("http://me:canary-password@["))
        .unwrap_err();
    let shown = format!("{heard:?} {through:?} {connections:?} {remote:?} {odd:?}");
    // In base64 it looks like this.
    for secret in ["canary", "bWU6Y2FuYXJ5"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_there() {
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", taken.local_addr().unwrap());
    let through = connections().through(Some(&url)).unwrap();
    let stand_in = StandIn::start(Format::Ollama, [Answer::says("Hi.")]);
    let remote = reach(through, address(Format::Ollama, stand_in.url()));
    let heard = hear(&remote, &question()).await;
    assert_eq!(heard.fault().kind, ModelFaultKind::Unreachable, "{heard:?}");
    assert_eq!(stand_in.seen(), [], "it is not gone around");
}
