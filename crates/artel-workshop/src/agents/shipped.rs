//! The roles that are built in, as data: the same sort of file that a person writes.

/// A built-in role: its id, and its file.
type Shipped = (&'static str, &'static str);

macro_rules! shipped {
    ($($id:literal),+ $(,)?) => {
        /// Every built-in role, by id.
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

/// Returns the file of a built-in role.
pub(crate) fn text(id: &str) -> Option<&'static str> {
    let found = SHIPPED.iter().find(|(shipped, _)| *shipped == id);
    found.map(|(_, text)| *text)
}

/// Returns the ids of the built-in roles.
pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(id, _)| *id)
}
