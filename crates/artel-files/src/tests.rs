//! The promises of the crate, on a real file system.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::*;
use crate::directory::FolderHandle;
use crate::temp::UnfinishedFile;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns every name in the folder, so that leftovers show.
    fn names(&self) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    }

    /// Returns the error message without the temporary folder's name.
    fn said(&self, result: Result<impl Sized, FileError>) -> String {
        let message = result.err().expect("refused").to_string();
        message.replace(&self.0.path().display().to_string(), "DIR")
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn files_are_made_and_replaced_whole() {
    let place = Place::new();
    let path = place.at("a.txt");
    write_atomic(&path, b"one", 0o600).unwrap();
    assert_eq!(
        (fs::read(&path).unwrap(), mode(&path)),
        (b"one".to_vec(), 0o600)
    );
    write_atomic(&path, b"", 0o400).unwrap();
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (Vec::new(), 0o400));
    write_atomic(&path, b"three", 0o600).unwrap();
    assert_eq!(read_bounded(&path, 5).unwrap(), b"three");
    assert_eq!(place.names(), ["a.txt"]);
}

#[test]
fn a_reader_keeps_the_bytes_it_opened() {
    let place = Place::new();
    let path = place.at("a");
    write_atomic(&path, b"old", 0o600).unwrap();
    let mut before = fs::File::open(&path).unwrap();
    write_atomic(&path, b"new and longer", 0o600).unwrap();
    assert_eq!(io::read_to_string(&mut before).unwrap(), "old");
}

#[test]
fn a_new_file_is_made_once() {
    let place = Place::new();
    let path = place.at("a");
    create_new(&path, b"first", 0o600).unwrap();
    insta::assert_snapshot!(place.said(create_new(&path, b"second", 0o600)), @"`DIR/a` exists already");
    symlink("nowhere", place.at("link")).unwrap();
    assert!(matches!(
        create_new(&place.at("link"), b"", 0o600),
        Err(FileError::Exists { .. })
    ));
    assert_eq!(fs::read(&path).unwrap(), b"first");
    assert_eq!(place.names(), ["a", "link"]);
}

#[test]
fn of_many_who_make_a_file_one_wins() {
    let place = Place::new();
    let path = place.at("a");
    let made: usize = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..8_u8)
            .map(|n| {
                scope.spawn({
                    let path = &path;
                    move || create_new(path, &[n; 100], 0o600).is_ok()
                })
            })
            .collect();
        makers
            .into_iter()
            .map(|maker| usize::from(maker.join().unwrap()))
            .sum()
    });
    assert_eq!(made, 1);
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() == 100 && bytes.iter().all(|byte| *byte == bytes[0]));
    assert_eq!(place.names(), ["a"]);
}

#[test]
fn what_is_not_a_file_is_refused_and_left_alone() {
    let place = Place::new();
    fs::write(place.at("target"), "kept").unwrap();
    symlink(place.at("target"), place.at("link")).unwrap();
    symlink("nowhere", place.at("dangling")).unwrap();
    fs::create_dir(place.at("folder")).unwrap();
    mknodat(
        CWD,
        place.at("pipe"),
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    let names = place.names();
    let mut said = Vec::new();
    for name in ["link", "dangling", "folder", "pipe"] {
        let path = place.at(name);
        said.push(place.said(write_atomic(&path, b"new", 0o600)));
        assert_eq!(place.said(read_bounded(&path, 10)), said[said.len() - 1]);
        assert!(create_new(&path, b"new", 0o600).is_err());
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    `DIR/link` is a symbolic link; a file was expected
    `DIR/dangling` is a symbolic link; a file was expected
    `DIR/folder` is a folder; a file was expected
    `DIR/pipe` is a pipe, a socket or a device; a file was expected
    ");
    assert_eq!(fs::read(place.at("target")).unwrap(), b"kept");
    assert_eq!(place.names(), names);
}

#[test]
fn reading_has_a_bound() {
    let place = Place::new();
    let path = place.at("a");
    fs::write(&path, "12345").unwrap();
    assert_eq!(read_bounded(&path, 5).unwrap(), b"12345");
    assert_eq!(read_bounded(&path, u64::MAX).unwrap(), b"12345");
    insta::assert_snapshot!(place.said(read_bounded(&path, 4)), @"`DIR/a` is larger than 4 bytes");
    assert!(read_bounded(Path::new("/dev/zero"), 4).is_err());
    assert!(read_bounded(Path::new("/proc/self/status"), 1 << 20).is_ok());
}

#[test]
fn the_system_s_words_reach_the_caller() {
    let place = Place::new();
    fs::write(place.at("file"), "").unwrap();
    let missing = read_bounded(&place.at("missing"), 1);
    assert_eq!(
        missing.as_ref().unwrap_err().system_kind(),
        Some(io::ErrorKind::NotFound)
    );
    let said = [
        place.said(missing),
        place.said(write_atomic(&place.at("no/such"), b"", 0o600)),
        place.said(write_atomic(&place.at("file/below"), b"", 0o600)),
        place
            .said(write_atomic(&place.at(&"x".repeat(300)), b"", 0o600))
            .replace(&"x".repeat(300), "XXX"),
        place.said(write_atomic(Path::new("/"), b"", 0o600)),
        place.said(write_atomic(Path::new(""), b"", 0o600)),
        place.said(write_atomic(&place.at(".."), b"", 0o600)),
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    could not open `DIR/missing`: No such file or directory (os error 2)
    could not open the folder `DIR/no`: No such file or directory (os error 2)
    could not open the folder `DIR/file`: Not a directory (os error 20)
    could not look at `DIR/XXX`: File name too long (os error 36)
    `/` names no file
    `` names no file
    `DIR/..` names no file
    ");
    assert_eq!(place.names(), ["file"]);
}

#[test]
fn a_write_that_cannot_finish_leaves_nothing() {
    let place = Place::new();
    // A folder appears under the name only after the check, so the rename itself must fail.
    let path = place.at("late");
    let (folder, name) = FolderHandle::of(&path).unwrap();
    for finish in [UnfinishedFile::replace, UnfinishedFile::place] {
        let temp = UnfinishedFile::write(&folder, &path, b"bytes", 0o600).unwrap();
        assert!(place.names().iter().any(|name| is_unfinished(name)));
        fs::create_dir_all(&path).unwrap();
        assert!(finish(temp, name).is_err());
        assert_eq!(place.names(), ["late"]);
    }
}

#[test]
fn names_left_by_a_crash_are_stepped_over() {
    let place = Place::new();
    let process = std::process::id();
    for number in 0..50 {
        fs::write(
            place.at(&format!("{TEMP_PREFIX}{process}-{number}")),
            "left",
        )
        .unwrap();
    }
    write_atomic(&place.at("a"), b"new", 0o600).unwrap();
    let (left, others): (Vec<_>, Vec<_>) = place
        .names()
        .into_iter()
        .partition(|name| is_unfinished(name));
    assert_eq!((left.len(), others), (50, vec![OsString::from("a")]));
}

#[test]
fn folders_are_made_once() {
    let place = Place::new();
    make_dir(&place.at("a"), 0o700).unwrap();
    fs::write(place.at("a/file"), "kept").unwrap();
    make_dir(&place.at("a"), 0o755).unwrap();
    make_dir(&place.at("a/"), 0o755).unwrap();
    assert_eq!(mode(&place.at("a")), 0o700);
    assert!(place.at("a/file").exists());

    symlink(place.at("a"), place.at("link")).unwrap();
    let said = [
        place.said(make_dir(&place.at("a/file"), 0o700)),
        place.said(make_dir(&place.at("link"), 0o700)),
        place.said(make_dir(&place.at("no/such"), 0o700)),
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    `DIR/a/file` is a file; a folder was expected
    `DIR/link` is a symbolic link; a folder was expected
    could not open the folder `DIR/no`: No such file or directory (os error 2)
    ");
}

#[test]
fn missing_folders_above_are_made_too() {
    let place = Place::new();
    make_dirs(&place.at("a/b/c"), 0o700).unwrap();
    make_dirs(&place.at("a/b/c"), 0o700).unwrap();
    assert!(place.at("a/b/c").is_dir());
    symlink(place.at("a"), place.at("link")).unwrap();
    make_dirs(&place.at("link/d/e"), 0o700).unwrap();
    assert_eq!(mode(&place.at("a/d/e")), 0o700);
    fs::write(place.at("file"), "").unwrap();
    assert!(make_dirs(&place.at("file/x/y"), 0o700).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn whatever_is_written_is_read_back(bytes in proptest::collection::vec(any::<u8>(), 0..5000)) {
        let place = Place::new();
        write_atomic(&place.at("a"), &bytes, 0o600).unwrap();
        prop_assert_eq!(&read_bounded(&place.at("a"), 5000).unwrap(), &bytes);
        create_new(&place.at("b"), &bytes, 0o600).unwrap();
        prop_assert_eq!(&read_bounded(&place.at("b"), 5000).unwrap(), &bytes);
    }
}
