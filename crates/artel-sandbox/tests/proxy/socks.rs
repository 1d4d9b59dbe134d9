//! SOCKS 5, and the versions and commands that are not spoken.

use std::io::{Read, Write};
use std::net::Shutdown;

use crate::support::{PUBLIC, Running, World, echo_server, rest};

const HELLO: &[u8] = &[5, 1, 0];

fn example() -> Running {
    World::granting(&["example.test", "127.0.0.1:8080", "[::1]:8080"])
        .name("example.test", &[PUBLIC])
        .name("inside.test", &["10.0.0.1"])
        .grant("inside.test")
        .everywhere(echo_server())
        .start()
}

fn by_name(name: &[u8], port: u16) -> Vec<u8> {
    let mut request = vec![5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
    request.extend_from_slice(name);
    request.extend_from_slice(&port.to_be_bytes());
    request
}

fn by_address(kind: u8, address: &[u8], port: u16) -> Vec<u8> {
    [&[5, 1, 0, kind], address, &port.to_be_bytes()].concat()
}

#[test]
fn a_granted_target_is_connected() {
    let six = |last: u16| [[0; 14].as_slice(), &last.to_be_bytes()].concat();
    let mapped = [[0; 10].as_slice(), &[0xff, 0xff, 127, 0, 0, 1]].concat();
    for (what, request) in [
        ("name", by_name(b"example.test", 443)),
        ("capitals and a dot", by_name(b"EXAMPLE.Test.", 80)),
        ("IPv4", by_address(1, &[127, 0, 0, 1], 8080)),
        ("IPv4 as a name", by_name(b"127.0.0.1", 8080)),
        ("IPv6", by_address(4, &six(1), 8080)),
        ("IPv4 in IPv6", by_address(4, &mapped, 8080)),
    ] {
        let running = example();
        let mut stream = running.connect();
        stream.write_all(HELLO).unwrap();
        let mut chosen = [0; 2];
        stream.read_exact(&mut chosen).unwrap();
        assert_eq!(chosen, [5, 0], "{what}");
        stream.write_all(&request).unwrap();
        let mut reply = [0; 10];
        stream.read_exact(&mut reply).unwrap();
        assert_eq!(reply, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0], "{what}");
        stream.write_all(b"ping").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(rest(&mut stream), b"ping", "{what}");
        assert_eq!(running.dialled().len(), 1, "{what}");
    }
}

#[test]
fn everything_else_is_told_why_not() {
    let running = example();
    for (what, request, code) in [
        ("other host", by_name(b"evil.test", 443), 2),
        ("other port", by_name(b"example.test", 22), 2),
        ("port zero", by_name(b"example.test", 0), 2),
        ("leads inside", by_name(b"inside.test", 443), 2),
        ("NUL", by_name(b"evil.test\0.example.test", 443), 2),
        ("NUL at the end", by_name(b"example.test\0", 443), 2),
        ("NUL in front", by_name(b"\0example.test", 443), 2),
        ("line break", by_name(b"example.test\r\n", 443), 2),
        ("space", by_name(b"example.test ", 443), 2),
        ("not UTF-8", by_name(b"example\xff.test", 443), 2),
        ("not ASCII", by_name("exämple.test".as_bytes(), 443), 2),
        ("empty", by_name(b"", 443), 2),
        ("port in the name", by_name(b"example.test:443", 443), 2),
        ("user", by_name(b"example.test@evil.test", 443), 2),
        ("localhost", by_name(b"localhost", 8080), 2),
        ("odd number", by_name(b"127.1", 8080), 2),
        ("other odd number", by_name(b"0x7f000001", 8080), 2),
        ("IPv6 as a name", by_name(b"::1", 8080), 2),
        (
            "the address of a granted name",
            by_address(1, &[93, 184, 216, 34], 443),
            2,
        ),
        (
            "loopback at another port",
            by_address(1, &[127, 0, 0, 1], 8081),
            2,
        ),
        ("nowhere", by_address(1, &[0, 0, 0, 0], 8080), 2),
        ("nowhere in IPv6", by_address(4, &[0; 16], 8080), 2),
        ("listening", vec![5, 2, 0, 1, 127, 0, 0, 1, 31, 144], 7),
        ("datagrams", vec![5, 3, 0, 1, 127, 0, 0, 1, 31, 144], 7),
        ("no command", vec![5, 9, 0, 1, 127, 0, 0, 1, 31, 144], 1),
        ("reserved byte", vec![5, 1, 1, 1, 127, 0, 0, 1, 31, 144], 1),
        (
            "kind of address",
            vec![5, 1, 0, 2, 127, 0, 0, 1, 31, 144],
            8,
        ),
        ("version", vec![4, 1, 0, 1, 127, 0, 0, 1, 31, 144], 1),
    ] {
        let answer = running.say([HELLO, &request].concat());
        let expected = [5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0];
        assert_eq!(answer, expected, "{what}");
    }
    assert_eq!(running.dialled(), []);
    assert_eq!(running.asked(), ["inside.test"]);
}

#[test]
fn passwords_and_older_versions_are_refused_cleanly() {
    let running = example();
    assert_eq!(running.say([5, 1, 2]), [5, 0xff], "a password only");
    assert_eq!(running.say([5, 0]), [5, 0xff], "nothing offered");
    let four = b"\x04\x01\x01\xbb\0\0\0\x01\0example.test\0";
    assert_eq!(running.say(four), [0, 0x5b, 0, 0, 0, 0, 0, 0]);
    assert_eq!(running.dialled(), []);
}

#[test]
fn a_host_that_is_not_there_is_unreachable() {
    let running = World::granting(&["gone.test"]).start();
    let answer = running.say([HELLO, &by_name(b"gone.test", 443)].concat());
    assert_eq!(answer[3], 4);
}
