//! The descriptors of the command tools.

use serde_json::json;

use crate::{ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolSchemaDelivery};

pub(super) fn bash() -> ToolDescriptor {
    ToolDescriptor {
        name: "bash".to_owned(),
        line: "Run a shell command in the sandbox, in the run's tree".to_owned(),
        description:
            "Run a shell command in the run's tree, without network unless it names hosts. The working directory \
            lasts from call to call, variables do not. Long output is shortened; `output` has all \
            of it. Git commands that write do not work here: use the git tools."
                .to_owned(),
        input: json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["command"],
            "properties": {
                "command": {"type": "string"},
                "background": {"type": "boolean", "description": "Return at once; see `job`"},
                "timeout": {"type": "integer", "description": "Seconds, if it takes long"},
                "network": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Hosts it has to reach and may, as \"example.org\""
                },
            },
        }),
        effects: vec![ToolEffect::Read, ToolEffect::Write, ToolEffect::Process],
        unknown: ToolCrashRecovery::Restore,
        bundle: "commands",
        keywords: &["shell", "run", "command", "terminal"],
        reach: ToolSchemaDelivery::Always,
    }
}

pub(super) fn job() -> ToolDescriptor {
    ToolDescriptor {
        name: "job".to_owned(),
        line: "Look at a background command, or end it".to_owned(),
        description: "Without an id, lists all of them.".to_owned(),
        input: json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "id": {"type": "integer", "description": "The number that `bash` gave"},
                "kill": {"type": "boolean", "description": "End it with everything it started"},
            },
        }),
        effects: Vec::new(),
        unknown: ToolCrashRecovery::Pure,
        bundle: "commands",
        keywords: &["background", "kill", "status", "server"],
        reach: ToolSchemaDelivery::Found,
    }
}

pub(super) fn output() -> ToolDescriptor {
    ToolDescriptor {
        name: "output".to_owned(),
        line: "Read the full output of a command, page by page".to_owned(),
        description: "The answer of a command names its id where something was left out."
            .to_owned(),
        input: json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["id"],
            "properties": {
                "id": {"type": "string", "description": "The id of the output"},
                "stderr": {"type": "boolean", "description": "The messages instead of the output"},
                "offset": {"type": "integer", "description": "The byte to begin at"},
            },
        }),
        effects: Vec::new(),
        unknown: ToolCrashRecovery::Pure,
        bundle: "commands",
        keywords: &["log", "truncated", "full"],
        reach: ToolSchemaDelivery::Found,
    }
}

pub(super) fn script() -> ToolDescriptor {
    ToolDescriptor {
        name: "script".to_owned(),
        line: "Run a script of the skill: Python, JavaScript or shell".to_owned(),
        description: "Runs a program that lies in the skill's folder in the sandbox, in the run's \
            tree. Large or awkward text goes to `stdin`, which has no limit."
            .to_owned(),
        input: json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["path"],
            "properties": {
                "path": {"type": "string", "description": "The file, such as scripts/plot.py"},
                "args": {"type": "array", "items": {"type": "string"}, "description": "Its arguments"},
                "env": {"type": "object", "additionalProperties": {"type": "string"},
                    "description": "Variables; none that make programs load something"},
                "stdin": {"type": "string", "description": "What it reads"},
            },
        }),
        effects: vec![ToolEffect::Read, ToolEffect::Write, ToolEffect::Process],
        unknown: ToolCrashRecovery::Restore,
        bundle: "commands",
        keywords: &["python", "javascript", "skill"],
        reach: ToolSchemaDelivery::Found,
    }
}
