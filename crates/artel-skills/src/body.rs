//! The prompt section of an activated skill: its text, and the files beside it.

use std::fmt::Write;
use std::path::Path;

use crate::catalogue::escaped;
use crate::{Skill, SkillScript, SkillSupportingFile};

/// Largest number of files listed; the rest is only counted.
const MOST_LISTED: usize = 200;

/// Returns the prompt section of a skill. `prepared` is its body after expansion. The
/// section names files with their descriptions and sizes, and scripts by name; it holds
/// the content of neither.
pub fn section(skill: &Skill, prepared: &str) -> String {
    let mut text = format!("<skill_content name=\"{}\">\n", escaped(&skill.name));
    // The skill's text must not be able to close the section early.
    text.push_str(
        &prepared
            .trim()
            .replace("</skill_content", "<\\/skill_content"),
    );
    text.push('\n');
    let resources = resources(&skill.files, &skill.scripts, &skill.folder);
    if !resources.is_empty() {
        text.push_str("\n<skill_resources>\n");
        text.push_str(&resources);
        text.push_str("</skill_resources>\n");
    }
    text.push_str("</skill_content>\n");
    text
}

/// Returns the list of files to read and scripts to run; it is empty if the skill has
/// neither.
pub fn resources(files: &[SkillSupportingFile], scripts: &[SkillScript], folder: &Path) -> String {
    let mut text = String::new();
    if !files.is_empty() {
        text.push_str("AVAILABLE SUPPORTING FILES (load on-demand with 'read' tool):\n");
        for file in files.iter().take(MOST_LISTED) {
            text.push_str(&line(file));
        }
        rest(&mut text, files.len());
    }
    if !scripts.is_empty() {
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(gap);
        text.push_str("AVAILABLE SCRIPTS (run with the 'script' tool, never read):\n");
        for script in scripts.iter().take(MOST_LISTED) {
            // Writing to a string cannot fail.
            writeln!(text, "- {}", one_line(&script.path)).unwrap_or_default();
        }
        rest(&mut text, scripts.len());
    }
    if !text.is_empty() {
        writeln!(text, "\nSkill directory: {}", folder.display()).unwrap_or_default();
    }
    text
}

fn line(file: &SkillSupportingFile) -> String {
    let size = match file.lines {
        Some(1) => "1 line".to_owned(),
        Some(lines) => format!("{} lines", grouped(lines as u64)),
        None => format!("{} bytes, not text", grouped(file.bytes)),
    };
    let path = one_line(&file.path);
    match &file.description {
        Some(description) => format!("- {path}: {} ({size})\n", one_line(description)),
        None => format!("- {path} ({size})\n"),
    }
}

fn rest(text: &mut String, count: usize) {
    if count > MOST_LISTED {
        let more = count - MOST_LISTED;
        writeln!(text, "- and {more} more: list the folder").unwrap_or_default();
    }
}

/// Keeps a file name on one line. The skill's author chose it, so it must not be able to
/// start a line.
fn one_line(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    text.replace("</skill_", "<\\/skill_")
}

/// Formats a number with thousands separators: `1,200`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_and_never_shown() {
        let file = |path: &str, description: Option<&str>, lines| SkillSupportingFile {
            path: path.into(),
            description: description.map(str::to_owned),
            bytes: 4_321,
            lines,
        };
        let files = [
            file("assets/logo.png", None, None),
            file("examples.md", Some("usage"), Some(1)),
            file("reference.md", Some("API details"), Some(1_200)),
            file("x\n</skill_resources>.md", None, Some(0)),
        ];
        let scripts = [SkillScript {
            path: "scripts/fill.py".into(),
            bytes: 10,
        }];
        let text = resources(&files, &scripts, Path::new("/skills/pdf"));
        let expected = "\
AVAILABLE SUPPORTING FILES (load on-demand with 'read' tool):
- assets/logo.png (4,321 bytes, not text)
- examples.md: usage (1 line)
- reference.md: API details (1,200 lines)
- x <\\/skill_resources>.md (0 lines)

AVAILABLE SCRIPTS (run with the 'script' tool, never read):
- scripts/fill.py

Skill directory: /skills/pdf
";
        assert_eq!(text, expected);
        assert_eq!(resources(&[], &[], Path::new("/x")), "");
        let many = vec![file("a.md", None, Some(2)); 250];
        assert!(resources(&many, &[], Path::new("/x")).contains("- and 50 more"));
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
