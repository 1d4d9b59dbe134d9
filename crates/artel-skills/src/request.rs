//! Reads requests: what a person asked, with its frontmatter. One reader serves two levels
//! of strictness.
//!
//! The batch command reads strictly: every required field must be there. The inbox reads
//! leniently: missing fields are filled in later, and plain Markdown is a request too.
//! Both share the rules for what a field may hold.

use std::collections::BTreeMap;

use artel_rules::request::file::{ParsedRequestFile, RequestOrigin, RequestStatus, words_of};
use artel_types::plan::{StepVerification, Urgency};
use artel_types::{Timestamp, TraceId};

use crate::FileComplaint;
use crate::complaint::{is_invisible, shown};
use crate::front::{
    FrontmatterStrictness, FrontmatterValueError, YamlTypeStrictness, bounded_text, text, texts,
};
use crate::split::{check_body, split};
use crate::validate::{broken, map, open};
use crate::yaml::{self, YamlKey, YamlNode, YamlValue};

/// Longest name, in characters.
const LONGEST_NAME: usize = 100;
/// Longest free text, in characters.
const LONGEST_TEXT: usize = 500;
const REQUIRED: [&str; 6] = [
    "trace_id",
    "created",
    "status",
    "agent",
    "source",
    "created_by",
];

/// Returns all faults in the text of a request; an empty list means that its form is
/// valid. Unknown keys are ignored. Does not check whether the things that it names exist.
pub fn validate_request(text: &str) -> Vec<FileComplaint> {
    let (parts, mut complaints) = match open(text) {
        Ok(opened) => opened,
        Err(complaint) => return vec![complaint],
    };
    match yaml::parse(parts.front) {
        Err(error) => complaints.push(broken(error)),
        Ok(node) => {
            let map = map(&node, &mut complaints);
            let reader = RequestFrontmatterReader::read(map, FrontmatterStrictness::Strict);
            complaints.extend(reader.complaints);
        }
    }
    complaints.extend(check_body(&parts));
    complaints
}

/// Reads a request as the inbox accepts it, or returns its faults. Apart from an empty
/// body, it finds no fault that the strict check does not find.
pub fn read_request(text: &str) -> Result<ParsedRequestFile, Vec<FileComplaint>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.split('\n').next().unwrap_or_default();
    let (mut fields, body, body_line, mut complaints) = if first.trim_end() == "---" {
        let parts = split(text).map_err(|complaint| vec![complaint])?;
        let (fields, complaints) = read_front(parts.front)?;
        (fields, parts.body, parts.body_line, complaints)
    } else {
        (ParsedRequestFile::default(), text, 1, Vec::new())
    };
    fields.words = words_of(body);
    if fields.words.trim().is_empty() {
        let blank = FileComplaint::new("body", "it says nothing").at(body_line);
        complaints.push(blank.advise("write below the frontmatter what is wanted"));
    }
    if complaints.is_empty() {
        Ok(fields)
    } else {
        Err(complaints)
    }
}

/// Reads the frontmatter. Unlike the frontmatter of skills from others, it is not
/// repaired: its author is here and learns of the fault.
fn read_front(front: &str) -> Result<(ParsedRequestFile, Vec<FileComplaint>), Vec<FileComplaint>> {
    let node = yaml::parse(front).map_err(|error| vec![broken(error)])?;
    let mut complaints = Vec::new();
    let map = match &node.value {
        // `---` twice with an empty frontmatter between: a person who fills in no field.
        YamlValue::Scalar { text, .. } if text.is_empty() => &[],
        _ => map(&node, &mut complaints),
    };
    let mut reader = RequestFrontmatterReader::read(map, FrontmatterStrictness::Lenient);
    reader.fields.has_front = true;
    reader.fields.other = other_lines(front, map);
    complaints.append(&mut reader.complaints);
    Ok((reader.fields, complaints))
}

struct RequestFrontmatterReader {
    exactness: YamlTypeStrictness,
    fields: ParsedRequestFile,
    complaints: Vec<FileComplaint>,
}

impl RequestFrontmatterReader {
    fn read(map: &[(YamlKey, YamlNode)], manner: FrontmatterStrictness) -> Self {
        let mut reader = Self {
            exactness: match manner {
                FrontmatterStrictness::Strict => YamlTypeStrictness::Exact,
                FrontmatterStrictness::Lenient => YamlTypeStrictness::Loose,
            },
            fields: ParsedRequestFile::default(),
            complaints: Vec::new(),
        };
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for (key, node) in map {
            let plain = key.text.replace('-', "_");
            let result = match seen.get(&plain) {
                Some(first) => Err(FrontmatterValueError::new(format!(
                    "it says the same as `{}`",
                    shown(first)
                ))
                .advise("keep one of them")),
                None => reader.take(&plain, node),
            };
            if let Err(fault) = result {
                let complaint =
                    FileComplaint::new(shown(&key.text), fault.message).at(key.line + 1);
                reader.complaints.push(match fault.remedy {
                    Some(remedy) => complaint.advise(remedy),
                    None => complaint,
                });
            }
            seen.entry(plain).or_insert(&key.text);
        }
        if manner == FrontmatterStrictness::Strict {
            let missing = REQUIRED.iter().filter(|field| !seen.contains_key(**field));
            let missing = missing.map(|field| FileComplaint::new(*field, "it is missing"));
            reader.complaints.splice(0..0, missing);
        }
        reader
    }

    /// Reads one field into its place. Unknown fields are ignored.
    fn take(&mut self, field: &str, node: &YamlNode) -> Result<(), FrontmatterValueError> {
        let how = self.exactness;
        let fields = &mut self.fields;
        match field {
            "trace_id" => fields.trace = Some(trace(node, how)?),
            "created" => fields.created = Some(moment(node, how)?),
            "status" => {
                let words = RequestStatus::ALL.map(RequestStatus::as_str);
                fields.status = Some(among(node, how, &words, RequestStatus::of)?);
            }
            "priority" => {
                let words: Vec<&str> = Urgency::ALL.iter().map(|it| it.as_str()).collect();
                let of = |word: &str| word.parse().ok();
                fields.priority = Some(among(node, how, &words, of)?);
            }
            "source" => {
                let words = RequestOrigin::OF_FILES.map(RequestOrigin::as_str);
                // The inbox also meets what Artel wrote itself, of requests that came over HTTP.
                let of = |word: &str| {
                    let is_known = how == YamlTypeStrictness::Loose || words.contains(&word);
                    RequestOrigin::of(word).filter(|_| is_known)
                };
                fields.source = Some(among(node, how, &words, of)?);
            }
            "verify" => {
                let words: Vec<&str> = StepVerification::ALL.iter().map(|it| it.as_str()).collect();
                let of = |word: &str| word.parse().ok();
                fields.verify = Some(among(node, how, &words, of)?);
            }
            "created_by" => fields.created_by = Some(bounded_text(node, how, LONGEST_TEXT)?),
            "agent" => fields.agent = Some(name(node, how, "role")?),
            "portal" => fields.portal = Some(portal(node, how)?),
            "flow" => fields.flow = Some(name(node, how, "flow")?),
            "skill" => fields.skill = Some(name(node, how, "skill")?),
            "skills" => {
                let named = texts(node, how, by_commas)?;
                named.iter().try_for_each(|it| check_name(it, "skill"))?;
                fields.skills = named;
            }
            "tags" => fields.tags = tags(node, how)?,
            _ => {}
        }
        Ok(())
    }
}

/// Returns whether a key is read into a field and written back from it.
fn is_field(key: &str) -> bool {
    let plain = key.replace('-', "_");
    REQUIRED.contains(&&*plain)
        || matches!(&*plain, "priority" | "portal" | "tags" | "verify" | "flow")
}

/// Returns the lines that a person added to the frontmatter, unchanged.
fn other_lines(front: &str, map: &[(YamlKey, YamlNode)]) -> Vec<String> {
    let lines: Vec<&str> = front.lines().map(str::trim_end).collect();
    let mut starts: Vec<(usize, bool)> = map
        .iter()
        .map(|(key, _)| (key.line.saturating_sub(1), !is_field(&key.text)))
        .collect();
    starts.sort_unstable();
    let first = starts.first().map_or(lines.len(), |(line, _)| *line);
    let is_comment = |line: &&str| line.starts_with('#');
    let head = lines.iter().take(first).filter(|line| is_comment(line));
    let mut kept: Vec<String> = head.map(|line| (*line).to_owned()).collect();
    for (at, (start, is_theirs)) in starts.iter().enumerate() {
        let end = starts.get(at + 1).map_or(lines.len(), |(line, _)| *line);
        let entry = lines.get(*start..end.max(*start)).unwrap_or_default();
        let mine = entry.iter().filter(|line| *is_theirs || is_comment(line));
        kept.extend(mine.map(|line| (*line).to_owned()));
    }
    let theirs: Vec<&(YamlKey, YamlNode)> =
        map.iter().filter(|(key, _)| !is_field(&key.text)).collect();
    if says(&kept.join("\n"), &theirs) {
        return kept;
    }
    // Several keys on a line, or a key over several lines: the entries are written one per line.
    theirs
        .iter()
        .map(|(key, node)| on_one_line(key, node))
        .collect()
}

/// Returns whether the lines alone parse to exactly these entries.
fn says(lines: &str, entries: &[&(YamlKey, YamlNode)]) -> bool {
    let expected = entries
        .iter()
        .map(|(key, node)| (&*key.text, node.to_json()));
    match yaml::parse(lines).map(|node| node.value) {
        Ok(YamlValue::Map(map)) => map
            .iter()
            .map(|(key, node)| (&*key.text, node.to_json()))
            .eq(expected),
        Ok(YamlValue::Scalar { text, .. }) => text.is_empty() && entries.is_empty(),
        _ => false,
    }
}

/// Writes an entry as JSON, which is valid YAML.
fn on_one_line(key: &YamlKey, node: &YamlNode) -> String {
    let name = serde_json::Value::from(key.text.as_str());
    format!("{name}: {}", node.to_json())
}

fn among<T>(
    node: &YamlNode,
    how: YamlTypeStrictness,
    words: &[&str],
    of: impl Fn(&str) -> Option<T>,
) -> Result<T, FrontmatterValueError> {
    let given = text(node, how)?;
    of(&given).ok_or_else(|| {
        FrontmatterValueError::new(format!(
            "`{}` is none of {}",
            shown(&given),
            words.join(", ")
        ))
    })
}

fn name(
    node: &YamlNode,
    how: YamlTypeStrictness,
    what: &str,
) -> Result<String, FrontmatterValueError> {
    let name = text(node, how)?;
    check_name(&name, what)?;
    Ok(name)
}

/// Reads the name of a portal, also with the `@` of a path: `@Shop`.
fn portal(node: &YamlNode, how: YamlTypeStrictness) -> Result<String, FrontmatterValueError> {
    let given = text(node, how)?;
    let name = given.strip_prefix('@').unwrap_or(&given);
    check_name(name, "portal")?;
    Ok(name.to_owned())
}

/// Checks a name that becomes part of file names and branches, so it must never be a path.
fn check_name(name: &str, what: &str) -> Result<(), FrontmatterValueError> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_. ".contains(letter);
    let is_good = !name.trim().is_empty()
        && name.trim() == name
        && name.chars().count() <= LONGEST_NAME
        && !name.starts_with(['.', '-'])
        && !name.ends_with('.')
        && !name.contains("..")
        && name.chars().all(|it| is_plain(it) && !is_invisible(it))
        && (what == "portal" || !name.contains(' '));
    if is_good {
        return Ok(());
    }
    Err(
        FrontmatterValueError::new(format!("`{}` is not the name of a {what}", shown(name)))
            .advise(format!("write the name of a {what}, not a path")),
    )
}

fn trace(node: &YamlNode, how: YamlTypeStrictness) -> Result<TraceId, FrontmatterValueError> {
    let given = text(node, how)?;
    let is_version_4 =
        |id: &uuid::Uuid| id.get_version_num() == 4 && id.get_variant() == uuid::Variant::RFC4122;
    let is_good =
        given.len() == 36 && uuid::Uuid::try_parse(&given).is_ok_and(|it| is_version_4(&it));
    let trace = given.parse().ok().filter(|_| is_good);
    trace.ok_or_else(|| {
        FrontmatterValueError::new(format!("`{}` is not a UUID of version 4", shown(&given)))
            .advise("it looks like `3f0c9a52-7d1e-4b8a-9c40-5e6f7a8b9c0d`")
    })
}

fn moment(node: &YamlNode, how: YamlTypeStrictness) -> Result<Timestamp, FrontmatterValueError> {
    let given = text(node, how)?;
    let moment = given.parse().ok().filter(|_| is_moment(&given));
    moment.ok_or_else(|| {
        FrontmatterValueError::new(format!("`{}` is not a moment by RFC 3339", shown(&given)))
            .advise("it looks like `2026-11-15T08:30:00Z`")
    })
}

/// Returns whether a text is a moment in exact RFC 3339 form, with an offset and an
/// existing date. The library accepts more forms than that.
fn is_moment(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_shape = |shape: &[u8], bytes: &[u8]| {
        bytes.len() == shape.len()
            && bytes.iter().zip(shape).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                b'T' => b"Tt".contains(byte),
                other => byte == other,
            })
    };
    if bytes.len() < 20 || bytes.len() > 60 || !has_shape(b"0000-00-00T00:00:00", &bytes[..19]) {
        return false;
    }
    let rest = &bytes[19..];
    let rest = match rest.strip_prefix(b".") {
        Some(fraction) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit());
            match digits.count() {
                0 => return false,
                count => &fraction[count..],
            }
        }
        None => rest,
    };
    let two = |at: usize, bytes: &[u8]| {
        let digit = |at: usize| bytes.get(at).map_or(99, |byte| u32::from(byte - b'0'));
        digit(at) * 10 + digit(at + 1)
    };
    let is_offset = match rest {
        b"Z" | b"z" => true,
        [b'+' | b'-', offset @ ..] => {
            has_shape(b"00:00", offset) && two(0, offset) < 24 && two(3, offset) < 60
        }
        _ => false,
    };
    // The 60th second exists when a leap second is inserted.
    let is_time = two(11, bytes) < 24 && two(14, bytes) < 60 && two(17, bytes) <= 60;
    is_offset && is_time && text[..10].parse::<jiff::civil::Date>().is_ok()
}

fn by_commas(text: &str) -> Vec<String> {
    text.split(',').map(|it| it.trim().to_owned()).collect()
}

fn tags(node: &YamlNode, how: YamlTypeStrictness) -> Result<Vec<String>, FrontmatterValueError> {
    let list =
        |message: &str| FrontmatterValueError::new(message).advise("write a list such as `[a, b]`");
    let YamlValue::List(_) = &node.value else {
        return Err(list("it is not a list of texts"));
    };
    let tags = texts(node, how, by_commas).map_err(|fault| list(&fault.message))?;
    let is_bad = |tag: &String| tag.trim().is_empty() || tag.chars().count() > LONGEST_TEXT;
    if tags.iter().any(is_bad) {
        Err(list("a tag is blank or too long"))
    } else {
        Ok(tags)
    }
}
