//! The call of a container engine that a job becomes, and the jobs that become none.

use std::ffi::OsString;
use std::path::Path;

use artel_sandbox::docker::{ContainerEngine, ContainerJobError, MountSourceKind, call};
use artel_sandbox::{
    FolderOverlay, GrantedHost, SandboxCommandSpec, SandboxLimits, SandboxNetwork, SandboxStdin,
    SandboxView,
};

fn engine() -> ContainerEngine {
    ContainerEngine {
        program: "/usr/bin/docker".into(),
        image: "sha256:abc".to_owned(),
        user: (1000, 1001),
    }
}

fn job() -> SandboxCommandSpec {
    SandboxCommandSpec {
        argv: vec!["/bin/sh".into(), "-c".into(), "--version".into()],
        cwd: "/w".into(),
        env: vec![
            ("PATH".into(), "/bin".into()),
            ("API_TOKEN".into(), "hush".into()),
        ],
        view: SandboxView {
            read: vec!["/usr".into(), "/missing".into()],
            write: vec!["/w".into()],
            hidden: vec!["/usr/keys".into(), "/usr/keys.pem".into()],
            protected: vec![".git".to_owned()],
            ..SandboxView::default()
        },
        network: SandboxNetwork::None,
        limits: SandboxLimits {
            cpu_percent: Some(150),
            cpu_seconds: Some(9),
            ..SandboxLimits::default()
        },
        stdin: SandboxStdin::Empty,
    }
}

fn kind(path: &Path) -> Option<MountSourceKind> {
    match path.to_str()? {
        "/missing" => None,
        path if path.ends_with(".pem") => Some(MountSourceKind::File),
        _ => Some(MountSourceKind::Folder),
    }
}

#[test]
fn a_job_becomes_one_call() {
    let call = call(&job(), &engine(), kind).unwrap();
    let words: Vec<_> = call
        .argv
        .iter()
        .map(|word| word.to_str().unwrap())
        .collect();
    let expected = "/usr/bin/docker run --rm --init --pull never --read-only --network none \
        --ipc private --cap-drop ALL --security-opt no-new-privileges --user 1000:1001 \
        --memory 2147483648b --memory-swap 2147483648b --pids-limit 1024 --cpus 1.50 \
        --ulimit nofile=4096:4096 --ulimit fsize=4294967296:4294967296 --ulimit core=0:0 \
        --ulimit cpu=9:9 --tmpfs /tmp:rw,nosuid,nodev,exec,mode=1777 \
        --mount type=bind,source=/usr,target=/usr,readonly \
        --mount type=tmpfs,target=/usr/keys,tmpfs-size=4096,readonly \
        --mount type=bind,source=/dev/null,target=/usr/keys.pem,readonly \
        --mount type=bind,source=/w,target=/w \
        --mount type=bind,source=/w/.git,target=/w/.git,readonly \
        --workdir /w --env PATH=/bin --env API_TOKEN --entrypoint /bin/sh sha256:abc \
        -c --version";
    assert_eq!(words, expected.split_whitespace().collect::<Vec<_>>());
    let env: Vec<(OsString, OsString)> = vec![("API_TOKEN".into(), "hush".into())];
    assert_eq!(call.env, env, "values are no arguments");
}

#[test]
fn input_is_handed_on_where_there_is_some() {
    for stdin in [SandboxStdin::Bytes(b"x".to_vec()), SandboxStdin::Inherit] {
        let job = SandboxCommandSpec { stdin, ..job() };
        let call = call(&job, &engine(), kind).unwrap();
        assert!(call.argv.contains(&"--interactive".into()));
    }
}

#[test]
fn paths_keep_their_meaning() {
    for (path, mount) in [
        ("/a b", "type=bind,source=/a b,target=/a b,readonly"),
        ("/a:b", "type=bind,source=/a:b,target=/a:b,readonly"),
        (
            "/a,target=/etc",
            "type=bind,\"source=/a,target=/etc\",\"target=/a,target=/etc\",readonly",
        ),
        (
            "/a\"b",
            "type=bind,\"source=/a\"\"b\",\"target=/a\"\"b\",readonly",
        ),
    ] {
        let mut job = job();
        job.view = SandboxView {
            read: vec![path.into()],
            ..SandboxView::default()
        };
        let call = call(&job, &engine(), kind).unwrap();
        assert!(call.argv.contains(&mount.into()), "{path}");
    }
}

#[test]
fn the_stricter_word_decides_where_two_speak_of_one_path() {
    let mut job = job();
    job.view = SandboxView {
        read: vec!["/w".into()],
        write: vec!["/w".into(), "/w/.git".into(), "/w/x.pem".into()],
        hidden: vec!["/w/x.pem".into()],
        ..SandboxView::default()
    };
    let mounts = |job: &SandboxCommandSpec| -> Vec<String> {
        let call = call(job, &engine(), kind).unwrap();
        let words = call.argv.windows(2).filter(|pair| pair[0] == "--mount");
        words
            .map(|pair| pair[1].to_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        mounts(&job),
        [
            "type=bind,source=/w,target=/w",
            "type=bind,source=/w/.git,target=/w/.git",
            "type=bind,source=/dev/null,target=/w/x.pem,readonly",
        ]
    );
    job.view.write = vec!["/w".into()];
    job.view.read = vec!["/w".into(), "/w/.git".into()];
    job.view.protected = vec![".git".to_owned()];
    assert_eq!(
        mounts(&job)[1],
        "type=bind,source=/w/.git,target=/w/.git,readonly"
    );
}

fn refused(
    change: impl Fn(&mut SandboxCommandSpec, &mut ContainerEngine),
) -> Option<ContainerJobError> {
    let (mut job, mut engine) = (job(), engine());
    change(&mut job, &mut engine);
    call(&job, &engine, kind).err()
}

#[test]
fn what_a_container_cannot_promise_is_refused() {
    let network = refused(|job, _| {
        job.network = SandboxNetwork::Hosts(vec![GrantedHost::parse("example.com").unwrap()]);
    });
    assert_eq!(network, Some(ContainerJobError::Network));
    let overlay = refused(|job, _| {
        job.view.overlays = vec![FolderOverlay {
            lower: "/l".into(),
            upper: "/u".into(),
            work: "/k".into(),
            at: "/at".into(),
        }];
    });
    assert_eq!(
        overlay,
        Some(ContainerJobError::Overlay { at: "/at".into() })
    );
    for user in [(0, 5), (5, 0)] {
        let root = refused(|_, engine| engine.user = user);
        assert_eq!(root, Some(ContainerJobError::Root), "{user:?}");
    }
    // An empty list grants nothing, so nothing is missing.
    let empty = SandboxCommandSpec {
        network: SandboxNetwork::Hosts(Vec::new()),
        ..job()
    };
    assert!(call(&empty, &engine(), kind).is_ok());
}

#[test]
fn words_that_an_engine_would_misread_are_refused() {
    for bad in ["relative", "/", "/a/../b", "/a\nb"] {
        let path = refused(|job, _| job.view.write = vec![bad.into()]);
        assert_eq!(path, Some(ContainerJobError::Path { path: bad.into() }));
    }
    let cwd = refused(|job, _| job.cwd = "here".into());
    assert_eq!(
        cwd,
        Some(ContainerJobError::Path {
            path: "here".into()
        })
    );
    for image in ["", "--privileged"] {
        let word = image.to_owned();
        let found = refused(|_, engine| engine.image = image.to_owned());
        assert_eq!(found, Some(ContainerJobError::Word { word }));
    }
    let word = String::new();
    let found = refused(|job, _| job.argv.clear());
    assert_eq!(found, Some(ContainerJobError::Word { word }));
    for name in ["DOCKER_HOST", "LD_PRELOAD", "https_proxy", "A=B", ""] {
        let found = refused(|job, _| job.env.push((name.into(), "x".into())));
        let name = name.to_owned();
        assert_eq!(found, Some(ContainerJobError::Variable { name }));
    }
}

#[test]
fn a_protected_name_that_does_not_exist_is_not_left_open() {
    let absent = |path: &Path| kind(path).filter(|_| !path.ends_with(".git"));
    let expected = ContainerJobError::Unprotected {
        path: "/w/.git".into(),
    };
    assert_eq!(call(&job(), &engine(), absent).unwrap_err(), expected);
}
