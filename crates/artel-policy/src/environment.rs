//! The part of the person's environment that a child process gets: empty, plus a list.

use std::ffi::{OsStr, OsString};

/// Variables that are passed on: where programs and their toolchains are, how text is
/// encoded, the time zone. None of them holds a secret.
const PASSED: &[&str] = &[
    "CARGO_HOME",
    "COLUMNS",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOGNAME",
    "M2_HOME",
    "MAVEN_HOME",
    "NVM_BIN",
    "NVM_DIR",
    "PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SHELL",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// Parts of a variable's name that mark a secret.
const SECRET_PARTS: &[&str] = &[
    "APIKEY", "AUTH", "AWS", "AZURE", "CRED", "KEY", "PASS", "PASSWD", "PASSWORD", "PRIVATE",
    "PWD", "SECRET", "SESSION", "TOKEN",
];

/// Variables that make a program load or start something else.
const LOADERS: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "BROWSER",
    "CDPATH",
    "CLASSPATH",
    "EDITOR",
    "ENV",
    "GCONV_PATH",
    "GLOBIGNORE",
    "HOSTALIASES",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "MAKEFLAGS",
    "MANPAGER",
    "NLSPATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "PAGER",
    "PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONBREAKPOINT",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RES_OPTIONS",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "TERMINFO",
    "TMPDIR",
    "VISUAL",
    "XDG_CONFIG_HOME",
    "ZDOTDIR",
];

/// Returns whether a variable's name suggests that its value is secret. Whole parts count:
/// `MONKEY` and `KEYBOARD` are not keys, and `PWD` on its own is the working directory.
pub fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    if matches!(upper.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    let mut parts = upper.split(['_', '-', '.']);
    parts.any(|part| {
        SECRET_PARTS.contains(&part)
            || part.ends_with("KEY")
                && part.len() > 5
                && SECRET_PARTS.iter().any(|it| part.starts_with(it))
            || part.ends_with("TOKEN")
            || part.ends_with("SECRET")
            || part.ends_with("PASSWORD")
    })
}

/// Returns whether a variable makes programs load or start something. The caller of a tool
/// cannot set such variables.
pub fn is_loader_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let prefixes = [
        "LD_",
        "DYLD_",
        "GIT_",
        "BASH_FUNC_",
        "NPM_CONFIG_",
        "PIP_",
        "CARGO_",
        "ARTEL_",
    ];
    LOADERS.contains(&upper.as_str()) || prefixes.iter().any(|start| upper.starts_with(start))
}

/// Returns the environment of a child: the listed variables that do not look like secrets,
/// and every variable that the person named.
pub fn of_child<'v>(
    variables: impl IntoIterator<Item = (&'v OsStr, &'v OsStr)>,
    named: &[String],
) -> Vec<(OsString, OsString)> {
    let passes = |name: &OsStr| {
        let Some(name) = name.to_str() else {
            return false;
        };
        let is_named = named.iter().any(|known| known == name);
        let is_listed = PASSED.contains(&name) || name.starts_with("LC_");
        is_named || (is_listed && !is_secret_name(name))
    };
    let mut environment: Vec<_> = variables
        .into_iter()
        .filter(|(name, _)| passes(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    environment.sort();
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_pass_and_tool_chains_do() {
        let variables = [
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("LC_ALL", "C"),
            ("ANTHROPIC_API_KEY", "x"),
            ("FOO_TOKEN", "x"),
            ("AWS_REGION", "x"),
            ("X_SECRET", "x"),
            ("LC_TOKEN", "x"),
            ("SSH_AUTH_SOCK", "x"),
            ("DBUS_SESSION_BUS_ADDRESS", "x"),
            ("LD_PRELOAD", "x"),
            ("SOMETHING", "x"),
            ("MINE", "x"),
        ];
        let variables = variables.map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        let child = of_child(variables, &["MINE".to_owned()]);
        let names: Vec<_> = child.iter().filter_map(|(name, _)| name.to_str()).collect();
        assert_eq!(names, ["HOME", "LC_ALL", "MINE", "PATH"]);
    }

    #[test]
    fn names_are_judged_by_their_parts() {
        for name in [
            "API_KEY",
            "github_token",
            "MY_SECRET",
            "DB_PASSWORD",
            "AWS_REGION",
            "npm-token",
            "ACCESSTOKEN",
            "CLIENTSECRET",
            "SSH_AUTH_SOCK",
            "DB_PWD",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PWD", "OLDPWD", "MONKEY", "KEYBOARD", "PATH", "AUTHOR", "PASSAGE", "TURKEY",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
        for name in [
            "LD_PRELOAD",
            "PYTHONPATH",
            "git_dir",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "PATH",
        ] {
            assert!(is_loader_name(name), "{name}");
        }
        for name in ["DEBUG", "NODE_ENV", "LANG"] {
            assert!(!is_loader_name(name), "{name}");
        }
    }
}
