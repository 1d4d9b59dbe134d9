//! All tools, which viewer sees which, and how the others are found.
//!
//! A few tools are sent with their schemas in every request. Each of the others is only a
//! name and one line until it is found: in every turn, a schema costs ten times as much as
//! its line.

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_policy::rules::PolicyRule;
use artel_policy::{GitOperation, PolicyAction, git_may};
use artel_types::model::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolError, ToolErrorKind,
    ToolObservation, ToolSchemaDelivery, git, nearest, parse,
};

/// Largest number of schemas that one call may load.
pub const MOST_FOUND: usize = 10;

/// Every tool by its name. Clones share them.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: Arc<BTreeMap<String, RegisteredTool>>,
}

/// A tool with its description for a model, prepared once.
#[derive(Clone)]
struct RegisteredTool {
    tool: Arc<dyn Tool>,
    spec: Arc<ToolSpec>,
}

/// One line of the manifest, sent for a tool before it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolManifestLine {
    pub name: String,
    /// A summary of what the tool does.
    pub line: String,
    /// The bundle of tools that it is found with.
    pub bundle: &'static str,
}

/// The viewer of the tools: a role, and the tools that its file allows.
#[derive(Debug, Clone, Default)]
pub struct ToolViewer {
    pub role: String,
    /// The rules of the role's own list. Without a list, the role sees everything that fits
    /// it.
    pub tools: Option<Vec<PolicyRule>>,
}

impl RegisteredTool {
    fn of(tool: Arc<dyn Tool>) -> Self {
        let spec = Arc::new(ToolSpec::from(tool.card()));
        Self { tool, spec }
    }
}

impl ToolRegistry {
    /// Creates a registry. Of two tools with the same name, the later one wins.
    pub fn of(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let named = tools
            .into_iter()
            .map(|tool| (tool.card().name.clone(), RegisteredTool::of(tool)));
        Self {
            tools: Arc::new(named.collect()),
        }
    }

    /// Adds a later tool, such as a declared one. A name that is taken is refused: no tool
    /// replaces a built-in one.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), ToolError> {
        let name = tool.card().name.clone();
        if self.tools.contains_key(&name) {
            let what = format!("there is a tool `{name}` already");
            return Err(ToolError::new(ToolErrorKind::BadInput, what).hint("give it another name"));
        }
        Arc::make_mut(&mut self.tools).insert(name, RegisteredTool::of(tool));
        Ok(())
    }

    /// Returns a tool by its name. An unknown name gives an error with a similar one.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        let entry = self.tools.get(name);
        entry.map(|entry| &entry.tool).ok_or_else(|| {
            let near = self
                .tools
                .keys()
                .map(|known| (strsim::jaro_winkler(known, name), known))
                .filter(|(likeness, _)| *likeness > 0.8)
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let trouble = ToolError::new(ToolErrorKind::NotFound, format!("unknown tool: {name}"));
            match near {
                Some((_, known)) => trouble.hint(format!("did you mean `{known}`?")),
                None => trouble.hint("`find_tools` with `about` says what there is"),
            }
        })
    }

    /// Returns all descriptors, sorted by name.
    pub fn cards(&self) -> impl Iterator<Item = &ToolDescriptor> {
        self.tools.values().map(|entry| entry.tool.card())
    }

    /// Returns the descriptors that a viewer sees.
    pub fn visible<'r>(
        &'r self,
        viewer: &'r ToolViewer,
    ) -> impl Iterator<Item = &'r ToolDescriptor> {
        self.cards().filter(|card| viewer.sees(card))
    }

    /// Returns the descriptors whose schemas are sent: those in every request, then the found
    /// ones, in the order in which they were found.
    pub fn sent<'r>(&'r self, viewer: &'r ToolViewer, found: &[String]) -> Vec<&'r ToolDescriptor> {
        let always = self
            .visible(viewer)
            .filter(|card| card.reach == ToolSchemaDelivery::Always);
        let later = found.iter().filter_map(|name| {
            let card = self.tools.get(name)?.tool.card();
            viewer.sees(card).then_some(card)
        });
        always.chain(later).collect()
    }

    /// Returns the descriptions for a model of the tools whose schemas are sent.
    pub fn specs(&self, viewer: &ToolViewer, found: &[String]) -> Vec<Arc<ToolSpec>> {
        let sent = self.sent(viewer, found).into_iter();
        let entries = sent.filter_map(|card| self.tools.get(&card.name));
        entries.map(|entry| Arc::clone(&entry.spec)).collect()
    }

    /// Returns the manifest: every tool that can be found and has not been found yet.
    pub fn manifest(&self, viewer: &ToolViewer, found: &[String]) -> Vec<ToolManifestLine> {
        let is_open = |card: &&ToolDescriptor| {
            card.reach == ToolSchemaDelivery::Found && !found.contains(&card.name)
        };
        let line = |card: &ToolDescriptor| ToolManifestLine {
            name: card.name.clone(),
            line: card.line.clone(),
            bundle: card.bundle,
        };
        self.visible(viewer).filter(is_open).map(line).collect()
    }

    /// Returns the names of the tools that an input asks for.
    fn search(
        &self,
        viewer: &ToolViewer,
        wanted: &FindToolsInput,
    ) -> Result<Vec<String>, ToolError> {
        let bad = |what: String| ToolError::new(ToolErrorKind::BadInput, what);
        match (&wanted.names, &wanted.bundle, &wanted.about) {
            (Some(names), None, None) => {
                if names.len() > MOST_FOUND {
                    let what = format!(
                        "too many tools requested: {} (max {MOST_FOUND})",
                        names.len()
                    );
                    return Err(bad(what).hint("ask for those that the next step needs"));
                }
                for name in names {
                    let card = self.get(name)?.card();
                    if !viewer.sees(card) {
                        return Err(ToolError::new(
                            ToolErrorKind::NotFound,
                            format!("unknown tool: {name}"),
                        ));
                    }
                }
                Ok(names.clone())
            }
            (None, Some(bundle), None) => {
                let inside = |card: &&ToolDescriptor| {
                    card.bundle == bundle && card.reach == ToolSchemaDelivery::Found
                };
                let names: Vec<_> = self
                    .visible(viewer)
                    .filter(inside)
                    .map(|card| card.name.clone())
                    .take(MOST_FOUND)
                    .collect();
                if names.is_empty() {
                    let trouble = bad(format!("there is no bundle `{bundle}`"));
                    let bundles = self.bundles(viewer);
                    let mut near = nearest(bundle, bundles.split(", "), 1);
                    near.extend(
                        bundles
                            .split(", ")
                            .filter(|other| !near.contains(other))
                            .collect::<Vec<_>>(),
                    );
                    let near: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
                    let near = format!("write `bundle` as {}", near.join(" or "));
                    return Err(trouble.hint(near).hint(format!("bundles: {bundles}")));
                }
                Ok(names)
            }
            (None, None, Some(about)) => Ok(self.suggest(viewer, about)),
            _ => Err(bad("give exactly one of names, bundle and about".to_owned())),
        }
    }

    fn bundles(&self, viewer: &ToolViewer) -> String {
        let mut bundles: Vec<_> = self
            .visible(viewer)
            .filter(|card| card.reach == ToolSchemaDelivery::Found)
            .map(|card| card.bundle)
            .collect();
        bundles.sort_unstable();
        bundles.dedup();
        bundles.join(", ")
    }

    /// Returns the tools that fit a description best by shared words, at most five.
    fn suggest(&self, viewer: &ToolViewer, about: &str) -> Vec<String> {
        let words = words(about);
        let mut scored: Vec<_> = self
            .visible(viewer)
            .filter(|card| card.reach == ToolSchemaDelivery::Found)
            .map(|card| (score(card, &words), &card.name))
            .filter(|(score, _)| *score > 0)
            .collect();
        scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        let names = scored.into_iter().map(|(_, name)| name.clone());
        names.take(5).collect()
    }
}

impl ToolViewer {
    fn sees(&self, card: &ToolDescriptor) -> bool {
        let fits = git::operation_of(&card.name).is_none_or(|does| self.may(does));
        let is_listed = self.tools.as_ref().is_none_or(|rules| {
            card.effects.is_empty() || rules.iter().any(|rule| rule.admits_tool(&card.name))
        });
        fits && is_listed
    }

    fn may(&self, operation: GitOperation) -> bool {
        git_may(&self.role, operation)
    }
}

fn words(text: &str) -> Vec<String> {
    let letters = |letter: char| !letter.is_alphanumeric();
    text.split(letters)
        .filter(|word| word.len() > 2)
        .map(str::to_lowercase)
        .collect()
}

/// Returns the score of a tool: 3 for each word in its name, 2 for each in its keywords, 1
/// for each in its line.
fn score(card: &ToolDescriptor, wanted: &[String]) -> usize {
    let name = words(&card.name.replace('_', " "));
    let keys: Vec<_> = card.keywords.iter().flat_map(|key| words(key)).collect();
    let line = words(&card.line);
    let alike = |a: &String, b: &String| a == b || (a.len() > 3 && b.starts_with(a.as_str()));
    let count = |have: &[String], worth: usize| {
        let found = wanted.iter().filter(|word| {
            have.iter()
                .any(|other| alike(word, other) || alike(other, word))
        });
        found.count() * worth
    };
    count(&name, 3) + count(&keys, 2) + count(&line, 1)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FindToolsInput {
    names: Option<Vec<String>>,
    bundle: Option<String>,
    about: Option<String>,
}

/// Finds tools in a registry and remembers them for the following requests.
pub struct FindToolsTool {
    card: ToolDescriptor,
    registry: ToolRegistry,
    viewer: ToolViewer,
}

impl FindToolsTool {
    /// Creates the tool for a viewer.
    pub fn new(registry: ToolRegistry, viewer: ToolViewer) -> Self {
        Self {
            card: ToolDescriptor {
                name: "find_tools".to_owned(),
                line: "Bring the schemas of tools that are only listed by name".to_owned(),
                description: format!(
                    "Bring schemas of listed tools into the next request: by one of names (at \
                     most {MOST_FOUND}), bundle, about."
                ),
                input: json!({
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "names": {"type": "array", "items": {"type": "string"},
                            "description": "From the list"},
                        "bundle": {"type": "string", "description": "From the list"},
                        "about": {"type": "string", "description": "What you want to do"},
                    },
                }),
                effects: Vec::new(),
                unknown: ToolCrashRecovery::Pure,
                bundle: "notes",
                keywords: &[],
                reach: ToolSchemaDelivery::Always,
            },
            registry,
            viewer,
        }
    }
}

impl Tool for FindToolsTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, _: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let wanted: FindToolsInput = parse(input)?;
        let names = self.registry.search(&self.viewer, &wanted)?;
        if names.is_empty() {
            return Ok(ToolObservation::text(format!(
                "nothing fits; bundles: {}",
                self.registry.bundles(&self.viewer)
            )));
        }
        let mut notes = bench.notes();
        for name in &names {
            if !notes.found.contains(name) {
                notes.found.push(name.clone());
            }
        }
        drop(notes);
        let lines = names.iter().filter_map(|name| {
            let card = self.registry.get(name).ok()?.card();
            Some(format!("{}: {}", card.name, card.line))
        });
        Ok(ToolObservation {
            text: lines.collect::<Vec<_>>().join("\n"),
            data: json!({ "found": names }),
            ..ToolObservation::default()
        })
    }
}
