//! The strict judgement of a request: what a person asked, with its frontmatter.

use crate::Complaint;
use crate::complaint::shown;
use crate::front::Exactness;
use crate::front::{Fault, texts, word};
use crate::split::check_body;
use crate::validate::{broken, map, open};
use crate::yaml::{self, Key, Node, Value};

/// How a request may stand.
const STATUSES: &[&str] = &[
    "pending",
    "processing",
    "planned",
    "active",
    "answered",
    "done",
    "completed",
    "failed",
    "rejected",
    "cancelled",
    "archived",
];
const SOURCES: &[&str] = &["cli", "file", "interactive"];
const PRIORITIES: &[&str] = &["low", "normal", "high", "critical"];

/// What a field of a request must be.
type Check = fn(&Node) -> Result<(), Fault>;

const REQUIRED: &[(&str, Check)] = &[
    ("trace_id", trace),
    ("created", moment),
    ("status", |node| among(node, STATUSES)),
    ("agent", |node| word(node, Exactness::Exact).map(drop)),
    ("source", |node| among(node, SOURCES)),
    ("created_by", filled),
];
const OPTIONAL: &[(&str, Check)] = &[
    ("priority", |node| among(node, PRIORITIES)),
    ("portal", filled),
    ("tags", tags),
];

/// Returns everything that is wrong with the text of a request; nothing means that it can be
/// taken. Keys that are not known are left alone.
pub fn validate_request(text: &str) -> Vec<Complaint> {
    let (parts, mut complaints) = match open(text) {
        Ok(opened) => opened,
        Err(complaint) => return vec![complaint],
    };
    match yaml::parse(parts.front) {
        Err(error) => complaints.push(broken(error)),
        Ok(node) => {
            let map = map(&node, &mut complaints);
            complaints.extend(fields(map));
        }
    }
    complaints.extend(check_body(&parts, "what is wanted"));
    complaints
}

fn fields(map: &[(Key, Node)]) -> Vec<Complaint> {
    let find = |field: &str| {
        let mut keys = map.iter();
        keys.find(|(key, _)| key.text.replace('-', "_") == field)
    };
    let missing = REQUIRED
        .iter()
        .filter(|(field, _)| find(field).is_none())
        .map(|(field, _)| Complaint::new(*field, "it is missing"));
    let wrong = REQUIRED
        .iter()
        .chain(OPTIONAL)
        .filter_map(|(field, check)| {
            let (key, node) = find(field)?;
            let fault = check(node).err()?;
            let complaint = Complaint::new(key.text.clone(), fault.message).at(key.line + 1);
            Some(match fault.remedy {
                Some(remedy) => complaint.advise(remedy),
                None => complaint,
            })
        });
    missing.chain(wrong).collect()
}

fn filled(node: &Node) -> Result<(), Fault> {
    crate::front::bounded_text(node, Exactness::Exact, 500).map(drop)
}

fn among(node: &Node, words: &[&str]) -> Result<(), Fault> {
    let choices: Vec<(&str, ())> = words.iter().map(|word| (*word, ())).collect();
    crate::front::one_of(node, &choices)
}

fn trace(node: &Node) -> Result<(), Fault> {
    let wrong = |text: &str| {
        Fault::new(format!("`{}` is not a UUID of version 4", shown(text)))
            .advise("it looks like `3f0c9a52-7d1e-4b8a-9c40-5e6f7a8b9c0d`")
    };
    let text = crate::front::text(node, Exactness::Exact)?;
    let id = uuid::Uuid::try_parse(&text).map_err(|_| wrong(&text))?;
    let is_version_4 = id.get_version_num() == 4 && id.get_variant() == uuid::Variant::RFC4122;
    if text.len() != 36 || !is_version_4 {
        return Err(wrong(&text));
    }
    Ok(())
}

fn moment(node: &Node) -> Result<(), Fault> {
    let text = crate::front::text(node, Exactness::Exact)?;
    if is_moment(&text) {
        return Ok(());
    }
    Err(
        Fault::new(format!("`{}` is not a moment by RFC 3339", shown(&text)))
            .advise("it looks like `2026-11-15T08:30:00Z`"),
    )
}

/// Says whether a text is a moment exactly as RFC 3339 writes it, with an offset, on a day that
/// exists. The library reads more forms than that.
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
    // The 60th second exists when a leap second is put in.
    let is_time = two(11, bytes) < 24 && two(14, bytes) < 60 && two(17, bytes) <= 60;
    is_offset && is_time && text[..10].parse::<jiff::civil::Date>().is_ok()
}

fn tags(node: &Node) -> Result<(), Fault> {
    let Value::List(_) = &node.value else {
        return Err(Fault::new("it is not a list of texts").advise("write `tags: [a, b]`"));
    };
    let tags = texts(node, Exactness::Exact, |text| vec![text.to_owned()])?;
    match tags.iter().any(|tag| tag.trim().is_empty()) {
        true => Err(Fault::new("a tag is blank")),
        false => Ok(()),
    }
}
