//! The catalogue of bad and odd inputs, items 1 to 100, as one table.
//!
//! Every item is here by its number: as cases (what is put in, and what must come of it), or in [`TESTS`].
//! Those about training are in a table like this one beside the program that trains. Where the catalogue
//! leaves a choice, the case is the choice that was made.

mod allocations;

use rosenblatt_data::{
    Dataset, ErrorKind, LabelColumn, Limits, Missing, OnBadRow, ReadOptions, Schema, Source, load_source,
    load_with_schema,
};
use std::io::Write;
use std::sync::Arc;

/// Items that take files, folders, two data sets, or a look at memory.
const TESTS: &[(u32, fn())] = &[
    (36, item_36_rows_are_counted_beyond_32_bits),
    (50, item_50_columns_are_matched_by_name),
    (57, item_57_and_64_memory_stays_flat),
    (64, item_57_and_64_memory_stays_flat),
    (67, item_67_only_a_checksum_tells_a_flipped_bit),
    #[cfg(feature = "parquet")]
    (75, item_75_flipped_bits_never_panic),
    #[cfg(feature = "parquet")]
    (80, item_80_a_file_that_is_cut_while_it_is_read),
    #[cfg(feature = "images")]
    (96, item_96_pictures_of_another_size),
    (98, item_98_stray_files_and_empty_folders_are_noted),
    (99, item_99_pictures_and_labels_that_do_not_match),
    #[cfg(unix)]
    (100, item_100_a_loop_of_links_ends),
];

/// The table of the items that are about training.
const TRAINING: &str = include_str!("../../cli/tests/catalogue.rs");

/// What must come of an input.
enum Expect {
    /// The same data set as this plain form gives, under default options.
    Same(&'static str, Vec<u8>),
    /// This many rows.
    Rows(usize),
    /// This many rows, and a note that says this.
    Noted(usize, &'static str),
    /// An error of this kind at this line and column (0: nowhere) whose report holds all of these.
    Refused(ErrorKind, u64, u64, &'static [&'static str]),
}

struct Case {
    item: u32,
    file: &'static str,
    bytes: Vec<u8>,
    how: ReadOptions,
    expect: Expect,
}

fn case(item: u32, file: &'static str, bytes: impl Into<Vec<u8>>, expect: Expect) -> Case {
    Case { item, file, bytes: bytes.into(), how: ReadOptions::as_stored(), expect }
}

impl Case {
    fn with(mut self, change: impl FnOnce(&mut ReadOptions)) -> Self {
        change(&mut self.how);
        self
    }
}

fn same_svm(plain: &str) -> Expect {
    Expect::Same("plain.svm", plain.as_bytes().to_vec())
}

fn same_csv(plain: &str) -> Expect {
    Expect::Same("plain.csv", plain.as_bytes().to_vec())
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
}

use Expect::{Noted, Refused, Rows, Same};

fn libsvm() -> Vec<Case> {
    const PLAIN: &str = "1 3:0.5 11:1\n-1 2:2\n";
    let refused = |item, line: &str, column, kind, says| {
        case(item, "t.svm", format!("1 3:1\n{line}\n-1 2:1\n"), Refused(kind, 2, column, says))
    };
    let after_good = |tail: &str| format!("{}{tail}", "1 3:1 4:2\n".repeat(20_000));
    let mut cases = vec![
        case(1, "t.svm", "1\n-1 2:1\n", Rows(2)),
        refused(2, "1 3:1 11", 7, ErrorKind::Syntax, &["`11`"]),
        refused(3, "1 11:", 6, ErrorKind::Number, &["missing"]),
        refused(4, "1 :1", 3, ErrorKind::Index, &["index"]),
        refused(5, "1 11:abc", 6, ErrorKind::Number, &["`abc`"]),
        refused(6, "1 11:1:2", 6, ErrorKind::Number, &["`1:2`"]),
        refused(7, "1 11=1", 3, ErrorKind::Syntax, &["`11=1`"]),
        refused(8, "1:0.5 2:1", 1, ErrorKind::Label, &["label is missing"]),
        case(10, "t.svm", "cat 1:1\ndog 2:1\n", Rows(2)),
        refused(11, "1,2 3:1", 1, ErrorKind::Label, &["several labels"]),
        case(12, "t.svm", "1 qid:3 3:0.5 11:1\n-1 qid:4 2:2\n", same_svm(PLAIN)),
        case(13, "t.svm", "1 11:1 3:0.5\n-1 2:2\n", same_svm(PLAIN)),
        refused(14, "1 3:1 3:1", 7, ErrorKind::Index, &["twice"]),
        refused(14, "1 4:1 3:1 4:2", 11, ErrorKind::Index, &["twice"]),
        refused(15, "1 0:1", 3, ErrorKind::Index, &["zero-based"]),
        case(15, "t.svm", "1 2:0.5 10:1\n-1 1:2\n", same_svm(PLAIN)).with(|how| how.zero_based = true),
        // Rows that begin at 1 and rows that begin at 0 in one file. A warning would do, but which rows are meant
        // is unknown, and a guess would shift all features of some: the first 0 is named instead, and
        // if all rows count from 0, you say so.
        case(
            15,
            "t.svm",
            "1 1:1 2:1\n-1 1:2\n1 0:1 1:1\n",
            Refused(ErrorKind::Index, 3, 3, &["0", "zero-based"]),
        ),
        case(17, "t.svm", "1 3:0.5 11:1\n\n   \n-1 2:2\n", same_svm(PLAIN)),
        case(18, "t.svm", "# c\n1 3:0.5 11:1 # 4:x\n#\n-1 2:2#c\n", same_svm(PLAIN)),
        case(19, "t.svm", "1\t3:0.5  11:1 \t\n -1 2:2   \n", same_svm(PLAIN)),
        refused(20, "1 3:1\u{A0}4:1", 5, ErrorKind::Number, &["U+00A0"]),
        refused(20, "1 3:\u{FF11}", 5, ErrorKind::Number, &["U+FF11"]),
        refused(20, "1 3:\u{2212}1", 5, ErrorKind::Number, &["U+2212"]),
        refused(20, "\u{2212}1 3:1", 1, ErrorKind::Label, &["U+2212"]),
        case(
            21,
            "t.libsvm",
            "1,2,3\n4,5,6\n",
            Refused(ErrorKind::Format, 0, 0, &["looks like CSV", "format = csv"]),
        ),
        case(22, "t.svm", after_good("1 3:x\n"), Refused(ErrorKind::Number, 20_001, 5, &["`x`"])),
        case(
            23,
            "t.svm",
            "1 3:1\n-1 2:1 5:",
            Refused(ErrorKind::Number, 2, 10, &["the file ends inside line 2; is it complete?"]),
        ),
    ];
    for label in ["nan", "inf", "1e400", "+1x"] {
        cases.push(refused(9, &format!("{label} 3:1"), 1, ErrorKind::Label, &["label"]));
    }
    for index in ["-1", "1.5", "1e3"] {
        cases.push(refused(16, &format!("1 {index}:1"), 3, ErrorKind::Index, &["whole number"]));
    }
    cases
}

fn numbers() -> Vec<Case> {
    let value = |item, value: &str, says| {
        let text = format!("1 3:1\n-1 2:{value}\n");
        case(item, "t.svm", text, Refused(ErrorKind::Number, 2, 6, says))
    };
    let cell = |item, value: &str, says| {
        let text = format!("a,b,label\n1,2,x\n1,3,y\n1,2,y\n{value},2,x\n");
        case(item, "t.csv", text, Refused(ErrorKind::Number, 5, 1, says))
    };
    let index = |item, index: &str| {
        let text = format!("1 3:1\n-1 {index}:1\n");
        case(item, "t.svm", text, Refused(ErrorKind::Index, 2, 4, &["index"]))
    };
    let mut cases = vec![];
    for number in ["NaN", "nan(0x1)", "inf", "-Infinity"] {
        cases.push(value(24, number, &["not finite"]));
    }
    cases.push(cell(24, "inf", &["not finite"]));
    for number in ["1e400", "1e99999999999999999999"] {
        cases.push(value(25, number, &["too large"]));
        cases.push(cell(25, number, &["too large"]));
    }
    for (item, odd, plain) in [
        (26, "1e-320", "0.00001e-315"),
        (26, "4.9e-324", "5e-324"),
        (27, "1e-400", "0"),
        (28, "-0.0", "-0"),
        (28, "+.5", "0.5"),
        (28, "5.", "5"),
        (28, "1E+2", "100"),
    ] {
        let text = |number| format!("1 3:1\n-1 2:{number}\n");
        cases.push(case(item, "t.svm", text(odd), Same("plain.svm", text(plain).into_bytes())));
        let text = |number| format!("a,label\n1,x\n{number},y\n");
        cases.push(case(item, "t.csv", text(odd), Same("plain.csv", text(plain).into_bytes())));
    }
    for number in ["0,5", "1_000", "1e", ".", "-", "++1", "1.2.3", "1d5", "5%", "\"1\""] {
        cases.push(value(29, number, &["finite number"]));
    }
    for number in ["1_000", "1e", ".", "-", "++1", "1.2.3", "1d5", "5%"] {
        cases.push(cell(29, number, &["finite numbers"]));
    }
    cases.push(value(30, "0x1p3", &["`0x1p3`"]));
    cases.push(cell(30, "0x1p3", &["`0x1p3`"]));
    for number in ["2147483648", "4294967295", "9223372036854775807"] {
        cases.push(index(31, number));
        let hashed = format!("1 3:1\n-1 {number}:1\n");
        cases.push(case(31, "t.svm", hashed, Rows(2)).with(|how| how.hash_bits = Some(10)));
    }
    cases.push(index(32, "4294967307"));
    cases.push(index(33, "18446744073709551616"));
    cases.push(index(33, &"7".repeat(400)));
    cases.push(value(37, &"9".repeat(8 << 20), &["too large"]));
    cases
}

fn csv() -> Vec<Case> {
    const PLAIN: &str = "a,b,label\n1,2,x\n3,4,y\n";
    let refused = |item, text: &str, kind, line, column, says| {
        case(item, "t.csv", text, Refused(kind, line, column, says))
    };
    let wide: String = {
        let row = |first: &str| format!("{first}{}\n", ",1".repeat(100_000));
        row("x") + &row("y") + &row("x")
    };
    vec![
        refused(38, "", ErrorKind::Empty, 0, 0, &["no rows"]),
        refused(38, "a,b,label\n", ErrorKind::Empty, 0, 0, &["no rows"]),
        refused(38, "a\n1\n2\n", ErrorKind::Shape, 1, 0, &["1 column"]),
        refused(39, "a,b,label\n1,2,x\n3,y\n", ErrorKind::Shape, 3, 4, &["2 cells", "expected 3"]),
        refused(39, "a,b,label\n1,2,x\n3,4,5,y\n", ErrorKind::Shape, 3, 7, &["4 cells", "expected 3"]),
        refused(40, "a,b,label\n1,2,x\n1,\"2,x\n3,4,y\n", ErrorKind::Syntax, 3, 3, &["opens here"]),
        refused(41, "a,b,label\n1,2,x\n1,\"2\"3,x\n", ErrorKind::Syntax, 3, 6, &["closing quote"]),
        refused(42, "a,b,label\n1,2,x\n1,text,y\n5,3,y\n", ErrorKind::Number, 3, 3, &["`b`", "`text`"]),
        refused(42, "a,b,label\n1,2,x\n1,NA,y\n", ErrorKind::Missing, 3, 3, &["`NA`", "missing"]),
        refused(42, "a,b,label\n1,2,x\n,2,y\n", ErrorKind::Missing, 3, 1, &["empty cell"]),
        case(42, "t.csv", "a,b,label\n1,2,x\n,,x\n3,4,y\n", same_csv(PLAIN))
            .with(|how| how.missing = Missing::Drop),
        refused(43, "a,b,label\n1,2,x\n1,2,\n", ErrorKind::Label, 3, 5, &["label is missing"]),
        refused(43, "a,b,label\n1,2,x\n1,2,NaN\n", ErrorKind::Label, 3, 5, &["label is missing"]),
        refused(44, "a,b,label\n1,2,x\n\"1,000\",2,y\n3,4,y\n", ErrorKind::Number, 3, 2, &["`1,000`"]),
        refused(44, "a,b,label\n1,2,x\n$5,2,y\n3,4,y\n", ErrorKind::Number, 3, 1, &["`$5`"]),
        refused(44, "a,b,label\n1,2,x\n2020-01-02,2,y\n3,4,y\n", ErrorKind::Number, 3, 1, &["2020"]),
        refused(44, "a,b,label\n1,2,x\ntrue,2,y\n3,4,y\n", ErrorKind::Number, 3, 1, &["`true`"]),
        refused(45, "a,a,label\n1,2,x\n3,4,y\n", ErrorKind::Shape, 1, 0, &["two columns", "`a`"]),
        case(45, "t.csv", ",b,label\n1,2,x\n3,4,y\n", Rows(2)),
        case(46, "t.csv", "1,2,x\n3,4,y\n", Noted(2, "there is no header")),
        case(47, "t.csv", "a;b;label\n1;2;x\n3;4;y\n", same_csv(PLAIN)),
        case(47, "t.csv", "a\tb\tlabel\n1\t2\tx\n3\t4\ty\n", same_csv(PLAIN)),
        case(48, "t.csv", "a,b,label,\n1,2,x,\n3,4,y,\n", same_csv(PLAIN)),
        case(48, "t.csv", "a,b,label,\n1,2,x,\n3,4,y,\n", Noted(2, "ends in a delimiter")),
        case(49, "t.csv", wide, Rows(3)).with(|how| how.label = LabelColumn::Named("1".into())),
        refused(
            51,
            "<!DOCTYPE html>\n<html><body>404</body></html>\n",
            ErrorKind::Format,
            0,
            0,
            &["HTML page"],
        ),
        refused(
            51,
            "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n",
            ErrorKind::Format,
            0,
            0,
            &["git-lfs", "git lfs pull"],
        ),
        case(52, "t.csv", "\"a\",\"b\",\"label\"\n\"1\",2,\"x\"\n3,\"4\",y\n", same_csv(PLAIN)),
        case(52, "t.csv", "a,k,label\n1,\"u, \"\"v\"\"\nw\",x\n3,z,y\n", Rows(2)),
    ]
}

fn encodings() -> Vec<Case> {
    const PLAIN: &str = "a,b,label\n1,2,x\n3,4,y\n";
    const SVM: &str = "1 3:0.5 11:1\n-1 2:2\n";
    let utf16: Vec<u8> =
        std::iter::once(0xFEFF).chain(PLAIN.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let long = Limits::default().line_bytes + 1;
    let many = (1..=300_000).map(|index| format!(" {index}:1")).collect::<Vec<_>>().concat();
    let noise: Vec<u8> = (0..5000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    vec![
        case(53, "t.csv", PLAIN.replace('\n', "\r\n"), same_csv(PLAIN)),
        case(53, "t.csv", format!("\u{FEFF}{PLAIN}"), same_csv(PLAIN)),
        case(53, "t.csv", PLAIN.trim_end(), same_csv(PLAIN)),
        case(53, "t.csv", format!("{PLAIN}\n\n\n"), same_csv(PLAIN)),
        case(53, "t.svm", SVM.replace('\n', "\r\n"), same_svm(SVM)),
        case(53, "t.svm", format!("\u{FEFF}{SVM}"), same_svm(SVM)),
        case(53, "t.svm", SVM.trim_end(), same_svm(SVM)),
        case(54, "t.csv", utf16, Refused(ErrorKind::Encoding, 0, 0, &["UTF-16", "iconv"])),
        case(
            55,
            "t.csv",
            "a,b,label\r1,2,x\r3,4,y\r",
            Refused(ErrorKind::Syntax, 1, 10, &["carriage return"]),
        ),
        case(55, "t.svm", "1 3:1\r-1 2:1\r", Refused(ErrorKind::Number, 1, 5, &["carriage return"])),
        case(56, "t.svm", *b"1 3:1\n-1 2:1\x00\n", Refused(ErrorKind::Number, 2, 6, &["0x00"])),
        case(56, "t.svm", *b"1 3:1\n-1 2:\xFF1\n", Refused(ErrorKind::Number, 2, 6, &["UTF-8"])),
        case(56, "t.csv", *b"a,label\n1,x\n2\x00,y\n3,y\n", Refused(ErrorKind::Number, 3, 1, &["0x00"]))
            .with(|how| how.format = Some("csv".into())),
        case(56, "t.csv", *b"a,label\n1,x\n2\xFF,y\n3,y\n", Refused(ErrorKind::Number, 3, 1, &["UTF-8"])),
        case(
            57,
            "t.svm",
            format!("1 3:{}", "0".repeat(long)),
            Refused(ErrorKind::Limit, 1, 1, &["16777216"]),
        ),
        case(
            57,
            "t.csv",
            format!("a,label\n1,x\n{}", "0".repeat(long)),
            Refused(ErrorKind::Limit, 3, 1, &["limit"]),
        ),
        case(
            57,
            "t.tsv",
            format!("ham\ta b\nspam\tb c\nham\t{}", "a ".repeat(long)),
            Refused(ErrorKind::Limit, 3, 1, &["limit"]),
        ),
        case(58, "t.svm", format!("1{many}\n-1 1:2\n"), Rows(2)),
        case(59, "t", noise.clone(), Refused(ErrorKind::Format, 0, 0, &["no known format"])),
        case(
            59,
            "t.svm",
            [&b"\x89PNG\r\n\x1A\n"[..], &noise].concat(),
            Refused(ErrorKind::Format, 0, 0, &["PNG"]),
        ),
    ]
}

fn containers() -> Vec<Case> {
    let svm = (0..2000).map(|i| format!("{} {}:0.5\n", i % 2, i % 97 + 1)).collect::<Vec<_>>().concat();
    let svm = svm.as_bytes();
    let gz = gzip(svm);
    let zst = zstd(svm);
    let sevens = vec![b'7'; 64 << 20];
    let same = || Same("plain.svm", svm.to_vec());
    let broken = |says| Refused(ErrorKind::Compression, 0, 0, says);
    let changed = |bytes: &[u8], at: usize, mask: u8| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= mask;
        bytes
    };
    let mut cases = vec![
        case(60, "t.svm.gz", &gz[..10], broken(&["ends too early"])),
        case(60, "t.svm.gz", changed(&gz, gz.len() - 5, 1), broken(&["damaged"])),
        case(60, "t.svm.gz", changed(&gz, gz.len() - 1, 1), broken(&["damaged"])),
        case(60, "t.svm.gz", changed(&gz, gz.len() / 2, 8), broken(&["gzip"])),
        case(60, "t.svm.gz", [&gz[..], &gz[..gz.len() / 2]].concat(), broken(&["ends too early"])),
        case(61, "t.svm.gz", [gzip(&svm[..1001]), gzip(b""), gzip(&svm[1001..])].concat(), same()),
        case(62, "t.svm.gz", [&gz[..], &[0; 512]].concat(), same()),
        case(62, "t.svm.gz", [&gz[..], b"junk"].concat(), broken(&["junk"])),
        case(63, "t.svm.gz", svm, same()),
        case(63, "t.svm.zst", svm, same()),
        case(63, "t.svm", &gz[..], same()),
        case(63, "t.svm.gz", gzip(&gz), broken(&["compressed twice"])),
        // A line of 3 GiB in little: the same part many times over.
        case(64, "t.svm.gz", gzip(&sevens).repeat(48), Refused(ErrorKind::Limit, 1, 1, &["16777216"])),
        case(64, "t.svm.zst", zstd(&sevens).repeat(48), Refused(ErrorKind::Limit, 1, 1, &["16777216"])),
        // A reserved bit of the frame header, a reserved kind of block, another dictionary.
        case(65, "t.zst", *b"\x28\xB5\x2F\xFD\x28\x05\x09\0\0x", broken(&["zstd"])),
        case(65, "t.zst", *b"\x28\xB5\x2F\xFD\x20\x05\x0F\0\0x", broken(&["zstd"])),
        case(65, "t.zst", *b"\x28\xB5\x2F\xFD\x21\x07\x05\x29\0\x00hello", broken(&["zstd"])),
        case(65, "t.zst", *b"\x28\xB5\x2F\xFD\x00\xF8\x09\0\0x", broken(&["zstd"])),
        case(65, "t.zst", *b"\x28\xB5\x2F\xFD\x20\x05\x09\0\0x", broken(&["zstd"])),
        case(66, "t.svm.zst", [&b"\x50\x2A\x4D\x18\x03\0\0\0abc"[..], &zst].concat(), same()),
        case(66, "t.svm.zst", [zstd(&svm[..1001]), zstd(&svm[1001..])].concat(), same()),
    ];
    for percent in [25, 50, 75, 95] {
        cases.push(case(60, "t.svm.gz", &gz[..gz.len() * percent / 100], broken(&["ends too early"])));
        cases.push(case(65, "t.svm.zst", &zst[..zst.len() * percent / 100], broken(&["zstd"])));
    }
    cases.push(case(60, "t.svm.gz", &gz[..gz.len() - 1], broken(&["ends too early"])));
    cases
}

fn labels() -> Vec<Case> {
    let many = (0..20_000).map(|i| format!("{i} 1:1\n")).collect::<Vec<_>>().concat();
    vec![
        case(81, "t.svm", "", Refused(ErrorKind::Empty, 0, 0, &["no rows"])),
        case(81, "t.svm", "  \n \n", Refused(ErrorKind::Empty, 0, 0, &["no rows"])),
        case(81, "t.svm", "# nothing\n", Refused(ErrorKind::Empty, 0, 0, &["no rows"])),
        case(83, "t.svm", "1 1:1\n", Rows(1)),
        case(85, "t.svm", many, Refused(ErrorKind::Limit, 0, 0, &["regression"])),
        case(86, "t.svm", "1 1:1\n-1 1:2\n0 1:3\n", Rows(3)),
    ]
}

fn text() -> Vec<Case> {
    const PLAIN: &str = "ham\tsee you\nspam\twin cash\nham\tok then\n";
    let refused = |item, line: &str, column, kind, says| {
        let text = format!("{PLAIN}{line}\n{PLAIN}");
        case(item, "t.tsv", text, Refused(kind, 4, column, says))
    };
    let broken = [PLAIN.as_bytes(), b"ham\tcaf\xE9 au lait\n"].concat();
    let unusual = "ham\t👍🏽 שלום e\u{301}t\u{E9} fr\u{200B}ee 我们\nspam\tنعم free ok\n";
    vec![
        refused(89, "no tab at all", 14, ErrorKind::Syntax, &["no tab"]),
        refused(89, "\tno label", 1, ErrorKind::Label, &["label is missing"]),
        case(90, "t.tsv", format!("{PLAIN}ham\t\n"), Noted(4, "1 of 4 texts hold no words")),
        case(91, "t.tsv", unusual, Rows(2)),
        case(91, "t.tsv", unusual, Same("plain.tsv", unusual.replace('\u{200B}', "").into_bytes())),
        case(92, "t.tsv", format!("{PLAIN}ham\t{}\n", "x".repeat(1 << 20)), Rows(4)),
        case(92, "t.tsv", format!("{PLAIN}ham\t{}\n", "a b ".repeat(100_000)), Rows(4)),
        case(93, "t.tsv", broken.clone(), Refused(ErrorKind::Encoding, 4, 8, &["0xE9", "iconv"])),
        case(93, "t.tsv", broken, Rows(3)).with(|how| how.on_bad_row = OnBadRow::Skip),
    ]
}

#[cfg(feature = "parquet")]
fn sample(name: &str) -> Vec<u8> {
    std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

#[cfg(feature = "parquet")]
fn parquet() -> Vec<Case> {
    use parquet_files::{Footer, column, with_footer_length};
    let whole = sample("table.parquet");
    let damaged = || Refused(ErrorKind::Format, 0, 0, &["Parquet"]);
    let file = |item, bytes: Vec<u8>| case(item, "t.parquet", bytes, damaged());
    let limit = || Refused(ErrorKind::Limit, 0, 0, &["nested deeper"]);
    let edited = |name: &str, place: &dyn Fn(&[u8]) -> usize, byte: u8| {
        let mut bytes = sample(name);
        let at = place(&bytes);
        bytes[at] = byte;
        bytes
    };
    let mut cases = vec![
        case(68, "t.parquet", "", Refused(ErrorKind::Empty, 0, 0, &["no rows"])),
        file(68, b"PAR1".to_vec()),
        file(68, b"PAR1PAR1".to_vec()),
        file(69, with_footer_length(&whole, 0)),
        file(69, with_footer_length(&whole, u32::MAX)),
        file(69, with_footer_length(&whole, whole.len() as u32)),
        file(70, Footer::new(2, [1, 0].into_iter()).file(1_000_000_000_000)),
        file(70, Footer::new(2, [1, 0].into_iter()).file(-1)),
        file(70, Footer::new(2, [1, 0].into_iter()).file(5)),
        file(71, Footer::new(2, [1 << 30, 0].into_iter()).file(1)),
        file(71, Footer::new(2, [-1, 0].into_iter()).file(1)),
        file(71, Footer::new(1 << 31, [1, 0].into_iter()).file(1)),
        case(71, "t.parquet", Footer::new(5001, std::iter::repeat_n(1, 5000).chain([0])).file(1), limit()),
        // The first page of the file claims to be larger than it is, by its header.
        file(72, edited("zstd.parquet", &|_| 9, 0xFF)),
        file(72, edited("zstd.parquet", &|_| 10, 1)),
        // An unknown codec; one that is named though the bytes are plain; an unknown type.
        file(73, edited("table.parquet", &|bytes| column(bytes, "f0").codec, 62)),
        file(73, edited("sparse.parquet", &|bytes| column(bytes, "label").codec, 2)),
        file(73, edited("table.parquet", &|bytes| column(bytes, "f0").kind, 62)),
        // A page before the beginning, and one after the end.
        file(74, edited("gzip.parquet", &|bytes| column(bytes, "f0").offset, 7)),
        file(74, edited("gzip.parquet", &|bytes| column(bytes, "label").offset + 1, 0x7F)),
        case(
            76,
            "t.parquet",
            *b"PARE0000PARE",
            Refused(ErrorKind::Format, 0, 0, &["encrypted Parquet is not supported"]),
        ),
        // A column of text becomes features, one per value.
        case(77, "t.parquet", sample("odd.parquet"), Noted(2, "read as categories: `flag`, `kind`")).with(
            |how| {
                how.ignore = vec!["when".into()];
                how.missing = Missing::Drop;
            },
        ),
        case(
            78,
            "t.parquet",
            sample("odd.parquet"),
            Refused(ErrorKind::Missing, 0, 0, &["`whole`", "row 3"]),
        )
        .with(|how| how.ignore = vec!["when".into()]),
        case(
            79,
            "t.parquet",
            sample("odd.parquet"),
            // Dates are left out, so that what comes next is complained about.
            Refused(ErrorKind::Missing, 0, 0, &["`whole`", "row 3"]),
        ),
        case(79, "t.parquet", sample("list.parquet"), Rows(12)),
    ];
    for percent in [10, 25, 50, 75, 95] {
        cases.push(file(68, whole[..whole.len() * percent / 100].to_vec()));
    }
    cases
}

#[cfg(not(feature = "parquet"))]
fn parquet() -> Vec<Case> {
    vec![case(68, "t.parquet", *b"PAR1PAR1", Refused(ErrorKind::Format, 0, 0, &["built without Parquet"]))]
}

#[cfg(feature = "images")]
fn pictures() -> Vec<Case> {
    let chunk = |name: &[u8; 4], content: &[u8]| {
        let named = [&name[..], content].concat();
        let mut crc = flate2::Crc::new();
        crc.update(&named);
        [&(content.len() as u32).to_be_bytes()[..], &named, &crc.sum().to_be_bytes()].concat()
    };
    let png = |width: u32, height: u32, pixels: &[u8]| {
        let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(pixels).unwrap();
        let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
        [
            &b"\x89PNG\r\n\x1A\n"[..],
            &chunk(b"IHDR", &header),
            &chunk(b"IDAT", &packed.finish().unwrap()),
            &chunk(b"IEND", b""),
        ]
        .concat()
    };
    let good = png(2, 1, &[0, 7, 9]);
    let lone = |item, bytes: Vec<u8>, expect| {
        case(item, "t.png", bytes, expect).with(|how| {
            how.label = LabelColumn::Absent;
            how.format = Some("picture".into());
        })
    };
    let damaged = || Refused(ErrorKind::Format, 0, 0, &["picture"]);
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    vec![
        lone(94, good.clone(), Rows(1)),
        lone(94, Vec::new(), Refused(ErrorKind::Empty, 0, 0, &["no rows"])),
        lone(94, good[..good.len() / 2].to_vec(), damaged()),
        lone(94, flipped(30), damaged()),
        lone(94, b"hello".to_vec(), damaged()),
        lone(94, png(0, 1, &[]), damaged()),
        lone(94, png(2, 3, &[0, 7, 9]), damaged()),
        lone(94, b"P5\n2 1\n255\na".to_vec(), damaged()),
        lone(95, png(0x7FFF_FFFF, 0x7FFF_FFFF, &[]), Refused(ErrorKind::Limit, 0, 0, &["max-pixels"])),
        lone(95, png(60_000, 60_000, &[0; 1 << 16]), Refused(ErrorKind::Limit, 0, 0, &["max-pixels"])),
        case(
            97,
            "t.svg",
            "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY x SYSTEM \"file:///etc/hostname\">]><svg>&x;</svg>\n",
            Refused(ErrorKind::Format, 0, 0, &["XML or SVG"]),
        ),
        lone(97, b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_vec(), damaged()),
    ]
}

#[cfg(not(feature = "images"))]
fn pictures() -> Vec<Case> {
    vec![
        case(
            94,
            "t.png",
            *b"\x89PNG\r\n\x1A\n",
            Refused(ErrorKind::Format, 0, 0, &["built without pictures"]),
        )
        .with(|how| how.label = LabelColumn::Absent),
    ]
}

fn idx() -> Vec<Case> {
    let file = |bytes: &[u8], expect| {
        case(99, "t.idx", bytes, expect).with(|how| {
            how.label = LabelColumn::Absent;
            how.format = Some("idx".into());
        })
    };
    vec![
        file(&[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 5, 6], Rows(2)),
        file(
            &[0, 1, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 5, 6],
            Refused(ErrorKind::Format, 0, 0, &["two zero bytes"]),
        ),
        file(&[0, 0, 8, 2, 0, 0, 0, 9, 0, 0, 0, 1, 5, 6], Refused(ErrorKind::Shape, 0, 0, &["9"])),
    ]
}

fn all_cases() -> Vec<Case> {
    let groups = [
        libsvm(),
        numbers(),
        csv(),
        encodings(),
        containers(),
        parquet(),
        labels(),
        text(),
        pictures(),
        idx(),
    ];
    groups.into_iter().flatten().collect()
}

fn loaded(
    file: &str,
    bytes: &[u8],
    how: &ReadOptions,
) -> Result<(Dataset, Schema), rosenblatt_data::DataError> {
    load_with_schema(&Source::bytes(file, bytes.to_vec()), how)
}

/// What is not as it should be with a case.
fn shortcoming(case: &Case) -> Option<String> {
    let outcome = loaded(case.file, &case.bytes, &case.how);
    match (&case.expect, outcome) {
        (Same(file, plain), Ok((data, _))) => {
            let plain = loaded(file, plain, &ReadOptions::as_stored()).unwrap().0;
            (data != plain).then(|| "reads to other data".to_owned())
        }
        (Rows(n_rows), Ok((data, _))) => (data.len() != *n_rows).then(|| format!("has {} rows", data.len())),
        (Noted(n_rows, says), Ok((data, schema))) => {
            let noted = schema.notes.iter().any(|note| note.contains(says));
            (data.len() != *n_rows || !noted)
                .then(|| format!("{} rows, notes {:?}", data.len(), schema.notes))
        }
        (Refused(kind, line, column, says), Err(error)) => {
            let report = error.report();
            let nonzero = |number: u64| (number > 0).then_some(number);
            let position = error.position();
            let sound = error.kind() == *kind
                && position.line == nonzero(*line)
                && position.column == nonzero(*column)
                && says.iter().all(|part| report.contains(part))
                && error.source_name() == Some(case.file)
                && report.lines().count() <= 20
                && report.len() < 2000;
            (!sound).then(|| format!("{:?} at {position:?}: {report}", error.kind()))
        }
        (Refused(..), Ok((data, _))) => Some(format!("was accepted, {} rows", data.len())),
        (_, Err(error)) => Some(format!("was refused: {}", error.report())),
    }
}

#[test]
fn every_item_behaves_as_the_catalogue_says() {
    let mut short = Vec::new();
    for case in all_cases() {
        if let Some(how) = shortcoming(&case) {
            let input = String::from_utf8_lossy(&case.bytes[..case.bytes.len().min(80)]).into_owned();
            short.push(format!("item {}, {} {input:?}: {how}", case.item, case.file));
        }
    }
    assert!(short.is_empty(), "{} fell short:\n{}", short.len(), short.join("\n"));
}

/// The numbers of the items in the other table: `item: 34,`.
fn training_items() -> impl Iterator<Item = u32> {
    TRAINING.split("item: ").skip(1).filter_map(|rest| rest.split(',').next()?.parse().ok())
}

#[test]
fn every_item_has_its_place() {
    let mut covered: std::collections::BTreeSet<u32> = all_cases().iter().map(|case| case.item).collect();
    covered.extend(TESTS.iter().map(|(item, _)| item));
    covered.extend(training_items());
    let is_built = |item: &u32| match item {
        68..=80 => cfg!(feature = "parquet"),
        94..=97 => cfg!(feature = "images"),
        100 => cfg!(unix),
        _ => true,
    };
    let lost: Vec<u32> = (1..=100).filter(is_built).filter(|item| !covered.contains(item)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn items_that_take_more_than_an_input_behave_as_the_catalogue_says() {
    for (item, test) in TESTS {
        eprintln!("item {item}");
        test();
    }
}

fn item_36_rows_are_counted_beyond_32_bits() {
    // A run that stands just below 2^32 rows goes on beyond, and so does everything that is counted by rows.
    use rosenblatt_core::observer::Snapshot;
    use rosenblatt_core::rules::Perceptron;
    use rosenblatt_core::state::{List, State};
    use rosenblatt_core::{
        Algorithm, Average, Binary, DenseExamples, Params, Ratchet, Remember, Run, Setup, Visits,
    };
    let fresh = || {
        let rule = Perceptron::new(&Params::new()).unwrap();
        let remember =
            Remember::for_readout(rosenblatt_core::Readout::Averaged(Average::Post), Ratchet::Off, 0);
        Run::new(rule, Binary, Setup { width: 1, remember, ..Setup::default() }).unwrap()
    };
    let below = u64::from(u32::MAX) - 4;
    let mut state = State::default();
    let young = fresh();
    for (name, list) in young.state().lists() {
        let list = match list {
            // Epochs, rounds, mistakes, updates, errors.
            List::U64(_) if name == "totals" || name == "before" => {
                List::U64(vec![1, below, below, below, below].into())
            }
            list => list.clone(),
        };
        state.push(name.to_owned(), list);
    }
    let mut run = fresh();
    run.restore(state).unwrap();
    let values = [1.0; 10];
    let examples = DenseExamples::new(&values, 1, &[0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    let _ = run.learn(examples, Visits::all(examples), &mut ());
    let totals = run.totals();
    assert_eq!((totals.rounds, totals.rounds >> 32), (below + 10, 1));
    // A score of zero is a mistake, and speaks for the first class.
    assert_eq!((totals.mistakes, totals.updates, totals.errors), (below + 10, below + 10, below + 5));
    // An average over more than 2^32 rounds, of which the last ten only had a weight.
    let average = run.averaged(Average::Post).unwrap();
    assert!(average.weights(0)[0].abs() < 1e-8, "{average:?}");
    let position = rosenblatt_data::Position { row: Some((1 << 32) + 11), line: None, column: None };
    let error = rosenblatt_data::DataError::new(ErrorKind::Missing, "gone").at(position);
    assert_eq!(error.to_string(), "row 4294967307: gone");
}

fn item_57_and_64_memory_stays_flat() {
    // A line without end, plain and packed: however long it is, no more than the limit is held.
    let limits = Limits { line_bytes: 1 << 20, ..Limits::default() };
    let how = ReadOptions { limits, threads: 1, format: Some("libsvm".into()), ..ReadOptions::as_stored() };
    for (name, pack) in
        [("t.svm", None), ("t.svm.gz", Some(gzip as fn(&[u8]) -> Vec<u8>)), ("t.svm.zst", Some(zstd))]
    {
        let peak_of_line = |n_bytes: usize| {
            let line = [b"1 1:", &vec![b'0'; n_bytes][..]].concat();
            let bytes = pack.map_or(line.clone(), |pack| pack(&line));
            let source = Source::bytes(name, bytes);
            let (outcome, peak) = allocations::peak_of(|| load_source(&source, &how));
            let error = outcome.unwrap_err();
            assert_eq!((error.kind(), error.position().line), (ErrorKind::Limit, Some(1)), "{error}");
            peak
        };
        // The source itself is in memory here, and not counted: it is made before.
        let (short, long) = (peak_of_line(2 << 20), peak_of_line(64 << 20));
        assert!(short < 8 << 20, "{name}: {short} bytes");
        assert!(long <= short + short / 10, "{name}: {short} bytes grow to {long}");
    }
}

#[cfg(feature = "parquet")]
fn item_75_flipped_bits_never_panic() {
    for name in ["table.parquet", "list.parquet"] {
        let whole = sample(name);
        for k in 0..120 {
            let mut bytes = whole.clone();
            let at = k * 7919 % bytes.len();
            bytes[at] ^= 1 << (k % 8);
            if let Err(error) = loaded(name, &bytes, &ReadOptions::as_stored()) {
                assert_ne!(error.kind(), ErrorKind::Internal, "{name}, bit in byte {at}: {error}");
            }
        }
    }
}

#[cfg(feature = "parquet")]
fn item_80_a_file_that_is_cut_while_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let line = |i: u32| format!("{} 1:{} 2:{} 3:{}\n", i % 2, i.wrapping_mul(2_654_435_761), i, i * 7 % 1013);
    let rows: String = (0..250_000).map(line).collect();
    let svm = Source::bytes("t.svm", rows.into_bytes());
    let how = ReadOptions { precision: rosenblatt_data::Precision::Double, ..ReadOptions::as_stored() };
    rosenblatt_data::convert(&svm, &how, &path, &rosenblatt_data::WriteOptions::default()).unwrap();
    let mut stream = rosenblatt_data::blocks(&Source::file(&path), &how).unwrap();
    let mut n_rows = stream.next().unwrap().unwrap().len();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(1000).unwrap();
    let error = loop {
        match stream.next() {
            Ok(Some(block)) => n_rows += block.len(),
            Ok(None) => panic!("{n_rows} rows were read from a file that was cut"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error.kind(), ErrorKind::Format | ErrorKind::Io | ErrorKind::Shape), "{error}");
    assert!(error.source_name().unwrap().ends_with("t.parquet"), "{error}");
}

#[cfg(feature = "images")]
fn item_96_pictures_of_another_size() {
    let folder = tempfile::tempdir().unwrap();
    for (name, picture) in [("a/1.pgm", &b"P5\n2 1\n255\nab"[..]), ("b/2.pgm", b"P5\n1 2\n255\nab")] {
        let path = folder.path().join(name);
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        std::fs::write(path, picture).unwrap();
    }
    let source = Source::find(folder.path()).unwrap();
    let error = load_source(&source, &ReadOptions::as_stored()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert!(error.report().contains("2.pgm") && error.report().contains("size = 2x1"), "{}", error.report());
    let mut how = ReadOptions::as_stored();
    how.pictures.size = Some((2, 1));
    assert_eq!(load_source(&source, &how).unwrap().width(), 2);
}

fn item_99_pictures_and_labels_that_do_not_match() {
    let folder = tempfile::tempdir().unwrap();
    let images = folder.path().join("t-images-idx3-ubyte");
    std::fs::write(&images, [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 5, 6]).unwrap();
    std::fs::write(folder.path().join("t-labels-idx1-ubyte"), [0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 1]).unwrap();
    let error = load_source(&Source::file(&images), &ReadOptions::as_stored()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
    assert!(error.to_string().contains('3') && error.to_string().contains('2'), "{error}");
}

fn item_50_columns_are_matched_by_name() {
    let (_, schema) = loaded("t.csv", b"a,b,label\n1,2,x\n3,4,y\n", &ReadOptions::as_stored()).unwrap();
    let how = ReadOptions::as_stored().with_schema(Arc::new(schema));
    let (data, _) = loaded("n.csv", b"b,label,a\n2,x,1\n4,y,3\n", &how).unwrap();
    let (plain, _) = loaded("n.csv", b"a,b,label\n1,2,x\n3,4,y\n", &how).unwrap();
    assert_eq!(data, plain);
    let missing = loaded("n.csv", b"a,label\n1,x\n2,y\n", &how).unwrap_err();
    assert!(missing.message().contains("column `b` is missing"), "{missing}");
    let (wider, schema) = loaded("n.csv", b"a,b,c,label\n1,2,3,x\n3,4,6,y\n", &how).unwrap();
    assert_eq!(wider, plain);
    assert!(schema.notes.iter().any(|note| note.contains("not learned from: `c`")), "{:?}", schema.notes);
}

fn item_67_only_a_checksum_tells_a_flipped_bit() {
    // `hello` stored raw in a frame without a checksum: the change is not to be seen.
    let frame = |letter: u8| [&b"\x28\xB5\x2F\xFD\x20\x09\x49\0\0"[..], &[letter], b" 1:1\n0\n\n"].concat();
    assert_eq!(loaded("t.svm.zst", &frame(b'1'), &ReadOptions::as_stored()).unwrap().0.len(), 2);
    assert_eq!(loaded("t.svm.zst", &frame(b'3'), &ReadOptions::as_stored()).unwrap().0.len(), 2);
}

fn item_98_stray_files_and_empty_folders_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    for class in ["ham", "spam", "empty"] {
        std::fs::create_dir(folder.path().join(class)).unwrap();
    }
    std::fs::write(folder.path().join("ham/1.txt"), "see you").unwrap();
    std::fs::write(folder.path().join("spam/1.txt"), "win cash").unwrap();
    std::fs::write(folder.path().join("notes.txt"), "stray").unwrap();
    let source = Source::find(folder.path()).unwrap();
    let (data, schema) = load_with_schema(&source, &ReadOptions::as_stored()).unwrap();
    assert_eq!(data.len(), 2);
    assert!(schema.notes.iter().any(|note| note.contains("`empty` holds no")), "{:?}", schema.notes);
    assert!(schema.notes.iter().any(|note| note.contains("1 file(s)")), "{:?}", schema.notes);
}

#[cfg(unix)]
fn item_100_a_loop_of_links_ends() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("ham")).unwrap();
    std::fs::write(folder.path().join("ham/1.txt"), "see you").unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("ham/up")).unwrap();
    let source = Source::find(folder.path()).unwrap();
    assert_eq!(load_source(&source, &ReadOptions::as_stored()).unwrap().len(), 1);
    std::os::unix::fs::symlink("2.txt", folder.path().join("ham/2.txt")).unwrap();
    let error = load_source(&source, &ReadOptions::as_stored()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("2.txt"), "{error}");
}

/// Parquet files that are nothing but metadata, and places in those of others.
#[cfg(feature = "parquet")]
mod parquet_files;
