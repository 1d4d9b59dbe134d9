//! The individual fields: the type of each, and how severe a wrong value is.

use super::read::FrontmatterErrorSeverity;
use super::rules;
use super::value::{
    FrontmatterValueError, YamlTypeStrictness, bounded_text, flag, money, one_of, span, text,
    texts, whole, word,
};
use super::{SkillAgentKind, SkillContextMode, SkillFrontmatter, SkillRunMode};
use crate::complaint::shown;
use crate::yaml::{YamlNode, YamlValue};

/// Reads one field into its place. Returns `None` for a key without meaning here.
pub(super) fn read(
    front: &mut SkillFrontmatter,
    field: &str,
    node: &YamlNode,
    how: YamlTypeStrictness,
) -> Option<(FrontmatterErrorSeverity, Result<(), FrontmatterValueError>)> {
    use FrontmatterErrorSeverity::{Grave, Light};
    Some(match field {
        "license" => (
            Light,
            put(&mut front.license, bounded_text(node, how, usize::MAX)),
        ),
        "compatibility" => (
            Light,
            put(&mut front.compatibility, bounded_text(node, how, 500)),
        ),
        "allowed-tools" => tools(&mut front.allowed_tools, node, how),
        "model" => (Grave, set(&mut front.model, model(node, how))),
        "context" => {
            let choices = [
                ("inherit", SkillContextMode::Inherit),
                ("fork", SkillContextMode::Fork),
            ];
            (Grave, set(&mut front.context, one_of(node, &choices)))
        }
        "agent" => (Grave, put(&mut front.agent, agent(node, how))),
        "execution-mode" => {
            let choices = [
                ("autonomous", SkillRunMode::Autonomous),
                ("simple", SkillRunMode::Simple),
            ];
            (Grave, put(&mut front.mode, one_of(node, &choices)))
        }
        "max-iterations" => (
            Grave,
            put(&mut front.max_iterations, whole(node, how, 1..=100)),
        ),
        "max-retries-per-tool" => (
            Grave,
            put(&mut front.max_retries_per_tool, whole(node, how, 0..=10)),
        ),
        "timeout-per-iteration" => (Grave, put(&mut front.timeout_per_iteration, span(node))),
        "early-termination" => (Grave, put(&mut front.early_termination, flag(node, how))),
        "legacy-large-file" => (Grave, set(&mut front.legacy_large_file, flag(node, how))),
        "max-cost-usd" | "max-cost" => (Grave, put(&mut front.max_cost, money(node, how))),
        "user-invocable" => (Grave, put(&mut front.user_invocable, flag(node, how))),
        "disable-model-invocation" => (
            Grave,
            set(&mut front.disable_model_invocation, flag(node, how)),
        ),
        "argument-hint" => (Light, put(&mut front.argument_hint, hint(node))),
        "paths" => (Light, set(&mut front.paths, texts(node, how, by_commas))),
        "secrets" => (Grave, set(&mut front.secrets, secrets(node, how))),
        _ => return None,
    })
}

fn put<T>(
    place: &mut Option<T>,
    value: Result<T, FrontmatterValueError>,
) -> Result<(), FrontmatterValueError> {
    *place = Some(value?);
    Ok(())
}

fn set<T>(
    place: &mut T,
    value: Result<T, FrontmatterValueError>,
) -> Result<(), FrontmatterValueError> {
    *place = value?;
    Ok(())
}

/// Reads the tool rules. An unreadable rule allows nothing; the others stay valid. A skill
/// with something other than rules here is refused: without a limit it could do more than
/// its author meant.
fn tools(
    place: &mut Option<Vec<String>>,
    node: &YamlNode,
    how: YamlTypeStrictness,
) -> (FrontmatterErrorSeverity, Result<(), FrontmatterValueError>) {
    let found = match texts(node, how, rules::split) {
        Ok(found) => found,
        Err(fault) => return (FrontmatterErrorSeverity::Grave, Err(fault)),
    };
    let found = found.iter().map(|rule| rule.trim().to_owned());
    let (good, bad): (Vec<_>, Vec<_>) = found.partition(|rule| rules::fault(rule).is_none());
    *place = Some(good);
    let wrong = bad
        .first()
        .and_then(|rule| rules::fault(rule))
        .map(FrontmatterValueError::new);
    (FrontmatterErrorSeverity::Light, wrong.map_or(Ok(()), Err))
}

/// Reads a model name. `inherit` is the same as no name.
fn model(
    node: &YamlNode,
    how: YamlTypeStrictness,
) -> Result<Option<String>, FrontmatterValueError> {
    Ok(Some(word(node, how)?).filter(|name| name != "inherit"))
}

fn agent(
    node: &YamlNode,
    how: YamlTypeStrictness,
) -> Result<SkillAgentKind, FrontmatterValueError> {
    let name = word(node, how)?;
    Ok(match name.to_ascii_lowercase().as_str() {
        "explore" => SkillAgentKind::Explore,
        "plan" => SkillAgentKind::Plan,
        "general" | "general-purpose" => SkillAgentKind::General,
        _ => SkillAgentKind::Custom(name),
    })
}

/// Reads an argument hint. People write `argument-hint: [file] [format]`, which YAML reads
/// as a list.
fn hint(node: &YamlNode) -> Result<String, FrontmatterValueError> {
    match &node.value {
        YamlValue::List(items) => {
            let words: Result<Vec<String>, FrontmatterValueError> = items
                .iter()
                .map(|item| text(item, YamlTypeStrictness::Loose))
                .collect();
            Ok(format!("[{}]", words?.join(", ")))
        }
        _ => text(node, YamlTypeStrictness::Loose),
    }
}

fn secrets(node: &YamlNode, how: YamlTypeStrictness) -> Result<Vec<String>, FrontmatterValueError> {
    let names = texts(node, how, by_commas)?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let bad = |name: &&String| name.is_empty() || name.len() > 128 || !name.chars().all(is_plain);
    match names.iter().find(bad) {
        Some(name) => Err(
            FrontmatterValueError::new(format!("`{}` is not the name of a secret", shown(name)))
                .advise("secrets are named, never written down: `artel auth set --tool NAME` keeps their values"),
        ),
        None => Ok(names),
    }
}

fn by_commas(text: &str) -> Vec<String> {
    let parts = text.split(',').map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}
