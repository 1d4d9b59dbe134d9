//! Writes a repository of our own by hand, with no settings, hooks or filters of the
//! person's.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::RunTreeError;

/// Attributes that override every `.gitattributes` of the tree and leave every byte as it
/// is.
pub(crate) const RAW: &str =
    "* -text -filter -ident -working-tree-encoding !eol !crlf !diff !merge\n";

/// Largest exclude file that is copied, in bytes.
const LARGEST: u64 = 1 << 20;

/// Largest list of the commits at which a shallow clone ends, in bytes.
const LARGEST_SHALLOW: u64 = 16 << 20;

/// The parts of a repository that Artel writes by hand.
#[derive(Debug)]
pub(crate) struct RepositoryLayout<'l> {
    /// Path of the repository.
    pub(crate) git: &'l Path,
    /// Object format: `sha1` or `sha256`.
    pub(crate) format: &'l str,
    /// Whether it has no working tree.
    pub(crate) is_bare: bool,
    /// Its attributes, which override those of any tree.
    pub(crate) attributes: &'l str,
    /// The person's exclude file.
    pub(crate) exclude: Option<PathBuf>,
    /// The person's list of commits whose parents they do not have.
    pub(crate) shallow: Option<PathBuf>,
    /// Object folders to borrow from.
    pub(crate) objects: &'l [PathBuf],
    /// The commit that is checked out, and the full name of its branch, if any.
    pub(crate) head: Option<(&'l str, Option<&'l str>)>,
}

impl<'l> RepositoryLayout<'l> {
    /// Describes a repository that borrows nothing and has no commit.
    pub(crate) fn new(git: &'l Path) -> Self {
        Self {
            git,
            format: "sha1",
            is_bare: false,
            attributes: RAW,
            exclude: None,
            shallow: None,
            objects: &[],
            head: None,
        }
    }

    /// Writes the whole repository, also over what an earlier attempt wrote.
    pub(crate) fn write(&self) -> Result<(), RunTreeError> {
        for folder in [
            "objects/info",
            "objects/pack",
            "refs/heads",
            "refs/artel",
            "info",
        ] {
            self.folder(&self.git.join(folder))?;
        }
        self.put("config", self.config().as_bytes())?;
        self.put("info/attributes", self.attributes.as_bytes())?;
        if let Some(exclude) = &self.exclude {
            let exclude = artel_files::read_bounded(exclude, LARGEST);
            self.put("info/exclude", &exclude.unwrap_or_default())?;
        }
        if !self.objects.is_empty() {
            let lines: Vec<u8> = self
                .objects
                .iter()
                .flat_map(|path| alternate(path))
                .collect();
            self.put("objects/info/alternates", &lines)?;
        }
        let shallow = self.shallow.as_ref();
        let shallow = shallow.map(|path| artel_files::read_bounded(path, LARGEST_SHALLOW));
        if let Some(Ok(shallow)) = shallow {
            self.put("shallow", &shallow)?;
        }
        match self.head {
            None => self.put("HEAD", b"ref: refs/heads/main\n"),
            Some((commit, None)) => self.put("HEAD", format!("{commit}\n").as_bytes()),
            Some((commit, Some(branch))) => {
                let above = self.git.join(branch);
                self.folder(above.parent().unwrap_or(self.git))?;
                self.put(branch, format!("{commit}\n").as_bytes())?;
                self.put("HEAD", format!("ref: {branch}\n").as_bytes())
            }
        }
    }

    fn folder(&self, path: &Path) -> Result<(), RunTreeError> {
        fs::create_dir_all(path).map_err(RunTreeError::system("make the folder", path))
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), RunTreeError> {
        let path = self.git.join(name);
        fs::write(&path, bytes).map_err(RunTreeError::system("write", &path))
    }

    fn config(&self) -> String {
        let (version, extension) = match self.format {
            "sha1" => (0, String::new()),
            other => (1, format!("[extensions]\n\tobjectFormat = {other}\n")),
        };
        let bare = self.is_bare;
        format!(
            "[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = {bare}\n\
             \tlogallrefupdates = false\n\tautocrlf = false\n\thooksPath = /dev/null\n\
             [gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n{extension}"
        )
    }
}

/// Writes a path, quoted, as git expects it in its list of borrowed objects.
pub(super) fn alternate(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    let mut line = Vec::with_capacity(bytes.len() + 3);
    line.push(b'"');
    for byte in bytes {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            b'\n' => line.extend(*b"\\n"),
            byte => line.push(*byte),
        }
    }
    line.extend(*b"\"\n");
    line
}
