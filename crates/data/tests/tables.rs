//! One set of rules for tables: the same rows give the same data set, to the bit, whatever file they come in.

use rosenblatt_core::Random;
use rosenblatt_data::{
    ColumnKind, Dataset, LabelColumn, MatrixRef, Missing, ReadOptions, Schema, Source, load_with_schema,
};
use std::fmt::Write as _;
use std::io::Write as _;

/// A random table: a header, and rows of cells; an empty cell is a missing one.
fn table(random: &mut Random) -> (Vec<&'static str>, Vec<Vec<String>>) {
    const WORDS: [&str; 12] =
        ["good", "bad", "day", "to", "you", "win", "cash", "now", "see", "soon", "later", "again"];
    let names = vec!["mass", "city", "note", "count", "wet", "label"];
    let n_rows = 30 + random.below(60);
    let row = |random: &mut Random| {
        let gap = random.below(12) == 0;
        let mass =
            if gap { String::new() } else { format!("{:.3}", random.below(100_000) as f64 / 1e3 - 50.0) };
        let city = ["Ulm", "Bonn", "Kiel", "10", ""][random.below(5) as usize].to_owned();
        let note = (0..8 + random.below(5)).map(|_| WORDS[random.below(12) as usize]).collect::<Vec<_>>();
        let wet = ["yes", "no"][random.below(2) as usize].to_owned();
        let label = ["a", "b", "c"][random.below(3) as usize].to_owned();
        vec![mass, city, note.join(" "), random.below(40).to_string(), wet, label]
    };
    let rows = (0..n_rows).map(|_| row(random)).collect();
    (names, rows)
}

fn delimited(names: &[&str], rows: &[Vec<String>], delimiter: &str) -> String {
    let mut text = names.join(delimiter) + "\n";
    for row in rows {
        text += &(row.join(delimiter) + "\n");
    }
    text
}

fn json(names: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for row in rows {
        let cells = names.iter().zip(row).map(|(name, cell)| match cell.parse::<f64>() {
            _ if cell.is_empty() => format!("\"{name}\": null"),
            Ok(_) => format!("\"{name}\": {cell}"),
            Err(_) => format!("\"{name}\": \"{cell}\""),
        });
        let _ = writeln!(text, "{{{}}}", cells.collect::<Vec<_>>().join(", "));
    }
    text
}

fn read(name: &str, bytes: &[u8], how: &ReadOptions) -> (Dataset, Schema) {
    load_with_schema(&Source::bytes(name, bytes), how)
        .unwrap_or_else(|error| panic!("{name}: {}", error.report()))
}

#[test]
fn the_same_rows_are_the_same_data_in_every_format() {
    let mut random = Random::for_purpose(15, "tables");
    for round in 0..60 {
        let (names, rows) = table(&mut random);
        let missing = [Missing::Mean, Missing::Median, Missing::MostFrequent, Missing::Zero, Missing::Drop];
        let how = ReadOptions { missing: missing[round % 5], ..ReadOptions::default() };
        let csv = delimited(&names, &rows, ",");
        let (expected, schema) = read("t.csv", csv.as_bytes(), &how);
        assert!(schema.scaler.is_some() && schema.texts().count() == 1, "{:?}", schema.notes);
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(csv.as_bytes()).unwrap();
        let zst =
            ruzstd::encoding::compress_to_vec(csv.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        for (name, bytes) in [
            ("t.tsv", delimited(&names, &rows, "\t").into_bytes()),
            ("t.csv", delimited(&names, &rows, ";").into_bytes()),
            ("t.jsonl", json(&names, &rows).into_bytes()),
            ("t.csv.gz", gz.finish().unwrap()),
            ("t.csv.zst", zst),
            ("stdin", csv.clone().into_bytes()),
        ] {
            let (found, other) = read(name, &bytes, &how);
            assert_eq!(found, expected, "{name}, round {round}");
            assert_eq!(other.scaler, schema.scaler, "{name}, round {round}");
            // Prediction by the schema of one format reads every other.
            let again = ReadOptions::default().with_schema(std::sync::Arc::new(schema.clone()));
            if how.missing != Missing::Drop {
                assert_eq!(read(name, &bytes, &again).0, expected, "{name} under the schema, round {round}");
            }
        }
    }
}

#[test]
fn each_byte_of_a_table_is_read_once() {
    let mut random = Random::for_purpose(16, "tables");
    let (names, rows) = table(&mut random);
    let text = delimited(&names, &rows.into_iter().cycle().take(20_000).collect::<Vec<_>>(), ",");
    let how = ReadOptions { missing: Missing::Mean, ..ReadOptions::default() };
    let source = Source::bytes("t.csv", text.as_bytes());
    load_with_schema(&source, &how).unwrap();
    assert_eq!(how.meter.bytes(), text.len() as u64);
}

/// What is guessed is said, and what says which row it is is left out.
#[test]
fn columns_are_taken_for_what_they_are_and_that_is_said() {
    let line = |i: usize| {
        format!(
            "{i};C{i:04};2024-01-{:02};{},{};{};{}\n",
            i % 28 + 1,
            i % 90,
            i % 7 + 1,
            i % 5,
            ["p", "q"][i % 2]
        )
    };
    let text = ";Customer ID;Signup;Fee;Plan;Churn\n".to_owned() + &(0..60).map(line).collect::<String>();
    let (data, schema) = read("t.csv", text.as_bytes(), &ReadOptions::as_stored());
    assert_eq!(data.feature_names().unwrap(), ["Fee", "Plan"]);
    let notes = schema.notes.join("\n");
    for said in [
        "the label is column `Churn`, as it is the last",
        "left out, as it only counts the rows: `column_1`",
        "left out, as dates are no features by themselves: `Signup`",
        "left out, as almost every row has a value of its own: `Customer ID` (60 values)",
        "read as numbers with a decimal comma: `Fee`",
    ] {
        assert!(notes.contains(said), "{said}\n{notes}");
    }
    assert_eq!(schema.ignored, ["column_1", "Signup", "Customer ID"]);
    // The model remembers what it left out: its own training file is read without a word.
    let again =
        ReadOptions::as_stored().with_schema(std::sync::Arc::new(Schema { notes: Vec::new(), ..schema }));
    let (same, schema) = read("t.csv", text.as_bytes(), &again);
    assert_eq!((same, schema.notes.len()), (data, 0));

    let line = |i: usize| format!("{},{}.5,{}.25\n", ["u", "v"][i % 2], i, i * 7);
    let prices = "kind,size,price\n".to_owned() + &(0..60).map(line).collect::<String>();
    let (data, schema) = read("t.csv", prices.as_bytes(), &ReadOptions::as_stored());
    assert_eq!((schema.label.as_deref(), data.labels().len()), (Some("kind"), 2));
    let unclear =
        prices.replace("kind", "plan").replace("u,", "1,").replace("v,", "2,").replace(",size", ",z,size");
    let unclear = unclear
        .lines()
        .map(|line| if line.contains('z') { line.to_owned() } else { line.replacen(',', ",3,", 1) });
    let unclear = unclear.collect::<Vec<_>>().join("\n");
    let error =
        load_with_schema(&Source::bytes("t.csv", unclear.as_bytes()), &ReadOptions::as_stored()).unwrap_err();
    assert!(error.message().contains("column `price`, the last, looks like a quantity"), "{error}");
    let named = ReadOptions { label: LabelColumn::Named("plan".into()), ..ReadOptions::as_stored() };
    assert!(load_with_schema(&Source::bytes("t.csv", unclear.as_bytes()), &named).is_ok());
}

/// Money and shares are numbers in every kind of table, as if their signs were not there.
#[test]
fn money_and_shares_are_numbers() {
    let line = |i: usize| (1_000 * i + i % 7, i % 90, ["u", "v"][i % 2]);
    let grouped =
        |n: usize| if n < 1_000 { n.to_string() } else { format!("{},{:03}", n / 1_000, n % 1_000) };
    let (mut plain, mut marked, mut objects) = (String::new(), String::new(), String::new());
    for (price, share, kind) in (0..60).map(line) {
        let _ = writeln!(plain, "{price}.50,{share},{kind}");
        let _ = writeln!(marked, "\"${}.50\",{share} %,{kind}", grouped(price));
        let _ = writeln!(
            objects,
            "{{\"price\": \"${}.50\", \"share\": \"{share} %\", \"kind\": \"{kind}\"}}",
            grouped(price)
        );
    }
    let head = "price,share,kind\n";
    let how = ReadOptions { label: LabelColumn::Named("kind".into()), ..ReadOptions::as_stored() };
    let (expected, _) = read("t.csv", (head.to_owned() + &plain).as_bytes(), &how);
    for (name, text) in [("t.csv", head.to_owned() + &marked), ("t.jsonl", objects)] {
        let (data, schema) = read(name, text.as_bytes(), &how);
        assert_eq!(data, expected, "{name}");
        let notes = schema.notes.join("\n");
        for said in [
            "read as numbers whose commas part thousands: `price`",
            "read as numbers without the sign of money or percent beside them: `price`, `share`",
        ] {
            assert!(notes.contains(said), "{said}\n{notes}");
        }
        // One row alone is read as it was learned, and another sign is refused by line and column.
        let again = how.clone().with_schema(std::sync::Arc::new(schema));
        let one = "price,share,kind\n\"$1,002.50\",1 %,u\n";
        assert_eq!(values(&read("one.csv", one.as_bytes(), &again).0), [1002.5, 1.0]);
        let number = "{\"price\": 7, \"share\": 0.01, \"kind\": \"u\"}\n";
        let error = load_with_schema(&Source::bytes("one.jsonl", number.as_bytes()), &again).unwrap_err();
        let said = "column `share` should hold numbers with `%`, but holds 0.01";
        assert!(error.to_string().contains(said), "{error}");
        for (other, said) in [
            ("\"$1,002.50\",0.01,u", "column `share` should hold numbers with `%`, but holds `0.01`"),
            ("\"€1,002.50\",1 %,u", "column `price` should hold numbers with `$`, but holds `€1,002.50`"),
        ] {
            let other = format!("price,share,kind\n{other}\n");
            let error = load_with_schema(&Source::bytes("one.csv", other.as_bytes()), &again).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}

/// The numbers of a few dense rows.
fn values(data: &Dataset) -> Vec<f64> {
    match data.matrix() {
        MatrixRef::Dense32(rows) => rows.values.iter().map(|value| f64::from(*value)).collect(),
        MatrixRef::Dense64(rows) => rows.values.to_vec(),
        _ => panic!("{data:?}"),
    }
}

/// How cells are written, and what one row alone is read as.
type Case<'a> = (&'a dyn Fn(usize) -> String, &'a [(&'a str, Option<f64>)]);

/// What points and commas mean is learned with the column: a row alone is read as it was among others.
#[test]
fn points_and_commas_mean_what_they_meant() {
    let how = ReadOptions { label: LabelColumn::Named("kind".into()), ..ReadOptions::as_stored() };
    let table = |spell: &dyn Fn(usize) -> String| {
        let line =
            |i: usize| format!("{{\"price\": \"{}\", \"kind\": \"{}\"}}\n", spell(i), ["u", "v"][i % 2]);
        (0..40).map(line).collect::<String>()
    };
    let one = |cell: &str| format!("{{\"price\": \"{cell}\", \"kind\": \"u\"}}\n");
    let cases: [Case<'_>; 4] = [
        (
            &|i| format!("{}.099,{i:02} €", i + 1),
            &[("1.500 €", Some(1500.0)), ("1.500,25 €", Some(1500.25)), ("15.5 €", None), ("1.500 $", None)],
        ),
        (&|i| format!("{i},5 €"), &[("1.500,25 €", Some(1500.25)), ("1.500 €", None), ("2.5 €", None)]),
        (
            &|i| if i == 0 { "1,234,567".to_owned() } else { format!("{i},678") },
            &[("5,678", Some(5678.0)), ("5,67", None), ("5.5", Some(5.5))],
        ),
        (&|i| format!("${i}"), &[("$1,234.50", Some(1234.5)), ("$12,50", None)]),
    ];
    for (spell, rows) in cases {
        let (_, schema) = read("t.jsonl", table(spell).as_bytes(), &how);
        let again = how.clone().with_schema(std::sync::Arc::new(schema));
        for (cell, expected) in rows {
            let found = load_with_schema(&Source::bytes("one.jsonl", one(cell).as_bytes()), &again);
            assert_eq!(found.ok().map(|(data, _)| values(&data)[0]), *expected, "{} {cell}", spell(3));
        }
    }
    // A price list in which every point may part thousands or decimals is not guessed about.
    let (_, schema) = read("t.jsonl", table(&|i| format!("{}.965 €", 1 + i % 7)).as_bytes(), &how);
    assert!(matches!(schema.columns[0].kind, ColumnKind::Category { .. }), "{schema:?}");
    let said =
        "not read as numbers, as a comma or point may part thousands there as well as decimals: `price`";
    assert!(schema.notes.iter().any(|note| note == said), "{:?}", schema.notes);
}

/// Money is stored as finely as numbers without a sign would be.
#[test]
fn large_sums_are_not_rounded() {
    let line = |i: u32| format!("$1,700,000,{i:03};{}\n", ["a", "b"][i as usize % 2]);
    let text = "sum;label\n".to_owned() + &(0..100).map(line).collect::<String>();
    let (data, _) = read("t.csv", text.as_bytes(), &ReadOptions::as_stored());
    assert_eq!(values(&data)[..3], [1_700_000_000.0, 1_700_000_001.0, 1_700_000_002.0]);
}

/// In a table parted by commas, too, money in quotes is a number.
#[test]
fn euros_in_quotes_are_numbers() {
    let line = |i: u32| format!("\"{i},50 €\",{}\n", ["a", "b"][i as usize % 2]);
    let text = "sum,label\n".to_owned() + &(0..60).map(line).collect::<String>();
    let (data, _) = read("t.csv", text.as_bytes(), &ReadOptions::as_stored());
    assert_eq!(values(&data)[..3], [0.5, 1.5, 2.5]);
}

#[test]
fn time_stamps_are_not_rounded() {
    let line = |i: u32| format!("{},{}\n", 1_700_000_000 + i * 7, ["a", "b"][i as usize % 2]);
    let text = "when_seen,label\n".to_owned() + &(0..50).map(line).collect::<String>();
    let (data, schema) = read("t.csv", text.as_bytes(), &ReadOptions::as_stored());
    assert!(matches!(data.matrix(), MatrixRef::Dense64(_)));
    assert!(
        schema.notes.iter().any(|note| note.contains("double precision") && note.contains("`when_seen`"))
    );
}

/// One slip in the sign of money does not take a column of prices away: the cell is named.
#[test]
fn another_sign_in_one_cell_is_an_error_there() {
    let line = |i: u32| {
        let sign = if i == 70 { '€' } else { '$' };
        format!("\"{sign}1,{i:03}.00\",{}\n", ["a", "b"][i as usize % 2])
    };
    let text = "price,label\n".to_owned() + &(0..200).map(line).collect::<String>();
    let error = load_with_schema(&Source::bytes("t.csv", text.as_bytes()), &ReadOptions::as_stored());
    let error = error.unwrap_err().report();
    let said = "t.csv:72:2: column `price` should hold numbers with `$`, but holds `€1,070.00`";
    assert!(error.starts_with(said) && error.ends_with("in one unit, with one sign"), "{error}");
    // Signs that are truly mixed are two units, and no number.
    let line = |i: u32| line(if i.is_multiple_of(3) { 70 } else { i });
    let text = "price,label\n".to_owned() + &(0..200).map(line).collect::<String>();
    let (_, schema) = read("t.csv", text.as_bytes(), &ReadOptions::as_stored());
    assert!(matches!(schema.columns[0].kind, ColumnKind::Category { .. }), "{schema:?}");
}

/// Digits that begin with 0 name something: a number would lose the 0, and say that codes can be added up.
#[test]
fn codes_with_leading_zeros_are_names() {
    let how = ReadOptions { label: LabelColumn::Named("kind".into()), ..ReadOptions::as_stored() };
    let codes = ["02139", "90210", "10001"];
    let line = |i: usize| format!("{},{},{}\n", codes[i % 3], i % 5, ["u", "v"][i % 2]);
    let text = "zip,n,kind\n".to_owned() + &(0..60).map(line).collect::<String>();
    let (data, schema) = read("t.csv", text.as_bytes(), &how);
    assert!(
        matches!(&schema.columns[0].kind, ColumnKind::Category { values, .. } if values.contains(&"02139".to_owned()))
    );
    assert!(matches!(schema.columns[1].kind, ColumnKind::Number { .. }), "{schema:?}");
    assert_eq!(data.width(), 4);
    let said = "read as names, not as numbers, as their digits begin with 0: `zip`";
    assert!(schema.notes.iter().any(|note| note == said), "{:?}", schema.notes);
    // Numbers of different lengths are numbers, whatever one of them begins with.
    let text = text.replace("90210", "9021");
    let (data, _) = read("t.csv", text.as_bytes(), &how);
    assert_eq!((data.width(), values(&data)[0]), (2, 2139.0));
    // A name among codes is one of them, wherever it stands.
    for last in [0, 59] {
        let line = |i: usize| {
            format!("{},{},{}\n", if i == last { "136A" } else { codes[i % 3] }, i % 5, ["u", "v"][i % 2])
        };
        let text = "zip,n,kind\n".to_owned() + &(0..60).map(line).collect::<String>();
        let (data, schema) = read("t.csv", text.as_bytes(), &how);
        assert_eq!(data.width(), 5, "{schema:?}");
    }
}

/// Few numbers among many names are names, too; few names among numbers are slips.
#[test]
fn numbers_among_many_names_are_names() {
    let how = ReadOptions { label: LabelColumn::Named("kind".into()), ..ReadOptions::as_stored() };
    let table = |n_names: usize| {
        let lines =
            |i: usize| if i < n_names { format!("\"{}, {}\"", i % 7, i) } else { (i % 14).to_string() };
        let line = |i: usize| format!("{},{},{}\n", lines(i), i % 5, ["u", "v"][i % 2]);
        "lines,n,kind\n".to_owned() + &(0..60).map(line).collect::<String>()
    };
    let (_, schema) = read("t.csv", table(12).as_bytes(), &how);
    assert!(matches!(schema.columns[0].kind, ColumnKind::Category { .. }), "{schema:?}");
    assert!(schema.notes.iter().any(|note| note == "read as categories: `lines`"), "{:?}", schema.notes);
    let error = load_with_schema(&Source::bytes("t.csv", table(11).as_bytes()), &how).unwrap_err().report();
    assert!(error.contains("column `lines` should hold finite numbers, but holds `0, 0`"), "{error}");
}

/// Advice is given only where it can be taken: what a column is cannot be said anew to a model.
#[test]
fn advice_about_a_cell_can_be_taken() {
    let how = ReadOptions { label: LabelColumn::Named("kind".into()), ..ReadOptions::as_stored() };
    let table = |last: &str| {
        let line = |i: usize| format!("{i},{}\n", ["u", "v"][i % 2]);
        "n,kind\n".to_owned() + &(0..60).map(line).collect::<String>() + last + ",u\n"
    };
    let report = |last: &str, how: &ReadOptions| {
        load_with_schema(&Source::bytes("t.csv", table(last).as_bytes()), how).unwrap_err().report()
    };
    assert!(report("many", &how).contains("if its values are names"), "{}", report("many", &how));
    assert!(report("-", &how).contains("leave the cell empty"), "{}", report("-", &how));
    let (_, schema) = read("t.csv", table("7").as_bytes(), &how);
    let again = how.clone().with_schema(std::sync::Arc::new(schema));
    assert!(!report("many", &again).contains("help"), "{}", report("many", &again));
}

/// Doubles do not tell 2^60 and its neighbours apart; their digits do.
#[test]
fn numbers_that_doubles_round_are_still_names_of_rows() {
    let how = ReadOptions { label: LabelColumn::Named("kind".into()), ..ReadOptions::as_stored() };
    let line = |i: u64| format!("{},{},{}\n", (1 << 60) + i, i % 5, ["u", "v"][i as usize % 2]);
    let text = "user_id,n,kind\n".to_owned() + &(0..60).map(line).collect::<String>();
    let (data, schema) = read("t.csv", text.as_bytes(), &how);
    let said = "left out, as every row has a number of its own there: `user_id`";
    assert!(schema.notes.iter().any(|note| note == said), "{:?}", schema.notes);
    assert_eq!(data.width(), 1);
}
