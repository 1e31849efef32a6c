//! One set of rules for tables: the same rows give the same data set, to the bit, whatever file they come in.

use rosenblatt_core::{Examples, Random, Row as _};
use rosenblatt_data::{
    Bends, ColumnKind, Dataset, LabelColumn, MatrixRef, Missing, ReadOptions, Scaling, Schema, Shape, Source,
    Visitor, blocks, load_with_schema,
};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

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
fn single_spaces_part_cells_where_nothing_else_does_and_most_are_numbers() {
    let lines = ["u v class", "1 2.5 a", "-3 4 b", "5 1e3 a"];
    let how = ReadOptions { scaling: Scaling::None, ..ReadOptions::default() };
    for first in [0, 1] {
        let with = |delimiter: &str| lines[first..].join("\n").replace(' ', delimiter) + "\n";
        let (spaced, _) = read("rows.txt", with(" ").as_bytes(), &how);
        let (commas, _) = read("rows.csv", with(",").as_bytes(), &how);
        assert_eq!((spaced.len(), spaced.width(), spaced.labels()), (3, 2, commas.labels()));
        assert_eq!(spaced.classes(), commas.classes());
    }
    // Words, lines of different lengths and two spaces in a row are no table.
    for text in ["see you there\nat four o'clock\n", "1 2 a\n1 2\n", "1  2 a\n3 4 b\n"] {
        assert!(load_with_schema(&Source::bytes("rows.txt", text.as_bytes()), &how).is_err(), "{text}");
    }
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

/// Notes report every guess, and columns that identify rows are left out.
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
    for expected in [
        "the label is column `Churn`, as it is the last",
        "left out, as it only counts the rows: `column_1`",
        "left out, as dates are no features by themselves: `Signup`",
        "left out, as almost every row has a value of its own: `Customer ID` (60 values)",
        "read as numbers with a decimal comma: `Fee`",
    ] {
        assert!(notes.contains(expected), "{expected}\n{notes}");
    }
    assert_eq!(schema.ignored, ["Customer ID", "Signup", "column_1"]);
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
        for expected in [
            "read as numbers whose commas part thousands: `price`",
            "read as numbers without the sign of money or percent beside them: `price`, `share`",
        ] {
            assert!(notes.contains(expected), "{expected}\n{notes}");
        }
        // One row alone is read as it was learned, and another sign is refused by line and column.
        let again = how.clone().with_schema(std::sync::Arc::new(schema));
        let one = "price,share,kind\n\"$1,002.50\",1 %,u\n";
        assert_eq!(values(&read("one.csv", one.as_bytes(), &again).0), [1002.5, 1.0]);
        let number = "{\"price\": 7, \"share\": 0.01, \"kind\": \"u\"}\n";
        let error = load_with_schema(&Source::bytes("one.jsonl", number.as_bytes()), &again).unwrap_err();
        let expected = "column `share` should hold numbers with `%`, but holds 0.01";
        assert!(error.to_string().contains(expected), "{error}");
        for (other, expected) in [
            ("\"$1,002.50\",0.01,u", "column `share` should hold numbers with `%`, but holds `0.01`"),
            ("\"€1,002.50\",1 %,u", "column `price` should hold numbers with `$`, but holds `€1,002.50`"),
        ] {
            let other = format!("price,share,kind\n{other}\n");
            let error = load_with_schema(&Source::bytes("one.csv", other.as_bytes()), &again).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
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
    let expected =
        "not read as numbers, as a comma or point may part thousands there as well as decimals: `price`";
    assert!(schema.notes.iter().any(|note| note == expected), "{:?}", schema.notes);
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
    let expected = "t.csv:72:2: column `price` should hold numbers with `$`, but holds `€1,070.00`";
    assert!(error.starts_with(expected) && error.ends_with("in one unit, with one sign"), "{error}");
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
    let expected = "read as names, not as numbers, as their digits begin with 0: `zip`";
    assert!(schema.notes.iter().any(|note| note == expected), "{:?}", schema.notes);
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

/// Advice is given only where it can be taken: a model's column kinds cannot be set anew.
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
    let expected = "left out, as every row has a number of its own there: `user_id`";
    assert!(schema.notes.iter().any(|note| note == expected), "{:?}", schema.notes);
    assert_eq!(data.width(), 1);
}

/// A row by its entries.
struct Entries(usize);

impl Visitor for Entries {
    type Output = Vec<(usize, f64)>;
    fn visit<E: Examples>(self, examples: E) -> Self::Output {
        examples.row(self.0).entries().collect()
    }
}

fn bent(shape: &str) -> ReadOptions {
    ReadOptions { shape: shape.parse().unwrap(), ..ReadOptions::default() }
}

fn csv(text: impl Into<Vec<u8>>) -> Source {
    Source::bytes("t.csv", text.into())
}

fn entries(data: &Dataset, row: usize) -> Vec<(usize, f64)> {
    data.visit(Entries(row))
}

/// The hat of every knot, as textbooks have it.
fn plain_hats(knots: &[f64], value: f64) -> Vec<f64> {
    let value = value.clamp(knots[0], knots[knots.len() - 1]);
    let hat = |place: usize| {
        let knot = knots[place];
        let neighbour = if value < knot { place.checked_sub(1) } else { Some(place + 1) };
        match neighbour.and_then(|place| knots.get(place)) {
            Some(other) => (1.0 - (value - knot).abs() / (other - knot).abs()).max(0.0),
            None => f64::from(u8::from(value == knot)),
        }
    };
    (0..knots.len()).map(hat).collect()
}

#[test]
fn hats_are_those_of_the_textbook_and_sum_to_one() {
    let mut random = Random::new(7);
    for round in 0..200 {
        let n_values = 3 + random.below(60) as usize;
        let values: Vec<f64> = (0..n_values).map(|_| (random.unit() * 40.0).floor() * 0.3 - 4.0).collect();
        let rows: Vec<[f64; 1]> = values.iter().map(|value| [*value]).collect();
        let data = Dataset::from_rows(&rows, &vec!["a"; n_values]);
        let shape = Shape::bend(2 + random.below(20) as u16);
        let bends = Bends::fit(shape, &data, 0..n_values, &[0]).unwrap();
        let bend = &bends.columns[0];
        if bend.knots.len() < 3 {
            continue;
        }
        for _ in 0..20 {
            let value = random.unit() * 20.0 - 7.0;
            let mut found = vec![0.0; bend.n_features()];
            let mut n_found = 0;
            for (place, hat) in bends.row(&[(0, value)]) {
                found[place as usize] = hat;
                n_found += 1;
            }
            let hats = &found[..bend.knots.len()];
            for (hat, expected) in hats.iter().zip(plain_hats(&bend.knots, value)) {
                assert!((hat - expected).abs() < 1e-12, "round {round}: {hat} is not {expected}");
            }
            assert!((hats.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(n_found <= 2 + usize::from(bend.values.contains(&value)));
            let known = value.clamp(bend.knots[0], bend.knots[bend.knots.len() - 1]);
            // Rows have no zeros in them.
            let hats = found.iter().copied().enumerate().filter(|(_, hat)| *hat != 0.0);
            let back = bend.value_of(hats).unwrap();
            assert!((back - known).abs() < 1e-9, "{back} is not {known}");
        }
    }
}

#[test]
fn knots_stand_at_quantiles_of_values_and_of_different_values() {
    // Nine of ten values are zero, and have one knot between them.
    let values: Vec<f64> = (0..100).map(|row| if row < 90 { 0.0 } else { f64::from(row) }).collect();
    let rows: Vec<[f64; 1]> = values.iter().map(|value| [*value]).collect();
    let data = Dataset::from_rows(&rows, &vec!["a"; 100]);
    let fit = |knots| Bends::fit(Shape::bend(knots), &data, 0..100, &[0]).unwrap().columns.remove(0);
    assert_eq!(fit(3).knots, [0.0, 94.0, 99.0]);
    assert!(fit(3).values.is_empty());
    // All eleven are knots, and need no more.
    assert_eq!((fit(15).knots.len(), fit(15).values.len()), (11, 0));
    assert_eq!(fit(8).values.len(), 11);
}

#[test]
fn tables_are_the_same_in_memory_and_in_a_stream() {
    let mut random = Random::new(3);
    let mut text = "age,kind,gain,label\n".to_owned();
    for row in 0..70_000 {
        let gain = if random.below(10) < 9 { 0.0 } else { (random.unit() * 1e4).floor() };
        let gain = if row % 97 == 0 { "NA".to_owned() } else { gain.to_string() };
        let kind = ["u", "v", "w"][random.below(3) as usize];
        let age = 17.0 + 60.0 * random.unit();
        writeln!(text, "{age:.3},{kind},{gain},{}", random.below(2)).unwrap();
    }
    let source = csv(text);
    let how = ReadOptions { missing: Missing::Own, ..bent("bend(knots=15)") };
    let (data, schema) = load_with_schema(&source, &how).unwrap();
    let bends = schema.bends.clone().unwrap();
    assert_eq!(bends.columns.iter().map(|bend| bend.missing).collect::<Vec<_>>(), [false, true]);
    assert_eq!(Some(data.width()), schema.width());
    assert_eq!(data.feature_names().unwrap().len(), data.width());
    assert_eq!(data.feature_names().unwrap().last().unwrap(), "gain=missing");
    let runs = schema.runs();
    assert_eq!(runs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["age", "kind", "gain"]);
    assert_eq!((runs[0].1.len(), runs[1].1.len()), (bends.columns[0].n_features(), 3));
    assert_eq!(runs[2].1.end, data.width());
    for threads in [1, 3] {
        let how = ReadOptions { threads, ..how.clone() };
        let mut stream = blocks(&source, &how).unwrap();
        assert_eq!(stream.schema().bends, schema.bends);
        let mut first = 0;
        while let Some(block) = stream.next().unwrap() {
            let rows: Vec<u32> = (first..first + block.len() as u32).collect();
            first += block.len() as u32;
            for (place, row) in rows.into_iter().enumerate() {
                assert_eq!(block.view().visit(Entries(place)), entries(&data, row as usize));
            }
        }
        assert_eq!(first, 70_000);
    }
    // What is stored bends other rows in the same way.
    schema.check().unwrap();
    let stored: Schema = serde_json::from_str(&serde_json::to_string(&schema).unwrap()).unwrap();
    let again = ReadOptions::as_stored().with_schema(Arc::new(stored));
    assert_eq!(load_with_schema(&source, &again).unwrap().0, data);
}

#[test]
fn two_values_are_one_feature_and_one_is_none() {
    let source = csv("a,b,c,label\n1,5,3,x\n3,5,4,y\n1,5,5,y\n");
    let (data, schema) = load_with_schema(&source, &bent("bend(knots=3)")).unwrap();
    assert_eq!(data.feature_names().unwrap(), ["a~3", "c~3", "c~4", "c~5"]);
    assert_eq!(schema.runs()[1].1, 1..1);
    assert_eq!(entries(&data, 1), [(0, 1.0), (2, 1.0)]);
    // Half way, and beyond.
    let how = ReadOptions::default().with_schema(Arc::new(schema));
    let (new, _) = load_with_schema(&csv("a,b,c,label\n2,7,3.5,x\n9,0,-9,y\n"), &how).unwrap();
    assert_eq!(entries(&new, 0), [(0, 0.5), (1, 0.5), (2, 0.5)]);
    assert_eq!(entries(&new, 1), [(0, 1.0), (1, 1.0)]);
}

#[test]
fn curves_can_be_crossed() {
    let source = csv("a,k,label\n1,u,x\n2,v,y\n3,w,y\n");
    let how = ReadOptions { crosses: vec![["a".to_owned(), "k".to_owned()]], ..bent("bend(knots=3)") };
    let (data, _) = load_with_schema(&source, &how).unwrap();
    assert_eq!(data.width(), 6 + 9);
    assert_eq!(data.feature_names().unwrap()[6], "a~1*k=u");
    assert_eq!(entries(&data, 1), [(1, 1.0), (4, 1.0), (10, 1.0)]);
    let mut stream = blocks(&source, &how).unwrap();
    assert_eq!(stream.next().unwrap().unwrap().width(), 15);
}

/// Rows of four columns, and whether each is in the class by chance of these odds.
fn drawn_rows(
    seed: u64,
    n_rows: usize,
    odds: impl Fn(&[f64; 4]) -> f64,
) -> (Vec<[f64; 4]>, Vec<&'static str>) {
    let mut random = Random::new(seed);
    (0..n_rows)
        .map(|_| {
            let row = [random.unit(), random.unit(), (random.unit() * 5.0).floor(), random.unit() - 0.5];
            let share = 1.0 / (1.0 + (-odds(&row)).exp());
            (row, if random.unit() < share { "in" } else { "out" })
        })
        .unzip()
}

/// The features of the pairs that are found in such rows.
fn found_pairs(seed: u64, n_rows: usize, odds: impl Fn(&[f64; 4]) -> f64) -> Vec<[u32; 2]> {
    let (rows, names) = drawn_rows(seed, n_rows, odds);
    let data = Dataset::from_rows(&rows, &names);
    let shape = Shape::Bend { knots: 4, crosses: 6 };
    let bends = Bends::fit(shape, &data, 0..n_rows, &[0, 1, 2, 3]).unwrap();
    bends.surfaces.iter().map(|surface| surface.axes.each_ref().map(|axis| axis.feature)).collect()
}

#[test]
fn pairs_that_count_together_are_found_and_no_others() {
    for seed in 0..5 {
        let xor = |row: &[f64; 4]| if (row[0] > 0.5) == (row[3] > 0.0) { 2.0 } else { -2.0 };
        assert_eq!(found_pairs(seed, 600, xor), [[0, 3]], "seed {seed}");
        let two = |row: &[f64; 4]| 6.0 * (row[0] - 0.5) * (row[2] - 2.0) + 8.0 * row[1] * row[3] + row[1];
        // The best first; what two crosses do together may show in others.
        let mut found = found_pairs(seed, 4_000, two);
        found.truncate(2);
        found.sort_unstable();
        assert_eq!(found, [[0, 2], [1, 3]], "seed {seed}");
        // However steep a sum is, what it makes of odds is no cross.
        let sum = |row: &[f64; 4]| 9.0 * (row[0] - 0.5) + 20.0 * row[3].powi(2) - (row[2] - 2.0).abs() - 1.0;
        assert_eq!(found_pairs(seed, 4_000, sum), [[0; 2]; 0], "seed {seed}");
        assert_eq!(found_pairs(seed, 300, |_| 0.0), [[0; 2]; 0], "seed {seed}");
    }
}

#[test]
fn surfaces_are_products_of_hats_wherever_rows_come_from() {
    let xor = |row: &[f64; 4]| if (row[0] > 0.5) == (row[3] > 0.0) { 2.0 } else { -2.0 };
    let (rows, names) = drawn_rows(9, 70_000, xor);
    let table = |rows: &[[f64; 4]], names: &[&str]| {
        let mut text = "a,b,k,c,d,label\n".to_owned();
        for (number, ([a, b, c, d], name)) in rows.iter().zip(names).enumerate() {
            let kind = ["u", "v", "w"][number % 3];
            let d = if number % 50 == 0 { "NA".to_owned() } else { d.to_string() };
            writeln!(text, "{a},{b},{kind},{c},{d},{name}").unwrap();
        }
        csv(text)
    };
    let source = table(&rows, &names);
    let how = ReadOptions { missing: Missing::Own, ..bent("bend(knots=6,crosses=2)") };
    let (data, schema) = load_with_schema(&source, &how).unwrap();
    schema.check().unwrap();
    let bends = schema.bends.clone().unwrap();
    assert_eq!(schema.surfaces(), [["a", "d"]]);
    let surface = &bends.surfaces[0];
    assert_eq!((surface.features().end, Some(data.width())), (data.width(), schema.width()));
    let last = data.feature_names().unwrap().last().unwrap().clone();
    assert!(last.starts_with("a~") && last.ends_with("*d=missing"), "{last}");
    // Every row has the products of its hats, computed one by one.
    let stored = |value: f64| f64::from(value as f32);
    for (row, [a, _, _, d]) in rows.iter().enumerate().skip(1).step_by(997) {
        let [one, other] = surface.axes.each_ref().map(|axis| axis.knots.clone());
        let hats = [plain_hats(&one, stored(*a)), plain_hats(&other, stored(*d))];
        let mut expected = Vec::new();
        for (place, x) in hats[0].iter().enumerate() {
            for (beside, y) in hats[1].iter().enumerate().filter(|(_, y)| x * **y != 0.0) {
                expected.push((surface.features().start + place * (hats[1].len() + 1) + beside, x * y));
            }
        }
        let found = entries(&data, row);
        let found: Vec<(usize, f64)> =
            found.into_iter().filter(|(feature, _)| surface.features().contains(feature)).collect();
        if row % 50 != 0 {
            assert_eq!(found.len(), expected.len(), "row {row}");
            assert!(
                found.iter().zip(&expected).all(|(x, y)| x.0 == y.0 && (x.1 - y.1).abs() < 1e-6),
                "row {row}"
            );
        }
    }
    // In a stream, and whatever the class of the first row is called.
    for threads in [1, 3] {
        let stream = blocks(&source, &ReadOptions { threads, ..how.clone() }).unwrap();
        assert_eq!(stream.schema().bends.as_ref(), Some(&bends));
    }
    let renamed: Vec<&str> = names.iter().map(|name| if *name == "in" { "z" } else { "y" }).collect();
    let (_, other) = load_with_schema(&table(&rows, &renamed), &how).unwrap();
    assert_eq!(other.bends.as_ref(), Some(&bends));
    let again = ReadOptions::as_stored().with_schema(Arc::new(schema));
    assert_eq!(load_with_schema(&source, &again).unwrap().0, data);
}

#[test]
fn what_cannot_bend_is_refused() {
    let numbers = "a,label\n1,x\n2,y\n";
    let scaled = ReadOptions { scaling: rosenblatt_data::Scaling::Standard, ..bent("bend") };
    let own = ReadOptions { missing: Missing::Own, ..bent("line") };
    for (source, how, expected) in [
        (Source::bytes("t.svm", *b"1 1:1\n-1 2:1\n"), bent("bend"), "`shape` means nothing in libsvm"),
        (Source::bytes("t.vw", *b"1 |a x:1\n-1 |a y:1\n"), bent("bend"), "`shape` means nothing in VW"),
        (csv("k,label\nu,x\nv,y\n"), bent("bend"), "columns of numbers, but there are none"),
        (csv(numbers), scaled, "of one scale already"),
        (csv(numbers), own, "only where columns bend"),
        (csv("a,label\n1,x\nNA,y\n"), bent("bend"), "a value of column `a` is missing"),
    ] {
        let error = load_with_schema(&source, &how).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(blocks(&source, &how).is_err(), "{expected}");
    }
    for wrong in [
        "bend(knots=4,crosses=)",
        "bend(knots=4,crosses=1001)",
        "bend(knots=4,more=2)",
        "bend(knots=1)",
        "bend(knots=1001)",
        "bend(",
        "bend()",
        "curve",
        "bend(knots=x)",
    ] {
        let error = wrong.parse::<Shape>().unwrap_err().to_string();
        assert!(error.contains("bend(knots=N)") && error.contains(wrong), "{error}");
    }
    for right in ["line", "bend(knots=2)", "bend(knots=15)", "bend(knots=4,crosses=3)", "curves", "auto"] {
        assert_eq!(right.parse::<Shape>().unwrap().to_string(), right);
    }
}

#[test]
fn a_stored_schema_that_cannot_bend_is_refused() {
    let column = r#""columns":[{"name":"a","kind":{"number":{"fill":null}}}]"#;
    for (bends, expected) in [
        (r#"{"shape":"line","columns":[{"feature":0,"knots":[1,2,3]}]}"#, "a shape that does"),
        (r#"{"shape":"bend(knots=3)","columns":[]}"#, "every column of numbers"),
        (r#"{"shape":"bend(knots=3)","columns":[{"feature":7,"knots":[1,2]}]}"#, "every column of numbers"),
        (r#"{"shape":"bend(knots=3)","columns":[{"feature":0,"knots":[1,1,2]}]}"#, "ascend"),
        (r#"{"shape":"bend(knots=3)","columns":[{"feature":0,"knots":[1,2],"values":[2,1]}]}"#, "ascend"),
        (
            r#"{"shape":"bend(knots=3)","columns":[{"feature":0,"knots":[1,2]}],
                "surfaces":[{"start":1,"axes":[{"feature":0,"knots":[1,2]},{"feature":0,"knots":[1,2]}]}]}"#,
            "two columns that bend",
        ),
    ] {
        let schema: Schema = serde_json::from_str(&format!(r#"{{{column},"bends":{bends}}}"#)).unwrap();
        let error = schema.check().unwrap_err();
        assert!(error.message().contains(expected), "{error}");
    }
    let odd = format!(r#"{{{column},"bends":{{"shape":"bend(knots=3)","columns":[],"more":1}}}}"#);
    assert!(serde_json::from_str::<Schema>(&odd).is_err());
    assert!(!serde_json::to_string(&Schema::default()).unwrap().contains("bends"));
}

#[test]
fn arrays_bend_as_columns_do() {
    let mut random = Random::new(11);
    let rows: Vec<[f64; 3]> = (0..200)
        .map(|_| [random.unit(), (random.unit() * 30.0).floor(), f64::from(u8::from(random.unit() > 0.5))])
        .collect();
    let mut text = String::new();
    for [a, b, label] in &rows {
        writeln!(text, "{a},{b},{label}").unwrap();
    }
    let head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 3), }}", rows.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16 + 1).to_le_bytes());
    bytes.extend(head.bytes().chain([b'\n']));
    bytes.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
    let how = ReadOptions { label: LabelColumn::Named("-1".to_owned()), ..bent("bend(knots=15)") };
    let (of_table, schema) = load_with_schema(&csv(text), &how).unwrap();
    let array = Source::bytes("t.npy", bytes);
    let (of_array, of_numbers) = load_with_schema(&array, &how).unwrap();
    assert_eq!(of_numbers.bends, schema.bends);
    assert_eq!(of_array.matrix(), of_table.matrix());
    assert_eq!(of_array.feature_names().unwrap()[0].split('~').next(), Some("feature 1"));
    of_numbers.check().unwrap();
    let mut stream = blocks(&array, &how).unwrap();
    assert_eq!(stream.schema().bends, of_numbers.bends);
    assert_eq!(stream.next().unwrap().unwrap().view().visit(Entries(3)), entries(&of_array, 3));
}
