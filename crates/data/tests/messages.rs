//! A model of messages is shown other data: tables with names, several formats at once, and what holds no message a line.
//! Each is read rightly or refused, with the cure.

use rosenblatt_data::{DataError, LabelColumn, ReadOptions, Source, load_source, load_with_schema};
use std::fs;
use std::sync::Arc;
use tempfile::TempDir;

/// How rows to be labelled are read for a model that learned from lines.
fn learned() -> ReadOptions {
    let lines = "ham\tsee you at home\nspam\twin a free prize\nham\tsee you soon\nspam\twin free cash\n";
    let (_, schema) =
        load_with_schema(&Source::bytes("t.tsv", lines.as_bytes()), &ReadOptions::default()).unwrap();
    ReadOptions { label: LabelColumn::Absent, ..ReadOptions::default() }.with_schema(Arc::new(schema))
}

fn n_rows(name: &str, text: &str, how: &ReadOptions) -> Result<usize, DataError> {
    load_source(&Source::bytes(name, text.as_bytes()), how).map(|data| data.len())
}

#[test]
fn two_columns_are_a_table_where_one_holds_texts_and_none_labels() {
    let how = learned();
    for text in ["id\ttext\n1\twin a prize\n2\tsee you\n", "text\tid\nwin a prize\t1\nsee you\t2\n"] {
        for name in ["a.tsv", "a.txt", "a.csv"] {
            assert_eq!(n_rows(name, text, &how).unwrap(), 2, "{name}: {text}");
        }
    }
    // Lines with a tab are messages still.
    assert_eq!(n_rows("a.txt", "win\ta prize\nsee you\n", &how).unwrap(), 2);
}

#[test]
fn what_is_no_message_a_line_is_refused() {
    let how = learned();
    let objects = "[{\"text\": \"free cash\"}, {\"text\": \"see you\"}]\n";
    let pretty = "[\n  {\n    \"text\": \"free cash\"\n  },\n  {\n    \"text\": \"see you\"\n  }\n]\n";
    for (name, text) in [
        ("a.json", objects),
        ("a.txt", objects),
        ("b.json", pretty),
        ("b.txt", pretty),
        ("c.txt", "{\n  \"text\": \"free cash\"\n}\n"),
        ("d.mbox", "From a@b Mon Jan  1\n\nfree cash\n\nFrom a@b Mon Jan  1\n\nsee you\n"),
        ("e.txt", "1 3:1 11:1\n-1 5:1 7:1\n"),
        ("f.txt", "1 | free cash\n-1 | see you\n"),
        ("g.conll", "the D\ncat N\n"),
    ] {
        let error = n_rows(name, text, &how).unwrap_err().report();
        assert!(error.contains("format = text"), "{name}: {error}");
    }
    // One message may look like a row, or begin as JSON does.
    for text in [
        "7 12:30\nsee you at home\n",
        "meet 12:30\nsee you\n",
        "[song] free cash\nsee you\n",
        "{free} cash\nsee | you\n",
    ] {
        assert_eq!(n_rows("a.txt", text, &how).unwrap(), 2, "{text}");
    }
    let as_text = ReadOptions { format: Some("text".to_owned()), ..how };
    assert_eq!(n_rows("b.json", pretty, &as_text).unwrap(), 8);
}

#[test]
fn files_of_several_formats_are_refused() {
    let how = learned();
    let folder = TempDir::new().unwrap();
    let files = [
        ("a.eml", "From: a\nTo: b\n\nwin a prize\n"),
        ("b.txt", "win a prize\nsee you\n"),
        ("c.csv", "id,text\n1,win a prize\n2,see you\n"),
        ("d.jsonl", "{\"text\": \"see you\"}\n"),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let read = |names: &[&str], how: &ReadOptions| {
        let source = Source::find_all(names.iter().map(|name| folder.path().join(name))).unwrap();
        load_source(&source, how).map(|data| data.len())
    };
    for names in
        [["a.eml", "c.csv"], ["b.txt", "c.csv"], ["b.txt", "a.eml"], ["c.csv", "a.eml"], ["a.eml", "d.jsonl"]]
    {
        let error = read(&names, &how).unwrap_err().report();
        assert!(error.contains("as in the first file"), "{names:?}: {error}");
    }
    assert_eq!(read(&["b.txt", "b.txt"], &how).unwrap(), 4);
    assert_eq!(read(&["c.csv", "c.csv"], &how).unwrap(), 4);
    let as_messages = ReadOptions { format: Some("message".to_owned()), ..how };
    assert_eq!(read(&["a.eml", "b.txt"], &as_messages).unwrap(), 2);
}

/// A device is copied no further than the longest line, and not at all if it looks like no data.
#[cfg(unix)]
#[test]
fn a_device_without_end_is_not_copied() {
    let device = Source::file("/dev/zero");
    for format in [None, Some("csv"), Some("libsvm")] {
        let how = ReadOptions { format: format.map(str::to_owned), ..ReadOptions::default() };
        for copied in [rosenblatt_data::spooled(&device, &how), rosenblatt_data::rewindable(&device, &how)] {
            let error = copied.unwrap_err().report();
            assert!(
                error.contains("no known format") || error.contains("longer than"),
                "{format:?}: {error}"
            );
        }
    }
}
