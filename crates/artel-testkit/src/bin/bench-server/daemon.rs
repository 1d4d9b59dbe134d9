//! The daemon as a process, and what a client does with it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use artel_config::system_clock;
use artel_journal::{Journal, JournalFolders, JournalOptions};
use artel_types::TraceId;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) struct Daemon {
    home: TempDir,
    shop: PathBuf,
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    /// Start-up time in milliseconds.
    pub(crate) up_after: f64,
}

impl Daemon {
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, |_| {})
    }

    /// Starts a daemon on a prepared journal.
    pub(crate) fn start_with(folder: &Path, prepare: impl FnOnce(&Journal)) -> Self {
        Self::start_at(folder, |home, shop| prepare(&journal(home, shop)))
    }

    /// Starts a daemon in a prepared workshop: `prepare` gets a home and the workshop in
    /// it.
    pub(crate) fn start_at(folder: &Path, prepare: impl FnOnce(&Path, &Path)) -> Self {
        let home = TempDir::new_in(folder).unwrap();
        let shop = home.path().join("shop");
        let made = artel(home.path(), &["init", shop.to_str().unwrap()]).status();
        assert!(made.unwrap().success());
        prepare(home.path(), &shop);
        let began = Instant::now();
        let serve = [
            "--workshop",
            shop.to_str().unwrap(),
            "serve",
            "--listen",
            "127.0.0.1:0",
        ];
        let child = artel(home.path(), &serve)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let status = || read(home.path(), &shop, &["daemon", "status", "--json"]);
        let address = loop {
            assert!(began.elapsed() < Duration::from_secs(120), "no daemon");
            if let Some(address) = status()["running"]["listen"].as_str() {
                break address.to_owned();
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let up_after = began.elapsed().as_secs_f64() * 1000.0;
        let made = read(
            home.path(),
            &shop,
            &["token", "create", "--role", "admin", "--json"],
        );
        let token = made["token"].as_str().unwrap().to_owned();
        Self {
            home,
            shop,
            child,
            address,
            token,
            up_after,
        }
    }

    /// Opens the daemon's journal as another process.
    pub(crate) fn journal(&self) -> Journal {
        journal(self.home.path(), &self.shop)
    }

    /// Runs a command in the daemon's workshop.
    pub(crate) fn told(&self, words: &[&str]) {
        tell(self.home.path(), &self.shop, words);
    }

    /// Returns the inbox folder of the workshop.
    pub(crate) fn inbox(&self) -> PathBuf {
        self.shop.join("Inbox/Requests")
    }

    /// Returns the memory of the daemon in KB.
    pub(crate) fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        line.split_ascii_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap()
    }

    /// Returns the response time for a path in milliseconds.
    pub(crate) async fn time(&self, path: &str) -> f64 {
        let began = Instant::now();
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Connection: close\r\n\r\n",
            self.address, self.token
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let taken = began.elapsed().as_secs_f64() * 1000.0;
        let head = String::from_utf8_lossy(&answer[..answer.len().min(20)]).into_owned();
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        taken
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn journal(home: &Path, shop: &Path) -> Journal {
    let place = JournalFolders::new(shop.join(".artel"), home.join(".local/share/artel"));
    let marker = std::fs::read(shop.join(".artel/workshop.json")).unwrap();
    let marker: serde_json::Value = serde_json::from_slice(&marker).unwrap();
    let id = marker["id"].as_str().unwrap().parse().unwrap();
    let options = JournalOptions::new(system_clock(), TraceId::from_random([1; 16]));
    Journal::open(&place, id, options).unwrap().journal
}

fn read(home: &Path, shop: &Path, words: &[&str]) -> serde_json::Value {
    let mut all = vec!["--workshop", shop.to_str().unwrap()];
    all.extend(words);
    let output = artel(home, &all).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a command in a workshop.
pub(crate) fn tell(home: &Path, shop: &Path, words: &[&str]) {
    let mut all = vec!["--workshop", shop.to_str().unwrap()];
    all.extend(words);
    let output = artel(home, &all).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
}

fn artel(home: &Path, words: &[&str]) -> Command {
    let program = std::env::current_exe().unwrap().with_file_name("artel");
    assert!(
        program.exists(),
        "build `artel` first: {}",
        program.display()
    );
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .current_dir(home)
        .args(words);
    command
}
