//! The known toolchains, what each needs from its folder, and the parts that are never
//! shown.

/// Toolchains in a home folder, each with its parts. Where people keep projects beside
/// their programs, as in `go/src`, only the parts that programs need are listed.
pub(super) const TOOL_CHAINS: &[(&str, &[&str])] = &[
    (".cargo", &[".cargo", ".rustup"]),
    (".rustup", &[".rustup"]),
    (".pyenv", &[".pyenv"]),
    (".nvm", &[".nvm"]),
    (".volta", &[".volta"]),
    (".fnm", &[".fnm"]),
    (".bun", &[".bun"]),
    (".deno", &[".deno"]),
    (".asdf", &[".asdf"]),
    (".rbenv", &[".rbenv"]),
    (".rvm", &[".rvm"]),
    (".goenv", &[".goenv"]),
    ("go", &["go/bin", "go/pkg"]),
    (".go", &[".go/bin", ".go/pkg"]),
    (".sdkman", &[".sdkman"]),
    (".jenv", &[".jenv"]),
    (".dotnet", &[".dotnet"]),
    (".ghcup", &[".ghcup"]),
    (".opam", &[".opam"]),
    (".juliaup", &[".juliaup"]),
    (".npm-global", &[".npm-global"]),
    (".local/share/mise", &[".local/share/mise"]),
    (".local/share/fnm", &[".local/share/fnm"]),
    (".local/share/uv", &[".local/share/uv"]),
    (
        ".local/bin",
        &[
            ".local/bin",
            ".local/lib",
            ".local/share/pipx",
            ".local/share/uv",
            ".local/pipx",
        ],
    ),
];

/// Folders beside a `bin` that programs may need.
pub(super) const BESIDE: &[&str] = &["lib", "lib32", "lib64", "libexec", "share", "include"];

/// Toolchains that are recognised by the entries at their root, wherever it lies, each
/// with the parts it needs. Dot files of their own do not count against them.
pub(super) const KNOWN_ROOTS: &[(&[&str], &[&str])] = &[
    // A virtual environment.
    (
        &["pyvenv.cfg"],
        &["pyvenv.cfg", "lib", "lib64", "share", "include"],
    ),
    // Conda.
    (
        &["conda-meta"],
        &["conda-meta", "lib", "libexec", "share", "include", "ssl"],
    ),
    // Go.
    (
        &["VERSION", "src/runtime", "pkg"],
        &["VERSION", "go.env", "lib", "pkg", "src"],
    ),
    // A Java development kit.
    (
        &["release", "lib/modules"],
        &["release", "conf", "include", "jmods", "legal", "lib"],
    ),
    // Version managers like pyenv and rbenv: their shims start programs in `versions`.
    (
        &["libexec", "shims", "versions"],
        &[
            "libexec", "plugins", "pyenv.d", "rbenv.d", "shims", "version", "versions",
        ],
    ),
    // Maven.
    (&["boot", "lib", "conf/m2.conf"], &["boot", "lib", "conf"]),
    (&["boot", "lib", "bin/m2.conf"], &["boot", "lib"]),
];

/// Folders that never contain a toolchain, whatever their shape.
pub(super) const NEVER: &[&str] = &[
    ".artel",
    ".aws",
    ".azure",
    ".config",
    ".docker",
    ".git",
    ".gnupg",
    ".kube",
    ".password-store",
    ".ssh",
];

/// Files and folders below toolchains that hold credentials, with `*` for any one
/// component: tokens of package registries, certificates with their keys, and logs that
/// contain an environment.
pub(super) const CREDENTIALS: &[&str] = &[
    ".asdf/installs/nodejs/*/etc/npmrc",
    ".bun/.npmrc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".deno/.npmrc",
    ".dotnet/corefx/cryptography",
    ".fnm/node-versions/*/installation/etc/npmrc",
    ".gem/credentials",
    ".local/share/fnm/node-versions/*/installation/etc/npmrc",
    ".local/share/mise/installs/node/*/etc/npmrc",
    ".local/share/pipx/venvs/*/pip.conf",
    ".local/share/uv/credentials",
    ".npm-global/.npmrc",
    ".npm-global/etc/npmrc",
    ".nvm/.npmrc",
    ".nvm/versions/node/*/etc/npmrc",
    ".opam/log",
    ".pyenv/versions/*/pip.conf",
    ".volta/tools/image/node/*/etc/npmrc",
];
