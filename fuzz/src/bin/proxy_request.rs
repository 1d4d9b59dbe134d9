//! Requests to the filtering proxy: one host in one spelling, or a refusal.
//!
//! The input is what a command sends first; it is read as a head of HTTP and as SOCKS 5.
#![no_main]

use artel_sandbox::GrantedHost;
use artel_sandbox::proxy::{ProxyRequest, SocksRequest};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Ok(request) = ProxyRequest::parse(input) {
        check_host(request.host());
        if let Some(head) = request.forwarded() {
            check_forwarded(head, &request);
        }
    }
    if let Ok(Some((request, length))) = SocksRequest::parse(input) {
        check_host(request.host());
        let alone = SocksRequest::parse(&input[..length]);
        assert_eq!(
            alone,
            Ok(Some((request, length))),
            "what follows is not read"
        );
    }
});

fn check_host(host: GrantedHost) {
    assert!(host.port.is_some_and(|port| port > 0));
    assert!(host.name.bytes().all(|byte| byte.is_ascii_graphic()));
    assert_eq!(
        GrantedHost::parse(&host.to_string()),
        Ok(host),
        "one spelling"
    );
}

/// What goes out is one head, with one host in it: the one that was judged.
fn check_forwarded(head: &[u8], request: &ProxyRequest) {
    let inside = head.strip_suffix(b"\r\n\r\n").expect("a whole head");
    let lines: Vec<_> = inside.split(|byte| *byte == b'\n').collect();
    assert!(lines.iter().all(|line| !line.is_empty() && *line != b"\r"));
    let named = |line: &&&[u8]| line.to_ascii_lowercase().starts_with(b"host:");
    let hosts: Vec<_> = lines.iter().skip(1).filter(named).collect();
    assert_eq!(hosts.len(), 1, "one host");
    let mut host = request.host();
    host.port = host.port.filter(|port| *port != 80);
    assert_eq!(
        hosts[0].trim_ascii_end(),
        format!("Host: {host}").as_bytes()
    );
}
