//! What is inside: a bill of materials in `CycloneDX`, and the licence texts that come along.

use super::{DIST, Platform, Workshop, write};
use crate::audit;
use serde_json::{Value, json};
use std::path::Path;

/// What is shipped as a program or a module.
const SHIPPED: &[&str] = &["rosenblatt-cli", "rosenblatt-python", "rosenblatt-web"];

/// The licence texts of everything in a program for this platform.
pub(super) fn notices(platform: &Platform) -> Result<String, String> {
    audit::notices(&audit::built_in(platform.target, &["rosenblatt-cli"])?)
}

/// Writes the bill: every package of others, with its licence and its sum.
fn write_to(folder: &Path, version: &str, date: &str) -> Result<(), String> {
    let mut components: Vec<Value> = Vec::new();
    for platform in super::PLATFORMS.iter().filter(|one| one.is_shipped) {
        for package in audit::built_in(platform.target, SHIPPED)? {
            let component = component(&package);
            if !components.contains(&component) {
                components.push(component);
            }
        }
    }
    components.sort_by_key(|one| one["purl"].as_str().unwrap_or_default().to_owned());
    let own = |kind: &str| json!({ "type": kind, "name": "rosenblatt", "version": version, "bom-ref": "rosenblatt" });
    let references: Vec<&Value> = components.iter().map(|one| &one["bom-ref"]).collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "timestamp": date, "component": own("application") },
        "components": components,
        "dependencies": [{ "ref": "rosenblatt", "dependsOn": references }],
    });
    let text = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
    write(&folder.join(format!("rosenblatt-{version}.cdx.json")), &(text + "\n"))
}

pub(super) fn write_all(shop: &Workshop) -> Result<(), String> {
    write_to(Path::new(DIST), &shop.version, &shop.day()?)
}

fn component(package: &audit::Package) -> Value {
    let address = format!("pkg:cargo/{}@{}", package.name, package.version);
    json!({
        "type": "library",
        "bom-ref": address,
        "name": package.name,
        "version": package.version,
        "purl": address,
        "licenses": [{ "expression": package.licence.replace('/', " OR ") }],
        "hashes": [{ "alg": "SHA-256", "content": package.sum }],
    })
}
