//! Models as they are named over HTTP. A rehearsal is a file of the daemon's machine: no caller names
//! one, whatever their role, and only the settings say which there are.

use std::fs;

use serde_json::{Map, Value, json};

use crate::house::{Answer, House, ROLES};

/// Returns the schema that a part of the description refers to.
fn resolved<'d>(whole: &'d Value, part: &'d Value) -> &'d Value {
    match part["$ref"].as_str() {
        Some(name) => whole.pointer(name.trim_start_matches('#')).unwrap(),
        None => part,
    }
}

/// Returns the smallest body that fits a schema, with this model.
fn naming(whole: &Value, schema: &Value, model: &str) -> Value {
    let properties = schema["properties"].as_object().unwrap();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut body = Map::new();
    for name in required.iter().filter_map(Value::as_str) {
        let value = match resolved(whole, &properties[name])["type"].as_str() {
            Some("integer") => json!(1),
            Some("array") => json!(["x"]),
            _ => json!("xxxxxxxx"),
        };
        body.insert(name.to_owned(), value);
    }
    body.insert("model".to_owned(), json!(model));
    Value::Object(body)
}

#[track_caller]
fn is_refused(answer: Answer) {
    let refused = answer.expect(400);
    let said = refused.json();
    assert_eq!(
        said["error"]["what"], "a rehearsal cannot be named over HTTP",
        "{said}"
    );
    assert!(said["error"]["advice"].as_str().unwrap().contains("alias"));
    assert!(!refused.text.contains("SECRET-LINE"), "{said}");
}

#[test]
fn no_caller_names_a_file_of_the_machine_as_a_model() {
    let house = House::new();
    house.portal("shop");
    let file = house.folder.path().join("notes.yaml");
    fs::write(&file, "SECRET-LINE: [1\n").unwrap();
    let described = artel_server::openapi();
    let mut count = 0;
    for route in house.routes() {
        let content = &route.about["requestBody"]["content"]["application/json"]["schema"];
        let schema = resolved(&described, content);
        if schema["properties"]["model"].is_null() {
            continue;
        }
        count += 1;
        // A script of the machine, and a recording of what others saw.
        for name in [file.display().to_string(), "0123456789".to_owned()] {
            let body = naming(&described, schema, &format!("rehearsal:{name}"));
            let least = route.role.as_deref().unwrap();
            let roles = ROLES.map(artel_workshop::ViewerRole::as_str);
            for role in roles.iter().skip_while(|role| **role != least) {
                is_refused(house.post(role, &route.at("0123456789"), &body));
            }
        }
    }
    assert_eq!(count, 10, "a new place where a model can be named");
    for role in ["developer", "admin"] {
        let model = format!("rehearsal:{}", file.display()).replace('/', "%2F");
        let path = format!("/api/v1/models/{model}");
        is_refused(house.get(role, &path));
        if role == "admin" {
            is_refused(house.post(role, &format!("{path}/test"), &json!({})));
        }
    }
    let journal = house.get("admin", "/api/v1/journal/export").expect(200);
    assert!(!journal.text.contains("SECRET-LINE"));
    assert!(!journal.text.contains("notes.yaml"), "nothing was begun");
}

#[test]
fn a_role_is_not_made_to_rehearse_over_http() {
    let house = House::new();
    let text = |model: &str| {
        format!(
            "---\nname: Helper\ndescription: Helps with notes.\nmodel: {model}\n---\nYou help with \
             notes, by reading them and saying what is in them.\n"
        )
    };
    let file = house.workshop.root().join("Agents/helper.md");
    fs::write(&file, text("fast")).unwrap();
    let edit = |text: &str| {
        let path = "/api/v1/agents/helper";
        let seen = house
            .get("admin", &format!("{path}/text"))
            .expect(200)
            .json();
        let body = json!({ "text": text, "hash": seen["hash"] });
        house.post("admin", &format!("{path}/edit"), &body)
    };
    is_refused(edit(&text("rehearsal:/etc/notes.yaml")));
    assert_eq!(fs::read_to_string(&file).unwrap(), text("fast"));
    // What a person wrote into the file on the machine may stay.
    let own = text("rehearsal:own.yaml");
    fs::write(&file, &own).unwrap();
    edit(&own.replace("You help", "You help a lot")).expect(200);
}

#[test]
fn a_rehearsal_of_the_settings_is_named_by_its_alias() {
    let settings = "[models.other]\nprovider = \"rehearsal\"\nmodel = \"script.yaml\"\n";
    let house = House::with(settings);
    house.portal("shop");
    let body = json!({ "task": "Say hello", "model": "other" });
    let began = house.post("developer", "/api/v1/runs", &body).expect(201);
    let run = began.json()["run"].as_str().unwrap().to_owned();
    house.until(&format!("/api/v1/runs/{run}"), |it| {
        it["state"] == "complete"
    });
}
