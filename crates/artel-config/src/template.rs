//! The text of a fresh `artel.toml`, generated from the schema so that it cannot become
//! outdated.

use crate::schema::{AREAS, SettingArea, SettingField};
use crate::value::RawSettingValue;

const HEAD: &str = "\
# Settings of Artel. Every line is commented out and shows the default, or an example where there is
# none: take the `#` away from a section and a setting to change it. `artel config show --origin`
# says what is in force, and why.
";

/// Returns a settings file in which every line is commented out. Explanations begin with `#
/// `; sections and settings begin with a bare `#`, so that removing it puts them in force.
pub fn template() -> String {
    let areas = AREAS.iter().map(area);
    std::iter::once(HEAD.to_owned()).chain(areas).collect()
}

fn area(area: &SettingArea) -> String {
    let mut text = String::new();
    let mut section = "";
    for field in area.fields {
        let Some(default) = default(field) else {
            continue;
        };
        if field.section() != section {
            section = field.section();
            text.push_str(&format!("\n#[{section}]\n"));
        }
        text.push_str(&format!(
            "\n# {}\n# Allowed: {}.\n#{} = {default}\n",
            field.about,
            field.kind.allowed(),
            field.name(),
        ));
    }
    if !area.example.is_empty() {
        text.push('\n');
        text.push_str(area.example);
    }
    text
}

fn default(field: &SettingField) -> Option<String> {
    let given = RawSettingValue::Bare(field.default?.to_owned());
    field.kind.read(&given).ok().map(|value| value.to_toml())
}
