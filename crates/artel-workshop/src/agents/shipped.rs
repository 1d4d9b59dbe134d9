//! The built-in roles as data, in the same file format that people use.

/// The id and the text of a built-in role.
type Shipped = (&'static str, &'static str);

macro_rules! shipped {
    ($($id:literal),+ $(,)?) => {
        /// All built-in roles, with their ids.
        const SHIPPED: &[Shipped] = &[
            $( ($id, include_str!(concat!("../../roles/", $id, ".md"))), )+
        ];
    };
}

shipped![
    "academic",
    "architect",
    "archivalist",
    "default",
    "designer",
    "engineer",
    "guide",
    "inspector",
    "librarian",
    "orchestrator",
    "tester",
];

/// Returns the file text of a built-in role.
pub(crate) fn text(id: &str) -> Option<&'static str> {
    let found = SHIPPED.iter().find(|(shipped, _)| *shipped == id);
    found.map(|(_, text)| *text)
}

pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(id, _)| *id)
}
