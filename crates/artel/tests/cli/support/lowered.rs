//! A machine on which the walls are lower.

use std::process::Command;

use super::Artel;

/// Has a command run on a machine that gives it no namespaces.
pub(crate) fn lowered(artel: Artel) -> Command {
    let artel = artel.command();
    let mut command = Command::new("unshare");
    command
        .args(["-Ur", "sh", "-c"])
        .arg("echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"")
        .arg(artel.get_program())
        .args(artel.get_args())
        .env_clear();
    for (name, value) in artel.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.current_dir(artel.get_current_dir().unwrap());
    command
}
