//! The text of a fresh `artel.toml`, made from the schema so that it cannot go stale.

use crate::schema::fields;
use crate::value::Given;

const HEAD: &str = "\
# Settings of Artel. Every line is commented out and shows the default: take the `#` away from a
# section and a setting to change it. `artel config show --origin` says what is in force, and why.
";

/// Returns a settings file in which every line is commented out. Words begin with `# `; sections
/// and settings with a bare `#`, so that taking it away makes them count.
pub fn template() -> String {
    let mut text = HEAD.to_owned();
    let mut section = "";
    for field in fields() {
        if field.section() != section {
            section = field.section();
            text.push_str(&format!("\n#[{section}]\n"));
        }
        let default = field.kind.read(&Given::Bare(field.default.to_owned()));
        let default = default.map(|value| value.to_toml()).unwrap_or_default();
        text.push_str(&format!(
            "\n# {}\n# Allowed: {}.\n#{} = {default}\n",
            field.about,
            field.kind.allowed(),
            field.name(),
        ));
    }
    text
}
