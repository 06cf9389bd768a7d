//! A file in the place of another one: the addresses of the file and of its sizes stay, and show the new one.
//!
//! Addresses stand in texts of other records and on other sites. So no address of the old file becomes empty: where the
//! new one has no copy of a size, the file itself is shown there.

use super::file::StoredFiles;
use serde_json::{Map, Value, json};

/// Where the files of a new upload go, and how the record describes them then.
pub struct Replacement {
    /// Copies to make: from the key of a new file to one of the old files.
    pub copies: Vec<(String, String)>,
    /// New files that the record keeps under their own names: of sizes that the old file did not have.
    pub kept: Vec<String>,
    /// The record's `media_details`.
    pub details: Value,
}

impl Replacement {
    /// The replacement of the file `shown`, described by `old`, by the stored files of the new one.
    pub fn of(shown: &str, old: &Value, new: &StoredFiles) -> Replacement {
        let mut details = new.extra.get("media_details").cloned().unwrap_or_else(|| json!({}));
        let folder = shown.rsplit_once('/').map_or("", |(folder, _)| folder);
        let key = |own: &str| if folder.is_empty() { own.to_owned() } else { format!("{folder}/{own}") };
        let mut copies = vec![(new.file.clone(), shown.to_owned())];
        if details.get("file").is_some() {
            details["file"] = json!(shown);
        }
        // The upload behind what is shown.
        if let Some(own) = old["original_image"].as_str() {
            let upload = details["original_image"].as_str().map_or_else(|| new.file.clone(), key);
            copies.push((upload, key(own)));
            details["original_image"] = json!(own);
        }
        let is_picture = details["width"].is_number();
        let whole = json!({
            "file": last(&new.file), "width": details["width"], "height": details["height"],
            "filesize": details["filesize"], "mime_type": new.mime,
        });
        let mut sizes = details["sizes"].as_object().cloned().unwrap_or_default();
        for (name, size) in old["sizes"].as_object().into_iter().flatten().filter(|_| is_picture) {
            let Some(own) = size["file"].as_str() else { continue };
            let described = sizes.entry(name.clone()).or_insert_with(|| whole.clone());
            let from = key(described["file"].as_str().unwrap_or_default());
            let to = key(own);
            match copies.iter().find(|(_, taken)| *taken == to) {
                // Two sizes were equal and are so no more: one has the old address.
                Some((other, _)) if *other != from => continue,
                Some(_) => {}
                None => copies.push((from, to)),
            }
            described["file"] = json!(own);
        }
        let kept = names_in(&details, &sizes).map(key).filter(|key| new.keys.contains(key)).collect();
        details["sizes"] = Value::Object(sizes);
        Replacement { copies, kept, details }
    }
}

/// Names of the files that the record has beside the one that it shows.
fn names_in<'d>(details: &'d Value, sizes: &'d Map<String, Value>) -> impl Iterator<Item = &'d str> {
    let sizes = sizes.values().filter_map(|size| size["file"].as_str());
    sizes.chain(details["original_image"].as_str())
}

fn last(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(file: &str, width: u32) -> Value {
        json!({"file": file, "width": width, "height": width, "filesize": 1, "mime_type": "image/png"})
    }

    fn stored(details: Value, keys: &[&str]) -> StoredFiles {
        StoredFiles {
            title: String::new(),
            url: String::new(),
            file: keys[0].to_owned(),
            mime: "image/png".to_owned(),
            alternative: String::new(),
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            extra: Map::from_iter([("media_details".to_owned(), details)]),
        }
    }

    fn pairs(replacement: &Replacement) -> Vec<(&str, &str)> {
        replacement.copies.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect()
    }

    #[test]
    fn every_address_of_the_old_picture_stays() {
        let old = json!({"original_image": "a.png", "sizes": {"small": size("a-9x9.png", 9), "large": size("a-99x99.png", 99)}});
        let sizes = json!({"small": size("b-8x8.png", 8), "extra": size("b-20x20.png", 20)});
        let details = json!({"width": 50, "height": 50, "filesize": 7, "file": "y/b.png", "sizes": sizes});
        let new = stored(details, &["y/b.png", "y/b-8x8.png", "y/b-20x20.png"]);
        let made = Replacement::of("y/a-scaled.png", &old, &new);
        let expected = [
            ("y/b.png", "y/a-scaled.png"),
            ("y/b.png", "y/a.png"),
            ("y/b-8x8.png", "y/a-9x9.png"),
            ("y/b.png", "y/a-99x99.png"),
        ];
        assert_eq!(pairs(&made), expected);
        assert_eq!(made.kept, ["y/b-20x20.png"]);
        assert_eq!(
            (&made.details["file"], &made.details["original_image"]),
            (&json!("y/a-scaled.png"), &json!("a.png"))
        );
        assert_eq!(made.details["sizes"]["small"], size("a-9x9.png", 8));
        assert_eq!(
            made.details["sizes"]["large"],
            json!({
                "file": "a-99x99.png", "width": 50, "height": 50, "filesize": 7, "mime_type": "image/png",
            })
        );
        assert_eq!(made.details["sizes"]["extra"], size("b-20x20.png", 20));
    }

    #[test]
    fn sizes_that_were_equal_part() {
        let old =
            json!({"sizes": {"one": size("a-9x9.png", 9), "two": size("a-9x9.png", 9), "three": size("a-9x9.png", 9)}});
        let sizes = json!({"one": size("b-7x7.png", 7), "two": size("b-8x8.png", 8), "three": size("b-7x7.png", 7)});
        let new = stored(
            json!({"width": 20, "height": 20, "file": "b.png", "sizes": sizes}),
            &["b.png", "b-7x7.png", "b-8x8.png"],
        );
        let made = Replacement::of("a.png", &old, &new);
        assert_eq!(pairs(&made), [("b.png", "a.png"), ("b-7x7.png", "a-9x9.png")]);
        assert_eq!(made.kept, ["b-8x8.png"]);
        let file = |name: &str| made.details["sizes"][name]["file"].clone();
        assert_eq!([file("one"), file("two"), file("three")], ["a-9x9.png", "b-8x8.png", "a-9x9.png"]);
    }

    #[test]
    fn documents_have_their_file_alone() {
        let old = json!({"filesize": 5, "sizes": {"full": size("a-pdf.png", 9)}});
        let new = stored(json!({"filesize": 6, "sizes": {}}), &["2026/b.pdf"]);
        let made = Replacement::of("2026/a.pdf", &old, &new);
        assert_eq!(pairs(&made), [("2026/b.pdf", "2026/a.pdf")]);
        assert_eq!((made.kept.len(), &made.details), (0, &json!({"filesize": 6, "sizes": {}})));
    }
}
