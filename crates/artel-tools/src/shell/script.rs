//! Runs a skill's own scripts: programs in its folder and nothing else.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use artel_policy::{PolicyAction, environment};
use artel_sandbox::SandboxLimits;
use serde::Deserialize;
use serde_json::Value;

use crate::process::{self, ToolProcessSpec};
use crate::similar::nearest_paths;
use crate::{Tool, ToolContext, ToolDescriptor, ToolError, ToolErrorKind, ToolObservation, parse};

/// Time limit of a script.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) struct SkillScriptTool(pub(super) ToolDescriptor);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    stdin: String,
}

impl Tool for SkillScriptTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let input: Input = parse(input)?;
        let mut actions = vec![PolicyAction::Words(words(&input, bench)?)];
        actions.extend(
            bench
                .skill_secrets
                .iter()
                .cloned()
                .map(PolicyAction::Secret),
        );
        Ok(actions)
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let input: Input = parse(input)?;
        let words = words(&input, bench)?;
        let skill = bench.skill.as_ref().ok_or_else(no_skill)?;
        bench.ensure_skill_as_trusted()?;
        process::run(
            bench,
            ToolProcessSpec {
                cwd: bench.notes().cwd.clone(),
                timeout: Some(PATIENCE),
                secrets: bench.skill_secrets.clone(),
                stdin: input.stdin.into_bytes(),
                environment: input.env.into_iter().collect(),
                read: vec![skill.path().to_owned()],
                limits: Some(SandboxLimits::of_a_script()),
                ..ToolProcessSpec::of(words)
            },
        )
    }
}

/// Returns the interpreter, the resolved script, and its arguments.
fn words(input: &Input, bench: &ToolContext) -> Result<Vec<String>, ToolError> {
    let skill = bench.skill.as_ref().ok_or_else(no_skill)?;
    let loader = input.env.keys().find(|name| {
        environment::is_loader_name(name) || name.contains(['=', '\0']) || name.is_empty()
    });
    if let Some(name) = loader {
        let what = format!("the variable `{name}` cannot be set: it makes programs load something");
        return Err(ToolError::new(ToolErrorKind::Refused, what));
    }
    let near = || {
        let name = Path::new(&input.path).file_name().unwrap_or_default();
        let near = nearest_paths(&skill.path().join("scripts"), &name.to_string_lossy(), 3);
        let near: Vec<_> = near
            .iter()
            .map(|path| format!("`scripts/{path}`"))
            .collect();
        if near.is_empty() {
            "scripts are named as they lie in the skill's folder".to_owned()
        } else {
            format!("similar scripts of the skill: {}", near.join(", "))
        }
    };
    let outside = || {
        let what = format!("Script path outside skill directory: {}", input.path);
        ToolError::new(ToolErrorKind::Refused, what).hint(near())
    };
    let found = skill
        .resolve(Path::new(&input.path))
        .map_err(|_| outside())?;
    let programs = found
        .path
        .components()
        .any(|part| part.as_os_str() == "scripts");
    if !programs && interpreter_of(&found.path).is_none() {
        let what = format!("`{}` is no script of the skill", input.path);
        return Err(ToolError::new(ToolErrorKind::Refused, what).hint(near()));
    }
    if found.about.is_none() {
        let what = format!("there is no script `{}`", input.path);
        return Err(ToolError::new(ToolErrorKind::NotFound, what).hint(near()));
    }
    let interpreter = interpreter_of(&found.path).unwrap_or("bash");
    let path = skill.path().join(&found.path);
    let path = path.to_str().ok_or_else(outside)?.to_owned();
    let mut words = vec![interpreter.to_owned(), path];
    words.extend(input.args.iter().cloned());
    Ok(words)
}

/// Returns the interpreter of a file, by its extension.
fn interpreter_of(path: &Path) -> Option<&'static str> {
    Some(match path.extension()?.to_str()? {
        "py" => "python3",
        "js" | "mjs" | "cjs" => "node",
        "pl" => "perl",
        "rb" => "ruby",
        "php" => "php",
        "sh" | "bash" => "bash",
        _ => return None,
    })
}

fn no_skill() -> ToolError {
    ToolError::new(
        ToolErrorKind::NotFound,
        "no skill is active, so there are no scripts",
    )
    .hint("use `bash`")
}
