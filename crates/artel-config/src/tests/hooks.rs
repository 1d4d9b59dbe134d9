//! Hooks in settings files: read in order, each with its line, and helpful messages where
//! they are wrong.

use std::time::Duration;

use super::house::House;
use crate::{HookFailureChoice, SettingOrigin};

#[test]
fn layers_add_up_and_keep_their_order() {
    let house = House::new()
        .user(
            "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\ncommand = \"~/mine.sh\"\ntimeout = \"5s\"\n\
             priority = 0\non_failure = \"block\"\nnetwork = [\"example.org\"]\nread = [\"~/data\"]\n\
             write = [\"/srv/out\"]\n",
        )
        .workshop(
            "[[hooks.Stop]]\ncommand = \"b\"\n[[hooks.PreToolUse]]\nmatcher = \"\"\ncommand = \"a\"\n\
             write = [\"target\"]\n",
        );
    let settings = house.load().unwrap();
    let commands: Vec<_> = settings.hooks.iter().map(|hook| &hook.command).collect();
    assert_eq!(commands, ["~/mine.sh", "b", "a"]);
    let mine = &settings.hooks[0];
    assert_eq!(mine.timeout, Some(Duration::from_secs(5)));
    assert_eq!(
        (mine.priority, mine.on_failure),
        (0, HookFailureChoice::Block)
    );
    assert_eq!(mine.network, ["example.org"]);
    assert_eq!(mine.origin, SettingOrigin::User(house.user_file(), 2));
    let other = &settings.hooks[2];
    assert_eq!(
        (other.priority, other.on_failure),
        (50, HookFailureChoice::Warn)
    );
    assert_eq!(
        other.origin,
        SettingOrigin::Workshop(house.workshop_file(), 4)
    );
    assert!(other.matcher.is_empty());
    let rows = settings.rows();
    let row = rows.iter().find(|row| row.key == "hooks.Stop").unwrap();
    assert_eq!(
        row.value,
        "{ matcher = \"\", command = \"b\", priority = 50 }"
    );
    let others = House::new().workshop("[[hooks.Stop]]\ncommand = \"b\"\n");
    let none = House::new().load().unwrap().checksum();
    assert_ne!(others.load().unwrap().checksum(), none);
}

#[test]
fn everything_wrong_with_hooks_is_named_with_its_line() {
    let house = House::new().workshop(
        "[[hooks.PreTolUse]]\ncommand = \"a\"\n\
         [[hooks.Stop]]\ntimeout = 30\npriority = 101\non_failure = \"stop\"\ncomand = \"x\"\n\
         [[hooks.Stop]]\nmatcher = \"*\"\n\
         [[hooks.PostToolUse]]\ncommand = \"c\"\nnetwork = [\"example.org\"]\nread = [\"/etc\"]\n\
         write = [\"../up\"]\n\
         [hooks.SessionEnd]\ncommand = \"d\"\n",
    );
    insta::assert_snapshot!(house.complaints(), @r#"
    error[S003]: there are no hooks for `PreTolUse`
      why: `WORKSHOP/artel.toml` line 1
      try: did you mean `hooks.PreToolUse`?
    error[S004]: `hooks.Stop.timeout` has the wrong type
      why: `WORKSHOP/artel.toml` line 4 has a whole number: `30`
      try: write a span in quotes, such as "200ms", "30s", "15m", "24h", "7d", "2w"; more than zero
    error[S005]: `hooks.Stop.priority` cannot be `101`
      why: `WORKSHOP/artel.toml` line 5
      try: write a whole number from 0 to 100
    error[S005]: `hooks.Stop.on_failure` cannot be `"stop"`
      why: `WORKSHOP/artel.toml` line 6
      try: write "warn" or "block"
    error[S003]: unknown setting `hooks.Stop.comand`
      why: `WORKSHOP/artel.toml` line 7
      try: did you mean `hooks.Stop.command`?
    error[S005]: a hook for Stop has no command
      why: `WORKSHOP/artel.toml` line 9
      try: write what it runs: command = "./check.sh"
    error[S005]: `hooks.PostToolUse.network` cannot be `["example.org"]`
      why: `WORKSHOP/artel.toml` line 12; only your own settings file lets a hook out of the run's files
      try: declare the hook in your own settings file, or name folders of the run's files
    error[S005]: `hooks.PostToolUse.read` cannot be `["/etc"]`
      why: `WORKSHOP/artel.toml` line 13; only your own settings file lets a hook out of the run's files
      try: declare the hook in your own settings file, or name folders of the run's files
    error[S005]: `hooks.PostToolUse.write` cannot be `["../up"]`
      why: `WORKSHOP/artel.toml` line 14; only your own settings file lets a hook out of the run's files
      try: declare the hook in your own settings file, or name folders of the run's files
    error[S004]: `hooks.SessionEnd` is not a list of hooks
      why: `WORKSHOP/artel.toml` line 15
      try: write `[[hooks.PreToolUse]]` on a line of its own, and `command = …` below it
    "#);
}

#[test]
fn hooks_that_are_no_section_are_refused() {
    for text in [
        "hooks = 1",
        "hooks.Stop = [1]",
        "[[hooks]]\ncommand = \"x\"",
    ] {
        let complaints = House::new().workshop(text).complaints();
        assert!(
            complaints.contains("is not a list of hooks"),
            "{complaints}"
        );
    }
}
