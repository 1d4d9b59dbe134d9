//! Containers, clusters, services and desktops: listing and showing is harmless, acting is
//! asked about.

use super::options::Parsed;
use super::table::{Operands, Program, Style, Subs, Why, asks, asks_flag, lists};
use super::view::View;

pub(super) const TABLE: &[Program] = &[
    Program::works("docker podman nerdctl")
        .style(Style::Posix)
        .entries(&[asks(
            "-H --host -c --context --config --connection --url",
            Why::Service,
        )])
        .operands(Operands::Call(docker)),
    Program::works("docker-compose podman-compose")
        .style(Style::Posix)
        .values(&["-p --project-name --profile"])
        .entries(&[asks("-f --file --project-directory --env-file", Why::Loads)])
        .operands(Operands::Call(compose)),
    Program::works("kubectl oc")
        .values(&["-n --namespace -l --selector -c --container --tail --since --field-selector"])
        .flags(&["-o? --output --all-namespaces --follow --previous"])
        .entries(&[
            asks(
                "--kubeconfig --context --cluster --server -s --token --as --cache-dir",
                Why::Elsewhere,
            ),
            asks("-f --filename -k --kustomize", Why::Loads).of("get describe diff explain"),
        ])
        .operands(Operands::Subs(&KUBECTL)),
    Program::works("helm")
        .entries(&[asks(
            "--kubeconfig --kube-context --post-renderer",
            Why::Starts,
        )])
        .operands(Operands::Subs(&HELM)),
    Program::works("terraform tofu terragrunt")
        .style(Style::Dash)
        .entries(&[
            asks("-chdir* -plugin-dir -backend-config", Why::Elsewhere),
            asks("-out", Why::Writes),
        ])
        .operands(Operands::Subs(&TERRAFORM)),
    Program::works("systemctl service loginctl")
        .style(Style::Posix)
        .values(&["-t --type --state -p --property"])
        .entries(&[
            asks("-H --host -M --machine --root", Why::Elsewhere),
            asks_flag("--user --no-ask-password", Why::Service),
        ])
        .operands(Operands::Subs(&SYSTEMCTL)),
    Program::doubtful("systemd-run systemd-nspawn at batch", Why::Service)
        .style(Style::Posix)
        .values(&["-p --property -u --unit --slice --uid --gid"])
        .operands(Operands::Command(0)),
    Program::doubtful(
        "crontab atq atrm launchctl dbus-send busctl gdbus dbus-launch qdbus machinectl \
            supervisorctl initctl pm2 forever",
        Why::Service,
    ),
    Program::doubtful("journalctl coredumpctl", Why::Interactive),
    Program::doubtful(
        "xdg-open open start wslview gio gvfs-open sensible-browser x-www-browser firefox \
            chromium google-chrome xdotool wmctrl xclip xsel pbcopy pbpaste wl-copy wl-paste \
            notify-send",
        Why::Service,
    ),
    Program::doubtful(
        "ansible ansible-playbook puppet chef-client salt vagrant packer",
        Why::Remote,
    ),
    Program::doubtful(
        "useradd userdel usermod passwd chsh chfn groupadd visudo adduser \
        deluser",
        Why::Privilege,
    ),
    Program::doubtful(
        "shutdown reboot halt poweroff init telinit modprobe insmod rmmod sysctl",
        Why::Privilege,
    ),
    Program::doubtful(
        "xauth keyctl secret-tool pass op bw vault security",
        Why::Sends,
    ),
];

const DOCKER_PLAIN: &str = "ps images version info inspect logs stats top port diff history \
    search events help";

const DOCKER_LISTING: &str = "ls list ps inspect df version info logs top stats config images \
    port events history";

const KUBECTL: Subs = Subs {
    plain: "get describe logs version explain api-resources api-versions cluster-info top diff \
        help wait",
    doubtful: &[
        ("exec attach debug run cp port-forward proxy", Why::Remote),
        (
            "apply create delete edit patch replace scale rollout set label annotate drain cordon \
            taint",
            Why::Service,
        ),
    ],
    starting: "",
    writing: "",
    unknown: Some(Why::Unknown),
};

const HELM: Subs = Subs {
    plain: "list ls status get history show search lint version env verify template help",
    doubtful: &[
        (
            "install upgrade uninstall rollback push registry repo dependency create test",
            Why::Service,
        ),
        ("plugin", Why::Installs),
    ],
    starting: "",
    writing: "",
    unknown: Some(Why::Unknown),
};

const TERRAFORM: Subs = Subs {
    plain: "validate fmt show output version graph providers plan state get help",
    doubtful: &[
        (
            "apply destroy import taint untaint refresh force-unlock login logout workspace",
            Why::Service,
        ),
        ("init", Why::Installs),
        ("console", Why::Interactive),
    ],
    starting: "",
    writing: "",
    unknown: Some(Why::Unknown),
};

const SYSTEMCTL: Subs = Subs {
    plain: "status is-active is-enabled is-failed list-units list-unit-files list-timers show cat",
    doubtful: &[(
        "start stop restart reload enable disable mask unmask kill daemon-reload edit",
        Why::Service,
    )],
    starting: "",
    writing: "",
    unknown: Some(Why::Service),
};

fn docker(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    if lists(DOCKER_PLAIN, sub) {
        return;
    }
    match *sub {
        "container" | "image" | "volume" | "network" | "system" | "context" => {
            if !rest
                .first()
                .is_some_and(|inner| lists(DOCKER_LISTING, inner))
            {
                view.doubt_word(Why::Service, sub);
                contained(view, rest);
            }
        }
        "compose" => compose_words(view, rest),
        _ => {
            view.doubt_word(Why::Service, sub);
            contained(view, &parsed.operands);
        }
    }
}

/// Records the commands started in a container. It is not known which options take a
/// value, so the words after every candidate for the container or image are treated as a
/// command.
fn contained(view: &mut View<'_>, words: &[&str]) {
    let Some((sub, rest)) = words.split_first() else {
        return;
    };
    if !lists("exec run create", sub) {
        return;
    }
    let is_place = |(_, word): &(usize, &&str)| !word.starts_with('-');
    for (at, _) in rest.iter().enumerate().filter(is_place).take(12) {
        view.start_words(rest.get(at + 1..).unwrap_or_default());
    }
    for (at, word) in rest.iter().enumerate() {
        if let Some(program) = word.strip_prefix("--entrypoint") {
            let program = program.strip_prefix('=').or(rest.get(at + 1).copied());
            view.start_script(program.unwrap_or_default());
        }
    }
}

fn compose(view: &mut View<'_>, parsed: &Parsed<'_>) {
    compose_words(view, &parsed.operands);
}

fn compose_words(view: &mut View<'_>, words: &[&str]) {
    if !words.first().is_some_and(|sub| lists(DOCKER_LISTING, sub)) {
        view.doubt_word(Why::Service, words.first().copied().unwrap_or_default());
        let at = words
            .iter()
            .position(|word| lists("exec run", word))
            .unwrap_or(0);
        contained(view, &words[at..]);
    }
}
