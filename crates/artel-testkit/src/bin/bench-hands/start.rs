//! Starts `true`: plainly, behind our walls, and behind those of bubblewrap with the same
//! view.

use std::process::{Command, Stdio};

use artel_sandbox::{
    CommandExit, DefaultViewSources, RequiredSandboxLevel, Sandbox, SandboxCommandSpec,
    SandboxLevel, SandboxLimits, SandboxNetwork, SandboxStarterProgram, SandboxStdin, SandboxView,
};

use crate::{figure, median, program};

const STARTS: usize = 300;

pub(crate) fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let plain = median(STARTS, || {
        let status = Command::new("/bin/true")
            .stdin(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
    });
    let sandbox = Sandbox::new(SandboxStarterProgram::of_this_program().unwrap()).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut view = SandboxView::standard(&DefaultViewSources {
        home: std::env::var_os("HOME").map(Into::into),
        path: std::env::split_paths(&path).collect(),
        ..DefaultViewSources::default()
    });
    view.write.push(folder.path().to_owned());
    let bare = view.clone();
    view.protected = artel_policy::path::protected_names()
        .map(str::to_owned)
        .collect();
    let walled = start_often(&sandbox, view);
    let unprotected = start_often(&sandbox, bare.clone());
    let bubble = program("bwrap").map(|bwrap| {
        median(STARTS, || {
            let status = bubblewrap(&bwrap, &bare).status().unwrap();
            assert!(status.success());
        })
    });
    let millis = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
    let added = millis(walled) - millis(plain);
    figure("plain spawn of true", millis(plain), "ms", "1.00", "floor");
    figure("walled true, added", added, "ms", "-", "< 5");
    let added = millis(unprotected) - millis(plain);
    figure(
        "walled true without protected names, added",
        added,
        "ms",
        "-",
        "< 5",
    );
    match bubble {
        Some(bubble) => {
            let ratio = format!("{:.2} of bwrap", millis(unprotected) / millis(bubble));
            figure(
                "bwrap, the same view",
                millis(bubble),
                "ms",
                &ratio,
                "ours < 1",
            );
        }
        None => println!("bwrap is not installed; no comparison"),
    }
}

fn start_often(sandbox: &Sandbox, view: SandboxView) -> std::time::Duration {
    let job = SandboxCommandSpec {
        argv: vec!["/bin/true".into()],
        cwd: "/".into(),
        env: Vec::new(),
        view,
        network: SandboxNetwork::None,
        limits: SandboxLimits::default(),
        stdin: SandboxStdin::Empty,
    };
    median(STARTS, || {
        let started = sandbox
            .start(&job, RequiredSandboxLevel(SandboxLevel::Full))
            .unwrap();
        assert_eq!(started.process.wait(), CommandExit::Code(0));
    })
}

fn bubblewrap(bwrap: &std::path::Path, view: &SandboxView) -> Command {
    let mut command = Command::new(bwrap);
    command.args([
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]);
    command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
    for path in &view.read {
        command.arg("--ro-bind-try").arg(path).arg(path);
    }
    for path in &view.hidden {
        if path.is_dir() {
            command.arg("--tmpfs").arg(path);
        } else if path.exists() {
            command.args(["--ro-bind", "/dev/null"]).arg(path);
        }
    }
    for path in &view.write {
        command.arg("--bind").arg(path).arg(path);
    }
    command.arg("/bin/true").stdin(Stdio::null());
    command
}
