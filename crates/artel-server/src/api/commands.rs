//! The HTTP operations that do the same as each command of the binary, and the commands
//! that are only available in a terminal, with the reason. A test of the binary walks its
//! commands and demands one of the two for each.

use serde_json::{Value, json};

/// Whether a command is also available over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandAvailability {
    /// Available over HTTP, by operations with these ids.
    Http(&'static [&'static str]),
    /// Only available in a terminal, for this reason.
    Terminal(&'static str),
}

use CommandAvailability::{Http, Terminal};

/// Every command of the binary, without the leading `artel`, in alphabetical order.
pub const COMMANDS: &[(&str, CommandAvailability)] = &[
    ("agent create", Http(&["createAgent"])),
    ("agent edit", Http(&["showAgentText", "editAgent"])),
    ("agent list", Http(&["listAgents"])),
    ("agent remove", Http(&["removeAgent"])),
    ("agent show", Http(&["showAgent"])),
    ("agent validate", Http(&["validateAgent", "validateAgents"])),
    ("answer", Http(&["answerRun", "answerCall"])),
    ("apply", Http(&["diffRun", "applyRun"])),
    ("ask", Http(&["createRequest", "previewRequest"])),
    ("auth remove", Http(&["removeKey"])),
    (
        "auth set",
        Terminal("a key is typed where nobody sees it, and passes no server on its way"),
    ),
    ("auth status", Http(&["listKeys"])),
    ("cancel", Http(&["cancelRun"])),
    (
        "changeset approve",
        Http(&["approveChangeset", "decideChangeset"]),
    ),
    ("changeset list", Http(&["listChangesets"])),
    ("changeset redo", Http(&["redoChangeset"])),
    (
        "changeset reject",
        Http(&["rejectChangeset", "decideChangeset"]),
    ),
    ("changeset show", Http(&["showChangeset", "diffChangeset"])),
    ("changeset undo", Http(&["undoChangeset"])),
    ("clean", Http(&["showRubbish", "clean"])),
    ("config show", Http(&["listSettings"])),
    (
        "daemon install",
        Terminal("it writes a unit for systemd into the person's home folder"),
    ),
    ("daemon logs", Http(&["showLog"])),
    ("daemon pause", Http(&["pauseDaemon"])),
    ("daemon reload", Http(&["reloadDaemon"])),
    (
        "daemon restart",
        Terminal("whoever answers cannot end itself and answer"),
    ),
    ("daemon resume", Http(&["resumeDaemon"])),
    ("daemon start", Terminal("before it nobody listens")),
    ("daemon status", Http(&["showDaemon"])),
    (
        "daemon stop",
        Terminal("whoever answers cannot end itself and answer"),
    ),
    (
        "demo",
        Terminal("it plays in a workshop of its own, and asks whether to keep it"),
    ),
    ("doctor", Http(&["showHealth"])),
    ("explain", Http(&["explain", "listCodes"])),
    ("feedback", Http(&["giveFeedback"])),
    ("fork", Http(&["forkRun"])),
    ("hint", Http(&["hintRun"])),
    ("hook list", Http(&["listHooks"])),
    ("hook trust", Http(&["trustHook"])),
    ("inbox scan", Http(&["scanInbox"])),
    ("init", Terminal("before it there is no workshop to serve")),
    ("journal backup", Http(&["backUpJournal"])),
    ("journal export", Http(&["exportJournal"])),
    ("journal prune", Http(&["pruneJournal"])),
    ("journal query", Http(&["listEvents"])),
    (
        "journal restore",
        Terminal("it replaces the journal, which nobody may hold open meanwhile"),
    ),
    ("journal stats", Http(&["showStats"])),
    ("journal tail", Http(&["listEvents"])),
    ("journal verify", Http(&["verifyJournal"])),
    ("model list", Http(&["listModels"])),
    ("model record", Http(&["recordTrace"])),
    ("model reset", Http(&["resetProvider"])),
    ("model show", Http(&["showModel"])),
    ("model test", Http(&["testModel"])),
    (
        "open",
        Terminal("whoever stands at the machine is let in by it; nobody else is"),
    ),
    ("pause", Http(&["pauseRun"])),
    ("plan approve", Http(&["approvePlan"])),
    ("plan cancel", Http(&["cancelPlan", "cancelStep"])),
    ("plan diff", Http(&["diffPlan"])),
    ("plan edit", Http(&["showPlanMarkdown", "editPlan"])),
    ("plan list", Http(&["listPlans"])),
    ("plan pause", Http(&["pauseStep"])),
    ("plan reject", Http(&["rejectPlan"])),
    ("plan resume", Http(&["resumeStep"])),
    ("plan retry", Http(&["retryPlan"])),
    ("plan revise", Http(&["revisePlan"])),
    ("plan show", Http(&["showPlan", "showPlanMarkdown"])),
    ("plan skip", Http(&["skipStep"])),
    ("plan waive", Http(&["waiveStep"])),
    ("policy check", Http(&["checkCommand"])),
    ("policy grant", Http(&["createGrant"])),
    ("policy list", Http(&["listGrants"])),
    (
        "policy path",
        Terminal("it does to the caller's own files what it is told, to see the walls"),
    ),
    ("policy redact", Http(&["redact"])),
    ("policy revoke", Http(&["revokeGrant"])),
    ("portal add", Http(&["createPortal"])),
    ("portal list", Http(&["listPortals"])),
    ("portal refresh", Http(&["refreshPortal"])),
    ("portal remove", Http(&["removePortal"])),
    ("portal show", Http(&["showPortal"])),
    ("portal verify", Http(&["verifyPortal"])),
    ("replay", Http(&["replayRun"])),
    ("report list", Http(&["listReports"])),
    ("report rebuild", Http(&["rebuildReport"])),
    ("report show", Http(&["showReport"])),
    ("request list", Http(&["listRequests"])),
    ("request show", Http(&["showRequest"])),
    ("resume", Http(&["resumeRun", "resumeRequest"])),
    ("run", Http(&["createRun", "createPlan"])),
    ("runs", Http(&["listRuns", "showRun"])),
    (
        "sandbox run",
        Terminal("it runs the caller's own command in their folder, on their terminal"),
    ),
    ("serve", Terminal("before it nobody listens")),
    (
        "skill feedback",
        Http(&["showSkill", "addLesson", "editLesson", "removeLesson"]),
    ),
    ("skill list", Http(&["listSkills"])),
    ("skill new", Http(&["createSkill"])),
    ("skill show", Http(&["showSkill"])),
    ("skill stats", Http(&["listSkillStats", "showSkill"])),
    (
        "skill test",
        Http(&["testSkill", "testSkills", "promoteRun"]),
    ),
    ("skill trust", Http(&["showSkill", "trustSkill"])),
    ("skill validate", Http(&["validateSkill", "validateSkills"])),
    ("token create", Http(&["createToken"])),
    ("token list", Http(&["listTokens"])),
    ("token revoke", Http(&["revokeToken"])),
    ("tool list", Http(&["listTools"])),
    ("tool run", Http(&["runTool"])),
    ("tool show", Http(&["showTool"])),
    ("trace", Http(&["showTrace", "tellRun", "listEvents"])),
    ("usage", Http(&["showUsage"])),
    ("waiting", Http(&["listWaiting"])),
    ("workshop show", Http(&["showWorkshop"])),
    (
        "workshop trust",
        Terminal("before it the workshop is not served"),
    ),
];

/// Adds `x-commands` to every operation: the commands that do the same.
pub(super) fn note(description: &mut Value) {
    let paths = description["paths"].as_object_mut();
    for item in paths.into_iter().flat_map(|paths| paths.values_mut()) {
        let operations = item.as_object_mut();
        for operation in operations.into_iter().flat_map(|it| it.values_mut()) {
            let name = operation["operationId"].as_str().unwrap_or_default();
            let same = COMMANDS.iter().filter(|(_, over)| match over {
                Http(names) => names.contains(&name),
                Terminal(_) => false,
            });
            let same: Vec<_> = same
                .map(|(command, _)| format!("artel {command}"))
                .collect();
            if !same.is_empty() {
                operation["x-commands"] = json!(same);
            }
        }
    }
}
