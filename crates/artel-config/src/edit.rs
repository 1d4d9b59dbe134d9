//! Changes a settings file at one place. Everything else that a person wrote there stays as
//! it is.

use toml::de::{DeTable, DeValue};

/// Returns the text of a settings file with a setting changed to `value`, which is given as
/// TOML. Returns `None` if the setting cannot be put in without changing more.
pub fn with_setting(text: &str, section: &str, key: &str, value: &str) -> Option<String> {
    let changed = match place(text, section, key)? {
        SettingLocation::Value(span) => {
            let (before, after) = (text.get(..span.start)?, text.get(span.end..)?);
            format!("{before}{value}{after}")
        }
        SettingLocation::Section => match header(text, section) {
            Some(at) => {
                let (before, after) = text.split_at(at);
                format!("{before}{key} = {value}\n{after}")
            }
            // The section is written as dotted names, which come before the first section
            // header.
            None => format!("{section}.{key} = {value}\n{text}"),
        },
        SettingLocation::Nowhere => {
            let gap = match text {
                "" => "",
                text if text.ends_with('\n') => "\n",
                _ => "\n\n",
            };
            format!("{text}{gap}[{section}]\n{key} = {value}\n")
        }
    };
    // The result is read again: a guess about somebody's text must not be written.
    match place(&changed, section, key)? {
        SettingLocation::Value(span) if changed.get(span.clone()) == Some(value) => Some(changed),
        _ => None,
    }
}

/// The location of a setting in a file.
enum SettingLocation {
    Value(std::ops::Range<usize>),
    /// The section exists, the setting does not.
    Section,
    Nowhere,
}

fn place(text: &str, section: &str, key: &str) -> Option<SettingLocation> {
    let whole = DeTable::parse(text).ok()?;
    let Some(found) = whole.get_ref().get(section) else {
        return Some(SettingLocation::Nowhere);
    };
    let DeValue::Table(table) = found.get_ref() else {
        return None;
    };
    Some(match table.get(key) {
        Some(value) => SettingLocation::Value(value.span()),
        None => SettingLocation::Section,
    })
}

/// Returns the start of the line after a section's header.
fn header(text: &str, section: &str) -> Option<usize> {
    let head = format!("[{section}]");
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let words = line.split('#').next().unwrap_or_default().trim();
        if words == head && line.ends_with('\n') {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::with_setting;

    #[track_caller]
    fn check(before: &str, after: Option<&str>) {
        let changed = with_setting(before, "visibility", "user", "\"full\"");
        assert_eq!(changed.as_deref(), after, "{before}");
    }

    #[test]
    fn one_value_is_put_in_and_everything_else_stays() {
        check("", Some("[visibility]\nuser = \"full\"\n"));
        check(
            "# mine\n[journal]\nbackups_kept = 1 # few",
            Some("# mine\n[journal]\nbackups_kept = 1 # few\n\n[visibility]\nuser = \"full\"\n"),
        );
        check(
            "[visibility] # who\nrole = 'user'\n[journal]\n",
            Some("[visibility] # who\nuser = \"full\"\nrole = 'user'\n[journal]\n"),
        );
        check(
            "[visibility]\nuser = 'summary' # for now\n\n# end\n",
            Some("[visibility]\nuser = \"full\" # for now\n\n# end\n"),
        );
        check(
            "visibility.role = 'admin'\n[journal]\n",
            Some("visibility.user = \"full\"\nvisibility.role = 'admin'\n[journal]\n"),
        );
        check(
            "visibility.user = 'summary'\n",
            Some("visibility.user = \"full\"\n"),
        );
        check(
            "visibility = { user = 'summary' }\n",
            Some("visibility = { user = \"full\" }\n"),
        );
        check("visibility = { role = 'user' }\n", None);
        check("visibility = 3\n", None);
        check("nonsense", None);
    }

    #[test]
    fn a_list_over_several_lines_is_replaced_as_a_whole() {
        let before = "[visibility]\nhidden_tools = [\n  \"a\", # one\n]\nrole = \"user\"\n";
        let after = with_setting(before, "visibility", "hidden_tools", "[]");
        let wanted = "[visibility]\nhidden_tools = []\nrole = \"user\"\n";
        assert_eq!(after.as_deref(), Some(wanted));
    }
}
