//! Performs file operations given as arguments, one step per argument, through the standard
//! library or SQLite.
//!
//! Prints a line per step: `ok`, or `failed` with the system's error number. A failed step
//! does not keep the next one from being tried.
#![expect(clippy::print_stdout, reason = "its output is what the test looks at")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, Write as _};
use std::os::unix::fs::FileExt as _;

fn main() {
    for step in std::env::args().skip(1) {
        let words: Vec<&str> = step.split(' ').collect();
        match take(&words) {
            Ok(()) => println!("ok"),
            Err(cause) => println!("failed {}", cause.raw_os_error().unwrap_or(-1)),
        }
    }
}

fn take(words: &[&str]) -> io::Result<()> {
    match words {
        ["write", path, text] => File::create(path)?.write_all(text.as_bytes()),
        ["append", path, text] => OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)?
            .write_all(text.as_bytes()),
        ["put", path, at, text] => {
            let file = OpenOptions::new().write(true).open(path)?;
            file.write_all_at(text.as_bytes(), number(at)?)
        }
        ["once", path, text] => expect_count(File::create(path)?.write(text.as_bytes())?, text),
        ["gather", path, one, two] => {
            let parts = [IoSlice::new(one.as_bytes()), IoSlice::new(two.as_bytes())];
            File::create(path)?.write_vectored(&parts).map(drop)
        }
        ["sync", path] => File::open(path)?.sync_all(),
        ["datasync", path] => OpenOptions::new().append(true).open(path)?.sync_data(),
        ["truncate", path, size] => OpenOptions::new()
            .write(true)
            .open(path)?
            .set_len(number(size)?),
        ["rename", from, to] => fs::rename(from, to),
        ["remove", path] => fs::remove_file(path),
        ["mkdir", path] => fs::create_dir(path),
        ["link", from, to] => fs::hard_link(from, to),
        ["copy", from, to] => fs::copy(from, to).map(drop),
        ["read", path] => fs::read(path).map(drop),
        ["clone", path, text] => {
            let file = File::create(path)?;
            file.try_clone()?.write_all(text.as_bytes())
        }
        ["start", program, argument] => start(program, argument),
        ["rows", path, synchronous, count] => {
            insert_rows(path, synchronous, number(count)?).map_err(io::Error::other)
        }
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    }
}

fn number<N: std::str::FromStr>(text: &str) -> io::Result<N> {
    text.parse()
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

/// Fails without an error number if the system accepted only some of the bytes.
fn expect_count(count: usize, text: &str) -> io::Result<()> {
    if count == text.len() {
        Ok(())
    } else {
        Err(io::Error::from(io::ErrorKind::WriteZero))
    }
}

fn start(program: &str, argument: &str) -> io::Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test looks at what a grandchild inherits"
    )]
    let status = std::process::Command::new(program).arg(argument).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::from(io::ErrorKind::Other))
    }
}

/// Inserts rows one by one and prints `row` for each one that SQLite reports as committed.
fn insert_rows(path: &str, synchronous: &str, count: u32) -> rusqlite::Result<()> {
    let database = rusqlite::Connection::open(path)?;
    database.pragma_update(None, "journal_mode", "wal")?;
    database.pragma_update(None, "synchronous", synchronous)?;
    // Frequent enough that the main file is also written in the middle.
    database.pragma_update(None, "wal_autocheckpoint", 4)?;
    database.execute_batch("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)")?;
    for number in 1..=count {
        database.execute("INSERT INTO rows VALUES (?1, hex(zeroblob(150)))", [number])?;
        println!("row");
    }
    Ok(())
}
