//! Decides where the content of a folder may be sent. Portals can contain one another, and
//! the narrowest label wins.

use std::path::Path;

use artel_types::model::PrivacyLabel;

use super::{Portal, holding};

/// Returns where the content of a folder may be sent: no further than any portal allows
/// that contains the folder or lies in it.
pub(crate) fn label_of(folder: &Path, portals: &[Portal]) -> PrivacyLabel {
    let labels = portals.iter().filter(|it| it.overlaps(folder));
    labels
        .map(Portal::privacy)
        .fold(PrivacyLabel::Any, PrivacyLabel::narrowed)
}

/// Returns where content may be sent that runs on a folder can read. Such runs can name
/// everything in the portal that contains the folder.
pub(crate) fn label_of_runs(folder: &Path, portals: &[Portal]) -> PrivacyLabel {
    let own = holding(portals.to_vec(), folder);
    let of_own = own.map_or(PrivacyLabel::Any, |own| label_of(&own.path, portals));
    label_of(folder, portals).narrowed(of_own)
}

/// Returns the portals, each with the label that is effective for its whole folder.
pub(crate) fn with_labels_that_count(portals: &[Portal]) -> Vec<Portal> {
    let with_label = |portal: &Portal| Portal {
        privacy: label_of(&portal.path, portals),
        ..portal.clone()
    };
    portals.iter().map(with_label).collect()
}

/// Returns notes about overlapping portals with different labels, in which the narrower
/// label applies to both.
pub(super) fn told_of_labels(portal: &Portal, portals: &[Portal]) -> Vec<String> {
    let others = portals.iter().filter(|it| it.path != portal.path);
    let others = others.filter(|it| it.overlaps(&portal.path));
    let told = others.filter_map(|other| {
        let (open, kept) = match (portal.privacy, other.privacy) {
            (PrivacyLabel::Any, PrivacyLabel::LocalOnly) => (portal, other),
            (PrivacyLabel::LocalOnly, PrivacyLabel::Any) => (other, portal),
            _ => return None,
        };
        let how = if open.path.starts_with(&kept.path) { "lies in" } else { "holds" };
        let (open, kept) = (&open.name, &kept.name);
        Some(format!(
            "`{open}` {how} `{kept}`, which is local-only, so the content of `{open}` goes to models \
             on this machine only, too"
        ))
    });
    told.collect()
}

impl Portal {
    fn overlaps(&self, folder: &Path) -> bool {
        folder.starts_with(&self.path) || self.path.starts_with(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_label_around_and_within_counts() {
        let portal = |name: &str, path: &str, privacy| Portal {
            name: name.to_owned(),
            path: path.into(),
            operations: Vec::new(),
            agents: Vec::new(),
            privacy,
            stack: Vec::new(),
            checks: Vec::new(),
        };
        let portals = [
            portal("outer", "/outer", PrivacyLabel::Any),
            portal("inner", "/outer/inner", PrivacyLabel::LocalOnly),
            portal("open", "/outer/inner/open", PrivacyLabel::Any),
            portal("beside", "/outer/beside", PrivacyLabel::Any),
            portal("alike", "/outer/inner2", PrivacyLabel::Any),
        ];
        for (folder, label) in [
            ("/", PrivacyLabel::LocalOnly),
            ("/outer", PrivacyLabel::LocalOnly),
            ("/outer/inner", PrivacyLabel::LocalOnly),
            ("/outer/inner/src", PrivacyLabel::LocalOnly),
            ("/outer/inner/open", PrivacyLabel::LocalOnly),
            ("/outer/beside", PrivacyLabel::Any),
            ("/outer/inner2", PrivacyLabel::Any),
            ("/elsewhere", PrivacyLabel::Any),
        ] {
            assert_eq!(label_of(Path::new(folder), &portals), label, "{folder}");
        }
        let labels = with_labels_that_count(&portals);
        let open: Vec<&str> = labels
            .iter()
            .filter(|it| it.privacy == PrivacyLabel::Any)
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(open, ["beside", "alike"]);
    }
}
