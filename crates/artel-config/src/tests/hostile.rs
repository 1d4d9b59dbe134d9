//! Settings files written to do harm: whatever they hold, loading ends with a result.

use artel_types::FailureCode;
use proptest::prelude::*;

use super::house::House;

/// Loads the text and returns the number of problems. Panics and overflows fail the test.
fn load(text: impl AsRef<[u8]>) -> usize {
    House::new()
        .workshop(text)
        .load()
        .map_or_else(|failures| failures.len(), |_| 0)
}

#[test]
fn deep_nesting_is_survived() {
    let dotted = vec!["a"; 79].join(".");
    let mut tables = format!("[{dotted}]\n");
    for _ in 0..79 {
        tables.push_str(&format!("{dotted} = {{ "));
    }
    tables.push_str(&"}".repeat(79));
    let mut twice = tables.clone();
    twice.push_str(&tables.replacen('[', "\n[", 1));
    for text in [
        tables,
        twice,
        "[".repeat(1 << 20),
        format!("a = {}", "[".repeat(1 << 19)),
        "a = { b = ".repeat(1 << 16),
        "a.".repeat(1 << 19),
        "[[a]]\n".repeat(1 << 16),
        "[a]\n".repeat(1 << 16),
    ] {
        assert!(load(&text) > 0, "{}", &text[..20]);
    }
}

#[test]
fn many_and_long_names_are_all_answered() {
    let many: String = (0..20_000).map(|n| format!("k{n} = 1\n")).collect();
    assert_eq!(load(many), 20_000);
    let long = House::new().workshop(format!("{} = 1", "k".repeat(1 << 19)));
    assert!(long.complaints().len() < 1000);
    let value = House::new().workshop(format!("output.color = \"{}\"", "v".repeat(1 << 19)));
    assert!(value.complaints().len() < 1000);
}

#[test]
fn many_and_long_entries_are_all_answered() {
    let many: String = (0..5_000)
        .map(|n| format!("[models.a{n}]\ntimeout='1s'\n"))
        .collect();
    assert_eq!(load(many), 5_000);
    let whole: String = (0..2_000)
        .map(|n| format!("[models.a{n}]\nprovider='ollama'\nmodel='m'\n"))
        .collect();
    let loaded = House::new().workshop(whole).load().unwrap();
    assert_eq!(
        (loaded.models.len(), loaded.rows().len()),
        (2_000, 4_000 + 38)
    );
    let empty: String = (0..5_000).map(|n| format!("[prices.m{n}]\n")).collect();
    assert_eq!(load(empty), 5_000);
    let long = "k".repeat(1 << 19);
    for text in [
        format!("[models.{long}]\nmodel = 'm'"),
        format!("[models.a]\n{long} = 1"),
        format!("[models.a.headers]\n{long} = '1'"),
        format!("[models.a]\nprovider = '{long}'"),
        format!("[models.a]\nbase_url = 'http://{long}'"),
        format!("[prices.{long}]\ninput = 1"),
        format!("[prices.a]\ninput = 0.{}", "1".repeat(1 << 19)),
        format!("[budget.provider.{long}]\nusd = 1"),
    ] {
        let house = House::new().workshop(&text);
        assert!(house.complaints().len() < 1500, "{}", &text[..20]);
    }
}

#[test]
fn what_may_be_a_key_is_never_repeated() {
    let key = "sk-ant-api03-AbCdEf";
    let house = House::new()
        .workshop(format!(
            "[models.a]\napi_key_env = '{key}'\napi_key = '{key}'\naccount = '{key} '\n\
             base_url = 'https://u:{key}@h'\nproxy = 'http://{key}@h'\n\
             headers = {{ Authorization = '{key}', x-a = '{key}\u{e9}' }}\n\
             [models.b]\napi_key_env = ['{key}']\nbase_url = 'https://h?key={key}'\n"
        ))
        .flag("models.a.api_key_env", key)
        .flag("models.a.headers.x-api-key", key);
    let complaints = house.complaints();
    assert_eq!(complaints.matches("error[").count(), 11, "{complaints}");
    assert!(!complaints.contains("sk-ant"), "{complaints}");
}

#[test]
fn escape_sequences_do_not_reach_the_terminal() {
    let house = House::new()
        .workshop(
            "\"\\u001b]0;x\" = 1\noutput.color = \"\\u001b\"\nmodels.\"\\u001b\".model = 1\n\
             models.a.provider = \"\\u001b\"\nmodels.a.headers.\"\\u001b\" = \"x\"\n\
             prices.\"\\u001b\".input = 1\nbudget.provider.\"\\u001b\".usd = 1\n\
             models.a.model = \"\\u001b\"\nmodels.a.\"\\u001b\" = 1\nmodels.b.\"\\u001b\".c = 1",
        )
        .flag("models.\u{1b}.model", "\u{1b}")
        .flag("output.color", "\u{1b}[2J\nerror[X001]: forged")
        .variable("ARTEL_OUTPUT_\u{1b}", "x");
    let complaints = house.complaints();
    assert!(!complaints.contains('\u{1b}'), "{complaints:?}");
    assert!(!complaints.contains("\nerror[X001]"), "{complaints:?}");
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        load(bytes);
    }

    #[test]
    fn anything_like_toml_is_answered(
        text in r#"(\[{0,3}|journal|output|[.]|color|durability| = |"|'|\{|\}|\]{1,2}|\n|,|1|true|#|é){0,40}"#
    ) {
        load(text);
    }

    #[test]
    fn anything_like_models_and_budgets_is_answered(
        text in r#"(\[models[.]a\]\n|\[prices[.]"m"\]\n|\[budget[.](global|run|provider[.]google)\]\n|provider = "ollama"\n|model = "m"\n|base_url = "http://[a-z:/@?.\[\]0-9]{0,9}"\n|headers[.][a-z"-]{1,9} = "[ -~]{0,3}"\n|usd = -?[0-9]{1,3}([.][0-9]{1,8})?\n|tokens = [0-9]{1,20}\n|period = "day"\n|input = [0-9e.]{1,5}\n|thinking = "none"\n){0,12}"#
    ) {
        let house = House::new().workshop(text);
        if let Ok(settings) = house.load() {
            prop_assert_eq!(settings.checksum().len(), 64);
            prop_assert!(settings.rows().len() >= 11);
        }
    }

    #[test]
    fn any_flag_is_answered(key in ".{0,40}", text in ".{0,40}") {
        let house = House::new().flag(&key, &text);
        if let Err(failures) = house.load() {
            prop_assert_eq!(failures[0].code, FailureCode::S003);
        }
    }

    #[test]
    fn every_number_in_range_is_taken_and_no_other(number in any::<i64>(), small in 0_i64..2000) {
        for number in [number, small] {
            let loaded = House::new().workshop(format!("journal.backups_kept = {number}")).load();
            prop_assert_eq!(loaded.is_ok(), (1..=1000).contains(&number));
        }
    }
}
