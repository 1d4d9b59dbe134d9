//! Writing a repository of our own by hand: no setting of the person's, no hook, no filter.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::TreeError;

/// Over every `.gitattributes` of the tree: bytes in are bytes out.
pub(crate) const RAW: &str =
    "* -text -filter -ident -working-tree-encoding !eol !crlf !diff !merge\n";

/// Longer than an exclude file.
const LARGEST: u64 = 1 << 20;

/// Longer than any list of the commits at which a clone ends.
const LARGEST_SHALLOW: u64 = 16 << 20;

/// What a repository of our own is made of.
#[derive(Debug)]
pub(crate) struct Layout<'l> {
    /// Where it lies.
    pub(crate) git: &'l Path,
    /// `sha1` or `sha256`.
    pub(crate) format: &'l str,
    /// It has no working tree.
    pub(crate) is_bare: bool,
    /// Its attributes, over those of any tree.
    pub(crate) attributes: &'l str,
    /// The person's file of ignored names.
    pub(crate) exclude: Option<PathBuf>,
    /// The person's list of commits whose parents they do not have.
    pub(crate) shallow: Option<PathBuf>,
    /// Folders of objects to borrow from.
    pub(crate) objects: &'l [PathBuf],
    /// The commit it stands on and the full name of its branch, if it is on one.
    pub(crate) head: Option<(&'l str, Option<&'l str>)>,
}

impl<'l> Layout<'l> {
    /// One that borrows nothing and stands on no commit.
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

    /// Writes all of it; what an earlier attempt wrote is written again.
    pub(crate) fn write(&self) -> Result<(), TreeError> {
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

    fn folder(&self, path: &Path) -> Result<(), TreeError> {
        fs::create_dir_all(path).map_err(TreeError::system("make the folder", path))
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), TreeError> {
        let path = self.git.join(name);
        fs::write(&path, bytes).map_err(TreeError::system("write", &path))
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

/// Writes a path as git's list of borrowed objects wants it: quoted where it would be misread.
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
