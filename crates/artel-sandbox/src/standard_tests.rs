//! What `PATH` makes readable, tested with temporary folders.

use super::*;

#[test]
fn tool_chains_are_shown_without_credentials_and_the_home_is_not() {
    let home = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(home.path()).unwrap();
    for folder in [
        ".cargo/bin",
        ".rustup",
        ".ssh",
        "bin",
        "tools/node/bin",
        "tools/node/lib",
    ] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    fs::write(home.join(".cargo/credentials.toml"), "token").unwrap();
    let view = SandboxView::standard(&DefaultViewSources {
        home: Some(home.clone()),
        path: [".cargo/bin", "bin", "tools/node/bin"]
            .map(|name| home.join(name))
            .into(),
        read: vec!["/srv/data".into()],
        closed: Vec::new(),
    });
    let shown = |name: &str| view.read.contains(&home.join(name));
    assert!(shown(".cargo") && shown(".rustup") && shown("bin") && shown("tools/node/bin"));
    assert!(shown("tools/node/lib") && !shown("tools/node"));
    assert!(!view.read.contains(&home) && !shown(".ssh") && !shown("tools"));
    assert!(view.read.contains(&"/srv/data".into()));
    assert!(view.hidden.contains(&home.join(".cargo/credentials.toml")));
}

#[test]
fn a_home_folder_on_the_path_shows_its_programs_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().canonicalize().unwrap().join("ada");
    for (name, mode) in [("tool", 0o755), ("notes.txt", 0o644), (".local/key", 0o600)] {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let above = home.parent().unwrap().to_owned();
    let view = SandboxView::standard(&DefaultViewSources {
        path: vec![home.clone(), home.join(".local"), above],
        home: Some(home.clone()),
        ..DefaultViewSources::default()
    });
    let shown: Vec<_> = view
        .read
        .iter()
        .filter(|it| it.starts_with(&home))
        .collect();
    assert_eq!(shown, [&home.join("tool")]);
    let opens = |path: &PathBuf| home.starts_with(path);
    assert!(!view.read.iter().any(opens), "{:?}", view.read);
}

/// Creates a project with these entries (folders end in `/`), and returns what its `bin`
/// makes readable beside itself.
fn beside(entries: &[&str]) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let app = root.join("home/code/app");
    fs::create_dir_all(app.join("bin")).unwrap();
    for entry in entries {
        let path = app.join(entry);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if entry.ends_with('/') {
            fs::create_dir_all(&path).unwrap()
        } else {
            fs::write(&path, "x").unwrap()
        }
    }
    let standard = DefaultViewSources {
        home: Some(root.join("home")),
        path: vec![app.join("bin")],
        ..DefaultViewSources::default()
    };
    let opened = standard.opened_by_path();
    let shown = opened.iter().flat_map(|opened| &opened.shown);
    let shown = shown.filter_map(|path| path.strip_prefix(&app).ok()?.to_str());
    shown
        .filter(|name| *name != "bin")
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_bin_opens_what_lies_beside_it_only_where_that_is_a_tool_chain() {
    let cases: &[(&[&str], &[&str])] = &[
        // Projects, in their usual shapes.
        (&[".env", "lib/"], &[]),
        (&[".git/", "lib/", "share/"], &[]),
        (&[".gitignore", "lib/"], &[]),
        (&["src/", "config/", "notes.txt"], &[]),
        (&["other/.env", "third/.git/"], &[]),
        (&[".git/", ".env", "bin/", "shims/", "versions/"], &[]),
        // Toolchains.
        (
            &[
                ".git/",
                ".vimrc",
                "libexec/",
                "shims/",
                "src/",
                "version",
                "versions/",
            ],
            &["libexec", "shims", "version", "versions"],
        ),
        (&["lib/", "share/", "README", "secrets/"], &["lib", "share"]),
        (&["libexec/", "include/", "etc/"], &["libexec", "include"]),
        (
            &["pyvenv.cfg", "lib/", ".gitignore"],
            &["pyvenv.cfg", "lib"],
        ),
        (
            &["VERSION", "src/runtime/", "pkg/", ".gitattributes"],
            &["VERSION", "pkg", "src"],
        ),
        (
            &["release", "lib/modules", "conf/"],
            &["release", "conf", "lib"],
        ),
    ];
    for (entries, expected) in cases {
        assert_eq!(beside(entries), *expected, "{entries:?}");
    }
}

#[test]
fn the_path_opens_nothing_of_settings_and_of_folders_that_people_work_in() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().canonicalize().unwrap().join("home");
    for folder in [
        ".config/bin",
        ".config/lib",
        "code/bin",
        "code/lib",
        "code/portal/bin",
    ] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    for file in [
        "code/bin/.env",
        "code/portal/bin/notes",
        "code/bin/.env.local",
        "code/bin/deploy/staging/.env",
    ] {
        fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
        fs::write(home.join(file), "x").unwrap();
    }
    std::os::unix::fs::symlink(home.join(".config"), home.join("code/share")).unwrap();
    let names = [".config/bin", "code/bin", "code/portal/bin"];
    let standard = DefaultViewSources {
        path: names.map(|name| home.join(name)).into(),
        home: Some(home.clone()),
        closed: vec![home.join("code/portal")],
        ..DefaultViewSources::default()
    };
    let view = SandboxView::standard(&standard);
    let below = |list: &[PathBuf]| -> Vec<String> {
        let below = list.iter().filter_map(|path| path.strip_prefix(&home).ok());
        below
            .map(|path| path.to_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(below(&view.read), [".config/bin", "code/bin"]);
    assert_eq!(
        below(&view.hidden),
        [
            "code/bin/.env",
            "code/bin/.env.local",
            "code/bin/deploy/staging/.env"
        ]
    );
    let open = DefaultViewSources {
        closed: Vec::new(),
        ..standard
    };
    let view = SandboxView::standard(&open);
    let expected = [".config/bin", "code/bin", "code/lib", "code/portal/bin"];
    assert_eq!(below(&view.read), expected, "a link leads nowhere else");
}

/// Returns what folders of a home make readable when they are on `PATH`, and what stays
/// hidden.
fn opened_in(home: &Path, path: &[&str], closed: &[&str]) -> (Vec<String>, Vec<String>) {
    let view = SandboxView::standard(&DefaultViewSources {
        home: Some(home.to_owned()),
        path: path.iter().map(|name| home.join(name)).collect(),
        closed: closed.iter().map(|name| home.join(name)).collect(),
        ..DefaultViewSources::default()
    });
    let below = |list: &[PathBuf]| -> Vec<String> {
        let below = list.iter().filter_map(|path| path.strip_prefix(home).ok());
        below.map(|path| path.display().to_string()).collect()
    };
    (below(&view.read), below(&view.hidden))
}

#[test]
fn of_a_tool_chain_no_projects_no_closed_folders_and_no_credentials_are_shown() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().canonicalize().unwrap().join("home");
    for file in [
        "go/bin/tool",
        "go/pkg/mod/x",
        "go/src/app/.env",
        "go/src/app/bin/serve",
        ".go/VERSION",
        ".go/bin/go",
        ".go/pkg/x",
        ".go/src/runtime/x",
        ".pyenv/shims/python",
        ".pyenv/plugins/mine/secret",
        ".nvm/versions/node/v20/bin/npm",
        ".nvm/versions/node/v20/etc/npmrc",
        ".local/bin/uv",
        ".local/share/uv/credentials/credentials.toml",
    ] {
        let path = home.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (go, goroot) = (["go/bin", "go/pkg"], [".go/VERSION", ".go/bin", ".go/pkg"]);
    let local = [
        ".local/bin",
        ".local/lib",
        ".local/pipx",
        ".local/share/pipx",
        ".local/share/uv",
    ];
    let token = ".nvm/versions/node/v20/etc/npmrc";
    let key = ".local/share/uv/credentials";
    // The folder on `PATH`, the closed folders, the shown paths, and the hidden ones among
    // them.
    type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str]);
    let rows: &[Row<'_>] = &[
        ("go/bin", &[], &go, &[]),
        ("go", &[], &[], &[]),
        ("go/src/app/bin", &[], &["go/src/app/bin"], &[]),
        ("go/bin", &["go"], &["go/bin/tool"], &[]),
        ("go/bin", &["go/src/app"], &go, &[]),
        ("go/bin", &[""], &go, &[]),
        (".go/bin", &[], &[&goroot[..], &[".go/src"]].concat(), &[]),
        (".pyenv/shims", &[], &[".pyenv"], &[]),
        (
            ".pyenv/shims",
            &[".pyenv/plugins/mine"],
            &[".pyenv"],
            &[".pyenv/plugins/mine"],
        ),
        (".nvm/versions/node/v20/bin", &[], &[".nvm"], &[token]),
        (".local/bin", &[], &local, &[key]),
    ];
    for (folder, closed, read, hidden) in rows {
        let (shown, mut absent) = opened_in(&home, &[folder], closed);
        assert_eq!(shown, *read, "{folder} {closed:?}");
        // A path that is not shown at all does not need to be hidden.
        absent.retain(|path| shown.iter().any(|above| Path::new(path).starts_with(above)));
        assert_eq!(absent, *hidden, "{folder} {closed:?}");
    }
}

#[test]
fn a_project_on_the_path_shows_its_programs_and_nothing_else_wherever_it_is() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("srv/app/config")).unwrap();
    for (name, mode) in [("serve", 0o755), ("notes.txt", 0o644)] {
        let path = root.join("srv/app").join(name);
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::write(root.join("srv/app/config/master.key"), "x").unwrap();
    let view = SandboxView::standard(&DefaultViewSources {
        home: Some(root.join("home")),
        path: vec![root.join("srv/app")],
        ..DefaultViewSources::default()
    });
    let shown = view.read.iter().filter(|path| path.starts_with(&root));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [&root.join("srv/app/serve")],
        "neither files nor folders beside the programs"
    );
}

#[test]
fn a_folder_of_programs_and_links_to_programs_alone_is_shown_as_it_is() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let folder = root.join("programs");
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink("/bin/sh", folder.join("sh")).unwrap();
    let standard = DefaultViewSources {
        path: vec![folder.clone()],
        ..DefaultViewSources::default()
    };
    assert!(SandboxView::standard(&standard).read.contains(&folder));
    fs::create_dir(folder.join("config")).unwrap();
    assert!(!SandboxView::standard(&standard).read.contains(&folder));
}

#[test]
fn no_more_programs_are_shown_one_by_one_than_mounts_can_be_made() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let folders = ["a", "b", "c"].map(|name| root.join(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("notes.txt"), "x").unwrap();
        for number in 0..PROGRAMS / 2 + 1 {
            let path = folder.join(number.to_string());
            fs::write(&path, "x").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    let standard = DefaultViewSources {
        path: folders.into(),
        ..DefaultViewSources::default()
    };
    let opened = standard.opened_by_path();
    let shown: usize = opened.iter().map(|opened| opened.shown.len()).sum();
    assert_eq!(shown, PROGRAMS);
}

#[test]
fn what_is_not_for_everyone_is_hidden() {
    let etc = tempfile::tempdir().unwrap();
    let file = |name: &str, mode| {
        let path = etc.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    file("passwd", 0o644);
    file("shadow", 0o640);
    file("ssh/host_key", 0o600);
    let mut found = BTreeSet::new();
    not_for_everyone(etc.path(), DEPTH, &mut 100, &mut found);
    let expected = ["shadow", "ssh/host_key"].map(|name| etc.path().join(name));
    assert_eq!(found, BTreeSet::from(expected));
}
