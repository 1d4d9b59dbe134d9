//! Which items of a file are tests: those under `#[cfg(test)]`.

use super::tokens::CodeTokens;

/// An item under `#[cfg(test)]`, as bytes of its file.
#[derive(Debug)]
pub(super) struct TestItem {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The module that the item declares, if its text is in another file.
    pub(super) module: Option<DeclaredModule>,
}

/// A `mod name;`.
#[derive(Debug)]
pub(super) struct DeclaredModule {
    pub(super) name: String,
    /// What its `#[path = "…"]` says.
    pub(super) path: Option<String>,
}

/// Returns the items under `#[cfg(test)]`.
pub(super) fn of(code: &CodeTokens) -> Vec<TestItem> {
    let heads = code.places_of(&["#", "[", "cfg", "("]);
    let tests = heads.filter(|at| is_test_condition(code, at + 4));
    tests
        .map(|at| {
            let item = after_attributes(code, at);
            TestItem {
                start: code.start(at),
                end: item_end(code, item),
                module: declared_at(code, item),
            }
        })
        .collect()
}

/// Returns all modules whose text is in other files.
pub(super) fn modules(code: &CodeTokens) -> Vec<DeclaredModule> {
    let places = code.places_of(&["mod"]);
    places.filter_map(|at| declared_at(code, at)).collect()
}

fn is_test_condition(code: &CodeTokens, at: usize) -> bool {
    code.reads(at, &["test", ")", "]"])
        || (matches!(code.at(at), "all" | "any") && code.reads(at + 1, &["(", "test"]))
}

fn after_attributes(code: &CodeTokens, mut at: usize) -> usize {
    while code.reads(at, &["#", "["]) {
        at = code.partner(at + 1).map_or(code.len(), |close| close + 1);
    }
    at
}

fn item_end(code: &CodeTokens, from: usize) -> usize {
    let mut at = from;
    while at < code.len() {
        match code.at(at) {
            "(" | "[" => at = code.partner(at).unwrap_or(at),
            ";" => return code.end(at),
            "{" => return code.end(code.partner(at).unwrap_or(code.len())),
            _ => {}
        }
        at += 1;
    }
    code.end(code.len())
}

/// Reads `mod name;` at `at`, behind `pub` or not.
fn declared_at(code: &CodeTokens, at: usize) -> Option<DeclaredModule> {
    let mut keyword = at;
    if code.at(at) == "pub" {
        keyword = match code.at(at + 1) {
            "(" => code.partner(at + 1)? + 1,
            _ => at + 1,
        };
    }
    let is_module = code.at(keyword) == "mod" && code.at(keyword + 2) == ";";
    is_module.then(|| DeclaredModule {
        name: code.at(keyword + 1).to_owned(),
        path: path_before(code, at),
    })
}

/// Returns the text of a `#[path = "…"]` among the attributes that end before `at`.
fn path_before(code: &CodeTokens, mut at: usize) -> Option<String> {
    if code.before(at) == ")" {
        at = code.partner(at - 1)?;
    }
    if code.before(at) == "pub" {
        at -= 1;
    }
    while code.before(at) == "]" {
        let open = code.partner(at - 1)?;
        if code.reads(open + 1, &["path", "="]) {
            return Some(code.at(open + 3).trim_matches('"').to_owned());
        }
        at = open.checked_sub(1)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::lexer;
    use super::*;

    fn code(text: &str) -> CodeTokens {
        CodeTokens::new(text.to_owned(), lexer::lex(text).tokens)
    }

    #[test]
    fn an_item_ends_with_its_body_or_its_semicolon() {
        let text = "#[cfg(test)]\n#[derive(A)]\nstruct B([u8; 2]);\nfn c() {}";
        let items = of(&code(text));
        assert_eq!(&text[items[0].end..], "\nfn c() {}");
        let text = "#[cfg(all(test, unix))] fn a(b: [u8; 2]) { {} } fn c() {}";
        assert_eq!(&text[of(&code(text))[0].end..], " fn c() {}");
    }

    #[test]
    fn other_conditions_are_production() {
        assert!(of(&code("#[cfg(not(test))] fn a() {} #[cfg(unix)] fn b() {}")).is_empty());
    }

    #[test]
    fn a_path_attribute_is_read_through_others() {
        let text = "#[cfg(test)] #[path = \"x.rs\"] #[rustfmt::skip] pub(crate) mod a;";
        let items = of(&code(text));
        let module = items[0].module.as_ref();
        assert_eq!(module.and_then(|it| it.path.as_deref()), Some("x.rs"));
    }
}
