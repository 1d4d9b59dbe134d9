//! Containers, clusters, services and desktops: listing and showing is harmless, acting is
//! asked about.

use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, ProgramSubcommands, asks,
    asks_flag, lists,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works("docker podman nerdctl")
        .style(ProgramOptionStyle::Posix)
        .entries(&[asks(
            "-H --host -c --context --config --connection --url",
            DoubtReason::Service,
        )])
        .operands(OperandMeaning::Call(docker)),
    ProgramSpec::works("docker-compose podman-compose")
        .style(ProgramOptionStyle::Posix)
        .values(&["-p --project-name --profile"])
        .entries(&[asks(
            "-f --file --project-directory --env-file",
            DoubtReason::Loads,
        )])
        .operands(OperandMeaning::Call(compose)),
    ProgramSpec::works("kubectl oc")
        .values(&["-n --namespace -l --selector -c --container --tail --since --field-selector"])
        .flags(&["-o? --output --all-namespaces --follow --previous"])
        .entries(&[
            asks(
                "--kubeconfig --context --cluster --server -s --token --as --cache-dir",
                DoubtReason::Elsewhere,
            ),
            asks("-f --filename -k --kustomize", DoubtReason::Loads)
                .of("get describe diff explain"),
        ])
        .operands(OperandMeaning::Subs(&KUBECTL)),
    ProgramSpec::works("helm")
        .entries(&[asks(
            "--kubeconfig --kube-context --post-renderer",
            DoubtReason::Starts,
        )])
        .operands(OperandMeaning::Subs(&HELM)),
    ProgramSpec::works("terraform tofu terragrunt")
        .style(ProgramOptionStyle::Dash)
        .entries(&[
            asks(
                "-chdir* -plugin-dir -backend-config",
                DoubtReason::Elsewhere,
            ),
            asks("-out", DoubtReason::Writes),
        ])
        .operands(OperandMeaning::Subs(&TERRAFORM)),
    ProgramSpec::works("systemctl service loginctl")
        .style(ProgramOptionStyle::Posix)
        .values(&["-t --type --state -p --property"])
        .entries(&[
            asks("-H --host -M --machine --root", DoubtReason::Elsewhere),
            asks_flag("--user --no-ask-password", DoubtReason::Service),
        ])
        .operands(OperandMeaning::Subs(&SYSTEMCTL)),
    ProgramSpec::doubtful("systemd-run systemd-nspawn at batch", DoubtReason::Service)
        .style(ProgramOptionStyle::Posix)
        .values(&["-p --property -u --unit --slice --uid --gid"])
        .operands(OperandMeaning::Command(0)),
    ProgramSpec::doubtful(
        "crontab atq atrm launchctl dbus-send busctl gdbus dbus-launch qdbus machinectl \
            supervisorctl initctl pm2 forever",
        DoubtReason::Service,
    ),
    ProgramSpec::doubtful("journalctl coredumpctl", DoubtReason::Interactive),
    ProgramSpec::doubtful(
        "xdg-open open start wslview gio gvfs-open sensible-browser x-www-browser firefox \
            chromium google-chrome xdotool wmctrl xclip xsel pbcopy pbpaste wl-copy wl-paste \
            notify-send",
        DoubtReason::Service,
    ),
    ProgramSpec::doubtful(
        "ansible ansible-playbook puppet chef-client salt vagrant packer",
        DoubtReason::Remote,
    ),
    ProgramSpec::doubtful(
        "useradd userdel usermod passwd chsh chfn groupadd visudo adduser \
        deluser",
        DoubtReason::Privilege,
    ),
    ProgramSpec::doubtful(
        "shutdown reboot halt poweroff init telinit modprobe insmod rmmod sysctl",
        DoubtReason::Privilege,
    ),
    ProgramSpec::doubtful(
        "xauth keyctl secret-tool pass op bw vault security",
        DoubtReason::Sends,
    ),
];

const DOCKER_PLAIN: &str = "ps images version info inspect logs stats top port diff history \
    search events help";

const DOCKER_LISTING: &str = "ls list ps inspect df version info logs top stats config images \
    port events history";

const KUBECTL: ProgramSubcommands = ProgramSubcommands {
    plain: "get describe logs version explain api-resources api-versions cluster-info top diff \
        help wait",
    doubtful: &[
        (
            "exec attach debug run cp port-forward proxy",
            DoubtReason::Remote,
        ),
        (
            "apply create delete edit patch replace scale rollout set label annotate drain cordon \
            taint",
            DoubtReason::Service,
        ),
    ],
    starting: "",
    writing: "",
    unknown: Some(DoubtReason::Unknown),
};

const HELM: ProgramSubcommands = ProgramSubcommands {
    plain: "list ls status get history show search lint version env verify template help",
    doubtful: &[
        (
            "install upgrade uninstall rollback push registry repo dependency create test",
            DoubtReason::Service,
        ),
        ("plugin", DoubtReason::Installs),
    ],
    starting: "",
    writing: "",
    unknown: Some(DoubtReason::Unknown),
};

const TERRAFORM: ProgramSubcommands = ProgramSubcommands {
    plain: "validate fmt show output version graph providers plan state get help",
    doubtful: &[
        (
            "apply destroy import taint untaint refresh force-unlock login logout workspace",
            DoubtReason::Service,
        ),
        ("init", DoubtReason::Installs),
        ("console", DoubtReason::Interactive),
    ],
    starting: "",
    writing: "",
    unknown: Some(DoubtReason::Unknown),
};

const SYSTEMCTL: ProgramSubcommands = ProgramSubcommands {
    plain: "status is-active is-enabled is-failed list-units list-unit-files list-timers show cat",
    doubtful: &[(
        "start stop restart reload enable disable mask unmask kill daemon-reload edit",
        DoubtReason::Service,
    )],
    starting: "",
    writing: "",
    unknown: Some(DoubtReason::Service),
};

fn docker(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
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
                view.doubt_word(DoubtReason::Service, sub);
                contained(view, rest);
            }
        }
        "compose" => compose_words(view, rest),
        _ => {
            view.doubt_word(DoubtReason::Service, sub);
            contained(view, &parsed.operands);
        }
    }
}

/// Records the commands started in a container. It is not known which options take a
/// value, so the words after every candidate for the container or image are treated as a
/// command.
fn contained(view: &mut CommandInspector<'_>, words: &[&str]) {
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

fn compose(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    compose_words(view, &parsed.operands);
}

fn compose_words(view: &mut CommandInspector<'_>, words: &[&str]) {
    if !words.first().is_some_and(|sub| lists(DOCKER_LISTING, sub)) {
        view.doubt_word(
            DoubtReason::Service,
            words.first().copied().unwrap_or_default(),
        );
        let at = words
            .iter()
            .position(|word| lists("exec run", word))
            .unwrap_or(0);
        contained(view, &words[at..]);
    }
}
