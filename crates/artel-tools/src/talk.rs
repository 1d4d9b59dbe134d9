//! Tools that touch nothing outside the run: the todo list, the notes, a question to the
//! person, the end.

use std::fmt::Write as _;
use std::sync::Arc;

use artel_policy::PolicyAction;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::notes::{RememberedNote, RunFinish, TodoTask, TodoTaskState};
use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolError, ToolErrorKind,
    ToolObservation, ToolSchemaDelivery, parse,
};

/// Largest number of tasks: more than anybody reads.
const MOST_TASKS: usize = 100;
const LONGEST_MEMORY: usize = 4_000;

/// Returns the tools in this file.
pub fn talk_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(TodoTool(todo_card())),
        Arc::new(RememberTool(remember_card())),
        Arc::new(AskPersonTool(ask_card())),
        Arc::new(FinishTool(finish_card())),
    ]
}

struct TodoTool(ToolDescriptor);
struct RememberTool(ToolDescriptor);
struct AskPersonTool(ToolDescriptor);
struct FinishTool(ToolDescriptor);

fn card(name: &str, line: &str, description: &str, input: Value) -> ToolDescriptor {
    ToolDescriptor {
        name: name.to_owned(),
        line: line.to_owned(),
        description: description.to_owned(),
        input,
        effects: Vec::new(),
        unknown: ToolCrashRecovery::Pure,
        bundle: "notes",
        keywords: &[],
        reach: ToolSchemaDelivery::Found,
    }
}

fn todo_card() -> ToolDescriptor {
    ToolDescriptor {
        keywords: &["plan", "tasks", "list", "progress"],
        ..card(
            "todo",
            "Keep the list of what is to be done",
            "Replaces the whole list. At most one task is in_progress.",
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["tasks"],
                "properties": {
                    "tasks": {
                        "type": "array",
                        "description": "Every task, in order",
                        "items": {
                            "type": "object",
                            "additionalProperties": false,
                            "required": ["text", "state"],
                            "properties": {
                                "text": {"type": "string", "description": "What is to be done"},
                                "state": {"enum": ["pending", "in_progress", "done"]},
                            },
                        },
                    },
                },
            }),
        )
    }
}

fn remember_card() -> ToolDescriptor {
    ToolDescriptor {
        keywords: &["memory", "note", "key output"],
        ..card(
            "remember",
            "Note something that later steps should know",
            "Later steps see it only if this step passes its check.",
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["key", "value"],
                "properties": {
                    "key": {"type": "string", "description": "A short name"},
                    "value": {"type": "string", "description": "What to know, at most 4,000 characters"},
                },
            }),
        )
    }
}

fn ask_card() -> ToolDescriptor {
    ToolDescriptor {
        keywords: &["question", "clarify", "user", "human"],
        ..card(
            "ask_person",
            "Ask the person a question and wait for the answer",
            "Ask only what files, history and tools cannot tell. Offer choices where there are some.",
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["question"],
                "properties": {
                    "question": {"type": "string", "description": "One question"},
                    "choices": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "Answers to choose from; others are possible",
                    },
                },
            }),
        )
    }
}

fn finish_card() -> ToolDescriptor {
    ToolDescriptor {
        reach: ToolSchemaDelivery::Always,
        ..card(
            "finish",
            "End the work with its answer",
            "End the work. Say what was done, what was not, and where the evidence is.",
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["answer"],
                "properties": {
                    "answer": {"type": "string", "description": "What the person reads"},
                    "outputs": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "description": "Results by name",
                    },
                },
            }),
        )
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TodoInput {
    tasks: Vec<TodoTask>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskPersonInput {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
}

impl Tool for TodoTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, _: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let TodoInput { tasks } = parse(input)?;
        let is_busy = |task: &&TodoTask| task.state == TodoTaskState::InProgress;
        let busy = tasks.iter().filter(is_busy).count();
        if busy > 1 {
            let what = format!("{busy} tasks are in_progress; at most one can be");
            return Err(ToolError::new(ToolErrorKind::BadInput, what)
                .hint("set the others to pending or done"));
        }
        if tasks.len() > MOST_TASKS {
            let what = format!("{} tasks are too many; at most {MOST_TASKS}", tasks.len());
            return Err(ToolError::new(ToolErrorKind::BadInput, what).hint("join small ones"));
        }
        let mut text = String::new();
        for task in &tasks {
            let mark = match task.state {
                TodoTaskState::Pending => "[ ]",
                TodoTaskState::InProgress => "[~]",
                TodoTaskState::Done => "[x]",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{mark} {}", task.text);
        }
        bench.notes().todo = tasks;
        Ok(ToolObservation::text(text.trim_end()))
    }
}

impl Tool for RememberTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, _: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let memory: RememberedNote = parse(input)?;
        let length = memory.value.chars().count();
        if memory.key.is_empty() || memory.key.len() > 100 || length > LONGEST_MEMORY {
            let what = format!(
                "a key has 1 to 100 characters and a value at most {LONGEST_MEMORY}; these have \
                 {} and {length}",
                memory.key.len()
            );
            return Err(ToolError::new(ToolErrorKind::BadInput, what)
                .hint("put long text into a file and remember its path"));
        }
        let text = format!(
            "noted `{}`; later steps see it once this step has passed",
            memory.key
        );
        bench.notes().remember(memory);
        Ok(ToolObservation::text(text))
    }
}

impl Tool for AskPersonTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, _: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let AskPersonInput { question, choices } = parse(input)?;
        let answer = bench
            .person
            .as_ref()
            .and_then(|person| person.answer(&question, &choices));
        answer.map(ToolObservation::text).ok_or_else(|| {
            ToolError::new(ToolErrorKind::NotFound, "nobody can answer now")
                .hint("decide yourself and say in your answer what you assumed")
        })
    }
}

impl Tool for FinishTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, _: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let finish: RunFinish = parse(input)?;
        let text = finish.answer.clone();
        bench.notes().finished = Some(finish);
        Ok(ToolObservation::text(text))
    }
}
