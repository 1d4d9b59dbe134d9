//! Turns hints into ideas: recognises the form of a hint and what it leads to, whatever the
//! subject.

use serde_json::Value;

use super::call::{Call, Tools};

/// Something to try.
pub(super) struct Idea {
    /// The name of the idea in a report.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// Make this call instead.
    Instead(Call),
    /// Make this call first, then repeat the same one.
    First(Call),
    /// Repeat the same call.
    Again,
    /// Do nothing more: this text is good enough as its result.
    Skip(String),
}

/// Returns the ideas that the hints of a text lead to, in order. A hint is a line that
/// begins with `- `, with the lines that belong to it; usable values in it are between
/// backticks.
pub(super) fn ideas(text: &str, call: &Call, tools: &Tools) -> Vec<Idea> {
    let hints = hints(text);
    hints
        .iter()
        .flat_map(|hint| of_hint(hint, call, tools))
        .collect()
}

fn hints(text: &str) -> Vec<String> {
    let mut hints: Vec<String> = Vec::new();
    for line in text.lines() {
        if let Some(hint) = line.strip_prefix("- ") {
            hints.push(hint.to_owned());
        } else if let Some(last) = hints.last_mut() {
            last.push('\n');
            last.push_str(line);
        }
    }
    hints
}

fn of_hint(hint: &str, call: &Call, tools: &Tools) -> Vec<Idea> {
    let marked: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
    let calls = named_calls(hint, &marked);
    if !calls.is_empty() {
        return calls;
    }
    let instead = |name: &'static str, call: Option<Call>| -> Vec<Idea> {
        let kind = call.map(Kind::Instead);
        kind.map(|kind| Idea { name, kind }).into_iter().collect()
    };
    match (hint, marked.as_slice()) {
        (hint, [arguments]) if hint.starts_with("write the arguments as") => {
            let arguments = (*arguments).to_owned();
            let tool = call.tool.clone();
            instead("arguments", Some(Call { tool, arguments }))
        }
        (hint, [field, values @ ..]) if hint.starts_with("write `") => {
            let set = values.iter().filter_map(|value| call.with(field, value));
            set.map(|call| Idea {
                name: "value",
                kind: Kind::Instead(call),
            })
            .collect()
        }
        (hint, [from, to]) if hint.contains("is no field; did you mean") => {
            instead("field", call.renamed(from, to))
        }
        (hint, [.., field]) if hint.contains("leave out") => {
            instead("left out", call.without(field))
        }
        (hint, [.., tool]) if hint.contains("did you mean") && is_tool(call, tool, tools) => {
            let arguments = call.arguments.clone();
            let tool = (*tool).to_owned();
            instead("tool's name", Some(Call { tool, arguments }))
        }
        (hint, [names @ .., meant]) if hint.contains("did you mean") => instead(
            "similar name",
            call.replacing(names.first().copied(), meant),
        ),
        (hint, [program, others @ ..]) if hint.starts_with("instead of") => {
            let changed = others.iter().filter_map(|other| {
                if hint.contains(&format!("the `{other}` tool")) {
                    return call.by(other, tools);
                }
                call.replacing(Some(program), other)
            });
            changed
                .map(|call| Idea {
                    name: "alternative",
                    kind: Kind::Instead(call),
                })
                .collect()
        }
        (hint, names) if hint.contains("similar") || hint.contains("programs like") => {
            let (old, names) = match names {
                [old, rest @ ..] if hint.contains("to `") || hint.contains("like `") => {
                    (Some(*old), rest)
                }
                names => (None, names),
            };
            let changed = names.iter().filter_map(|name| call.replacing(old, name));
            changed
                .map(|call| Idea {
                    name: "similar name",
                    kind: Kind::Instead(call),
                })
                .collect()
        }
        (hint, marked) => plain(hint, marked, call, tools),
    }
}

/// Handles hints that are made of words more than of values.
fn plain(hint: &str, marked: &[&str], call: &Call, tools: &Tools) -> Vec<Idea> {
    let one = |name: &'static str, kind: Kind| vec![Idea { name, kind }];
    if let Some((_, block)) = hint.split_once("the file has:\n") {
        let exact = with_exact(call, block);
        return exact.map_or_else(Vec::new, |call| one("exact text", Kind::Instead(call)));
    }
    if hint.contains("nothing is left to do") {
        return one("was done", Kind::Skip(String::new()));
    }
    if hint.contains("decide yourself") {
        let choices = call
            .fields()
            .and_then(|fields| fields.get("choices").cloned());
        let first = choices.and_then(|choices| choices.get(0)?.as_str().map(str::to_owned));
        return one("decided", Kind::Skip(first.unwrap_or_default()));
    }
    if hint.contains("go on without it") {
        return one("went on", Kind::Skip(String::new()));
    }
    if hint.contains("try again") {
        return one("again", Kind::Again);
    }
    let known = marked
        .iter()
        .filter(|name| tools.knows(name) && **name != call.tool);
    let comes_first = hint.contains(" first") || hint.contains(" again");
    let ideas = known.filter_map(|tool| {
        let other = call.by(tool, tools)?;
        Some(if comes_first {
            Idea {
                name: "looked first",
                kind: Kind::First(path_only(other)),
            }
        } else {
            Idea {
                name: "another tool",
                kind: Kind::Instead(other),
            }
        })
    });
    ideas.take(1).collect()
}

/// Finds calls that are written out: a tool's name and its input.
fn named_calls(hint: &str, marked: &[&str]) -> Vec<Idea> {
    let calls = marked.iter().filter_map(|text| {
        let (tool, arguments) = text.split_once(' ')?;
        let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|it| it.is_object());
        let is_name = tool
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        (is_object && is_name).then(|| Call {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
        })
    });
    let comes_first = hint.contains(" first");
    let idea = |call: Call| {
        if comes_first {
            Idea {
                name: "named call first",
                kind: Kind::First(call),
            }
        } else {
            Idea {
                name: "named call",
                kind: Kind::Instead(call),
            }
        }
    };
    calls.map(idea).collect()
}

fn is_tool(call: &Call, name: &str, tools: &Tools) -> bool {
    tools.knows(name) && !tools.knows(&call.tool)
}

/// Reduces a call to its path, which is all that is needed to look at a file.
fn path_only(call: Call) -> Call {
    let Some(path) = call.text("path") else {
        return call;
    };
    let fields = [("path".to_owned(), Value::from(path))];
    Call::of(&call.tool, fields.into_iter().collect())
}

/// Uses numbered lines as the text to be replaced.
fn with_exact(call: &Call, block: &str) -> Option<Call> {
    let lines = block.lines().map_while(|line| {
        let (number, text) = line.split_once('\t')?;
        number.trim().parse::<u32>().ok().map(|_| text)
    });
    let exact = lines.collect::<Vec<_>>().join("\n");
    let mut fields = call.fields()?;
    let edits = fields.get_mut("edits").and_then(Value::as_array_mut);
    match edits.and_then(|edits| edits.first_mut()) {
        Some(edit) => edit["old"] = Value::from(exact),
        None => drop(fields.insert("old".to_owned(), Value::from(exact))),
    }
    Some(Call::of(&call.tool, fields))
}
