//! Limits of time and number, and the end of the proxy.

use std::io::{ErrorKind, Read, Write};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use artel_sandbox::proxy::{ProxyAccess, ProxyAccessOutcome, ProxyResolver};

use crate::support::{PUBLIC, Running, World, echo_server, read_head, rest, server};

const TUNNEL: &[u8] = b"CONNECT example.test:443 HTTP/1.1\r\n\r\n";
const SHORT: Duration = Duration::from_millis(60);

fn example(to: std::net::SocketAddr) -> World {
    World::granting(&["example.test"])
        .name("example.test", &[PUBLIC])
        .everywhere(to)
}

fn tunnel(running: &Running) -> std::net::TcpStream {
    let mut stream = running.connect();
    stream.write_all(TUNNEL).unwrap();
    assert!(read_head(&mut stream).starts_with("HTTP/1.1 200 "));
    stream
}

#[test]
fn a_head_that_does_not_come_ends_the_connection() {
    let mut world = example(echo_server());
    world.limits.head = SHORT;
    let running = world.start();
    for begun in [
        "",
        "GET http://exam",
        "CONNECT example.test:443 HTTP/1.1\r\n",
        "\x05",
        "\x05\x01\x00\x05\x01",
    ] {
        let answer = running.say(begun);
        assert!(
            matches!(answer.as_slice(), [] | [5, 0]),
            "{begun:?}: {answer:?}"
        );
    }
    assert_eq!(running.dialled(), []);
}

#[test]
fn a_head_that_comes_byte_by_byte_gains_no_time() {
    let mut world = example(echo_server());
    world.limits.head = SHORT;
    let running = world.start();
    let mut stream = running.connect();
    // Each byte comes well before the time for a whole head is up.
    stream.set_read_timeout(Some(SHORT / 6)).unwrap();
    let ended = (0..500).any(|_| {
        let written = stream.write_all(b"X");
        let waited = stream.read(&mut [0; 64]);
        let goes_on = waited.is_err_and(|cause| cause.kind() == ErrorKind::WouldBlock);
        written.is_err() || !goes_on
    });
    assert!(ended, "the head may take for ever");
}

#[test]
fn a_tunnel_in_which_nothing_moves_ends() {
    let mut world = example(echo_server());
    world.limits.idle = SHORT;
    let mut running = world.start();
    let mut stream = tunnel(&running);
    stream.write_all(b"ping").unwrap();
    assert_eq!(rest(&mut stream), b"ping");
    let passages = running.passages();
    assert_eq!((passages[0].bytes_up, passages[0].bytes_down), (4, 4));
}

#[test]
fn a_look_up_that_hangs_is_given_up_and_keeps_its_place() {
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let mut world = example(echo_server());
    world.limits.connect = SHORT;
    world.limits.connections = 1;
    world.resolver = Some(ProxyResolver::new(move |_| {
        released.lock().unwrap().recv().ok();
        Ok(Vec::new())
    }));
    let mut running = world.start();
    let answer = running.say_text(TUNNEL);
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");

    let mut next = running.connect();
    next.write_all(TUNNEL).unwrap();
    // It would be given up as well if it had a place of its own.
    next.set_read_timeout(Some(SHORT * 5)).unwrap();
    let waited = next.read(&mut [0]).map_err(|cause| cause.kind());
    assert_eq!(
        waited,
        Err(ErrorKind::WouldBlock),
        "the look-up is still there"
    );
    drop(release);
    next.set_read_timeout(None).unwrap();
    assert!(read_head(&mut next).starts_with("HTTP/1.1 502 "));
    let passages = running.passages();
    let unreachable = |p: &ProxyAccess| matches!(p.verdict, ProxyAccessOutcome::Unreachable { .. });
    assert!(passages.iter().all(unreachable), "{passages:?}");
}

#[test]
fn more_than_the_limit_wait_for_a_place() {
    let mut world = example(echo_server());
    world.limits.connections = 2;
    let running = world.start();
    let (first, _second) = (tunnel(&running), tunnel(&running));
    let mut third = running.connect();
    third.write_all(TUNNEL).unwrap();
    assert_eq!(running.proxy.as_ref().unwrap().counts().connections, 2);
    assert_eq!(running.dialled().len(), 2);
    drop(first);
    assert!(read_head(&mut third).starts_with("HTTP/1.1 200 "));
}

#[test]
fn the_end_of_the_proxy_ends_every_wait() {
    let silent = server(|mut stream| {
        rest(&mut stream);
    });
    let (held, holding) = mpsc::channel::<()>();
    let holding = Mutex::new(holding);
    let asked = Arc::new(Mutex::new(mpsc::channel::<()>()));
    let signal = asked.lock().unwrap().0.clone();
    let mut world = example(silent).grant("slow.test");
    world.limits.connections = 5;
    world.resolver = Some(ProxyResolver::new(move |name| {
        if name == "slow.test" {
            signal.send(()).unwrap();
            holding.lock().unwrap().recv().ok();
        }
        Ok(vec![PUBLIC.parse().unwrap()])
    }));
    let mut running = world.start();

    let mut open = tunnel(&running);
    let mut quiet = running.connect();
    let mut half = running.connect();
    half.write_all(b"GET http://example").unwrap();
    let mut fetching = running.connect();
    fetching
        .write_all(b"GET http://example.test/ HTTP/1.1\r\n\r\n")
        .unwrap();
    let mut looking = running.connect();
    looking
        .write_all(b"CONNECT slow.test:443 HTTP/1.1\r\n\r\n")
        .unwrap();
    asked.lock().unwrap().1.recv().unwrap();

    let counts = running.proxy.take().unwrap().stop();
    assert_eq!(counts.connections, 5);
    assert_eq!(counts.refused, 0);
    for stream in [
        &mut open,
        &mut quiet,
        &mut half,
        &mut fetching,
        &mut looking,
    ] {
        assert_eq!(rest(stream), b"");
    }
    drop(held);
}

#[test]
fn memory_stays_bounded_when_nobody_reads() {
    const FAR_TOO_MUCH: usize = 256 << 20;
    let (all, done) = mpsc::channel();
    let all = Mutex::new(all);
    // Sends until the way is full; what it could send is bounded by the buffers.
    let flood = server(move |mut stream| {
        stream.set_write_timeout(Some(SHORT)).unwrap();
        let mut sent = 0_usize;
        while sent < FAR_TOO_MUCH
            && let Ok(length) = stream.write(&[0; 65536])
        {
            sent += length;
        }
        all.lock().unwrap().send(sent).unwrap();
    });
    let running = example(flood).start();
    let _unread = tunnel(&running);
    let sent = done.recv().unwrap();
    assert!(
        sent > 0 && sent < FAR_TOO_MUCH,
        "{sent} bytes are held for nobody"
    );
}
