//! Files that agents do not read unless a person allows it: keys, passwords, sessions.
//!
//! Files are judged by name, so the list holds names that hold secrets by convention. A
//! word in a name is not enough: `credentials.rs` and `secrets_test.py` are source.

use super::fold::components;

const ENVIRONMENT: &str = "sensitive.environment-file";
const PRIVATE_KEY: &str = "sensitive.private-key";
const CREDENTIALS: &str = "sensitive.credentials";
const CLOUD: &str = "sensitive.cloud-credentials";
const BROWSER: &str = "sensitive.browser-store";
const HISTORY: &str = "sensitive.history";
const SYSTEM: &str = "sensitive.system";

/// Folders in which everything is sensitive, including their listing. Each is a sequence
/// of components that may stand anywhere in a path.
const FOLDERS: &[(&str, &[&str])] = &[
    (
        PRIVATE_KEY,
        &[
            ".ssh",
            ".gnupg",
            ".password-store",
            ".local/share/keyrings",
            "library/keychains",
            ".ethereum/keystore",
            ".bitcoin",
            ".electrum",
        ],
    ),
    (
        CLOUD,
        &[
            ".aws",
            ".azure",
            ".config/gcloud",
            ".config/doctl",
            ".config/hub",
            ".config/gh",
            ".config/op",
            ".oci",
            ".bluemix",
            ".fly",
            ".kube",
        ],
    ),
    (
        CREDENTIALS,
        &[
            ".secrets",
            "run/secrets",
            ".local/share/artel/keys",
            ".config/artel/keys",
        ],
    ),
    (
        BROWSER,
        &[
            ".mozilla",
            ".thunderbird",
            ".config/google-chrome",
            ".config/chromium",
            ".config/bravesoftware",
            ".config/microsoft-edge",
            "library/cookies",
            "application support/google/chrome",
            "application support/firefox",
        ],
    ),
];

/// Files of exactly these names.
const FILES: &[(&str, &[&str])] = &[
    (
        CREDENTIALS,
        &[
            ".netrc",
            "_netrc",
            ".npmrc",
            ".pypirc",
            ".git-credentials",
            ".pgpass",
            ".my.cnf",
            ".mylogin.cnf",
            ".htpasswd",
            ".htdigest",
            ".vault-token",
            ".dockercfg",
            ".boto",
            ".s3cfg",
            ".terraformrc",
            "credentials.tfrc.json",
            "credentials",
            "keys.enc",
            "keys.key",
            "master.key",
            ".pgp",
            ".token",
            ".credentials.json",
            ".authinfo",
            ".authinfo.gpg",
            "client_secret.json",
            "client_secrets.json",
            "wallet.dat",
        ],
    ),
    (
        CLOUD,
        &[
            "kubeconfig",
            "service-account.json",
            "service_account.json",
            "serviceaccount.json",
            "application_default_credentials.json",
            "terraform.tfstate",
        ],
    ),
    (
        BROWSER,
        &[
            "cookies.sqlite",
            "cookies.txt",
            "login data",
            "web data",
            "key3.db",
            "key4.db",
            "logins.json",
            "signons.sqlite",
        ],
    ),
    (
        HISTORY,
        &[
            ".bash_history",
            ".zsh_history",
            ".sh_history",
            ".history",
            ".psql_history",
            ".mysql_history",
            ".sqlite_history",
            ".python_history",
            ".node_repl_history",
            ".rediscli_history",
        ],
    ),
];

/// Files in a folder of a certain name: a sequence of components at the end of a path.
const ENDINGS: &[(&str, &[&str])] = &[
    (
        CREDENTIALS,
        &[
            ".docker/config.json",
            ".cargo/credentials",
            ".cargo/credentials.toml",
            ".gem/credentials",
            ".config/git/credentials",
            ".config/pip/pip.conf",
            ".composer/auth.json",
            ".m2/settings.xml",
            ".m2/settings-security.xml",
            ".gradle/gradle.properties",
            ".nuget/nuget.config",
            ".codex/auth.json",
            ".claude/.credentials.json",
        ],
    ),
    (
        SYSTEM,
        &[
            "etc/shadow",
            "etc/shadow-",
            "etc/gshadow",
            "etc/gshadow-",
            "etc/sudoers",
            "etc/security/opasswd",
            "etc/krb5.keytab",
            "dev/mem",
            "dev/kmem",
            "dev/port",
            "proc/kcore",
            "var/lib/sss/db",
        ],
    ),
];

/// Name endings of keys and key stores.
const KEY_ENDINGS: &[&str] = &[
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".p8",
    ".pkcs12",
    ".keystore",
    ".jks",
    ".ppk",
    ".kdbx",
    ".kdb",
    ".keytab",
    ".gpg-key",
    ".agekey",
    ".kubeconfig",
    ".tfstate",
    ".mobileprovision",
];

/// Extensions that make a `secrets` or `credentials` file data rather than source.
const DATA_ENDINGS: &[&str] = &[
    "yaml",
    "yml",
    "json",
    "jsonc",
    "json5",
    "toml",
    "ini",
    "env",
    "properties",
    "cfg",
    "conf",
    "xml",
    "csv",
    "db",
    "enc",
    "plist",
];

/// Returns the built-in rule under which agents do not read a path, or `None`. The path
/// may be relative or absolute; a leading `~` is a folder like any other. A path that ends
/// in a slash is a folder: `src/credentials/` holds source, `.ssh/` is sensitive as a
/// whole.
pub fn sensitive(path: &str) -> Option<&'static str> {
    let names = components(path);
    let name = names.last()?;
    let ground = by_folder(&names).or_else(|| by_process(&names));
    if ground.is_some() || path.ends_with('/') {
        return ground;
    }
    by_file(&names, name).or_else(|| by_file(&names, without_copy_marks(name)))
}

fn by_folder(names: &[String]) -> Option<&'static str> {
    let holds = |folder: &&str| {
        let wanted: Vec<_> = folder.split('/').collect();
        names.windows(wanted.len()).any(|run| run == wanted)
    };
    find(FOLDERS, |listed| listed.iter().any(holds))
}

/// Matches the memory and environment of other processes, under all their spellings.
fn by_process(names: &[String]) -> Option<&'static str> {
    let is_process = |name: &str| {
        matches!(name, "self" | "thread-self") || name.bytes().all(|byte| byte.is_ascii_digit())
    };
    let at = names
        .windows(2)
        .position(|two| two[0] == "proc" && is_process(&two[1]))?;
    let secret = ["environ", "mem", "auxv", "fd", "map_files", "root", "cwd"];
    let mut below = names[at + 2..].iter();
    below
        .any(|name| secret.contains(&name.as_str()))
        .then_some(SYSTEM)
}

fn by_file(names: &[String], name: &str) -> Option<&'static str> {
    let ends = |ending: &&str| {
        let wanted: Vec<_> = ending.split('/').collect();
        let folders = &names[..names.len() - 1];
        let (file, above) = (wanted[wanted.len() - 1], &wanted[..wanted.len() - 1]);
        name == file && folders.ends_with_run(above)
    };
    find(FILES, |listed| listed.contains(&name))
        .or_else(|| find(ENDINGS, |listed| listed.iter().any(ends)))
        .or_else(|| by_shape(name))
}

fn by_shape(name: &str) -> Option<&'static str> {
    if is_environment_file(name) {
        return Some(ENVIRONMENT);
    }
    let is_host_key = name.starts_with("ssh_host_") && name.ends_with("_key");
    let is_named_key = KEY_ENDINGS.iter().any(|ending| name.ends_with(ending));
    if is_host_key || is_named_key || is_identity(name) {
        return Some(PRIVATE_KEY);
    }
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let last = ending.rsplit('.').next().unwrap_or_default();
    let is_data = DATA_ENDINGS.contains(&last);
    let is_sample = ending.split('.').any(is_sample_mark);
    let holds = matches!(stem, "secrets" | "secret" | "credentials" | "credential");
    let is_client_secret = stem.starts_with("client_secret") && last == "json";
    ((holds || is_client_secret) && is_data && !is_sample).then_some(CREDENTIALS)
}

/// Matches `.env`, `.env.production` and `prod.env`, but not samples meant to be shared.
fn is_environment_file(name: &str) -> bool {
    let mut parts = name.split('.').skip(1);
    let is_one = name == ".env" || name.starts_with(".env.") || name.ends_with(".env");
    is_one && !parts.any(is_sample_mark) && !is_sample_mark(name.split('.').next().unwrap_or(""))
}

fn is_sample_mark(part: &str) -> bool {
    matches!(
        part,
        "example" | "examples" | "sample" | "template" | "tmpl" | "dist" | "schema"
    )
}

/// Matches `id_rsa` and `id_ed25519_work`, but not the public half.
fn is_identity(name: &str) -> bool {
    let kinds = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"];
    let rest = kinds.iter().find_map(|kind| name.strip_prefix(kind));
    rest.is_some_and(|rest| {
        (rest.is_empty() || rest.starts_with(['_', '-', '.']))
            && !rest.ends_with(".pub")
            && !is_source(rest)
    })
}

fn is_source(rest: &str) -> bool {
    let ending = rest.rsplit('.').next().unwrap_or_default();
    matches!(
        ending,
        "rs" | "py" | "go" | "js" | "ts" | "c" | "h" | "java" | "rb" | "md"
    )
}

/// Strips what editors and people append to a copy, so that the copy is judged like the
/// original.
fn without_copy_marks(name: &str) -> &str {
    if let Some(swap) = name
        .strip_suffix(".swp")
        .or_else(|| name.strip_suffix(".swo"))
    {
        return swap.strip_prefix('.').unwrap_or(swap);
    }
    let marks = ["~", ".bak", ".backup", ".old", ".orig", ".save", ".copy"];
    marks
        .iter()
        .find_map(|mark| name.strip_suffix(mark))
        .unwrap_or(name)
}

fn find(
    table: &[(&'static str, &[&str])],
    matches: impl Fn(&[&str]) -> bool,
) -> Option<&'static str> {
    table
        .iter()
        .find(|(_, listed)| matches(listed))
        .map(|(ground, _)| *ground)
}

/// Compares owned components with literal ones at the end of a path.
trait EndsWithComponents {
    fn ends_with_run(&self, run: &[&str]) -> bool;
}

impl EndsWithComponents for [String] {
    fn ends_with_run(&self, run: &[&str]) -> bool {
        self.len() >= run.len() && self[self.len() - run.len()..].iter().eq(run.iter())
    }
}
