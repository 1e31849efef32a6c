//! What is fuzzed: for every parser its seeds, the scraps that mean something to it, how its checksums are
//! put right, and how much memory it may use.

use super::mend;
use flate2::write::GzEncoder;
use rosenblatt_core::Random;
use rosenblatt_data::encode::{TextOptions, Units, Weighting};
use rosenblatt_data::{
    CacheWriter, LabelColumn, Labels, Missing, ReadOptions, SentenceFormat, Source, blocks,
    find_sentence_format,
};
use std::io::Write;
use std::path::Path;

/// What a cache that is fuzzed claims to be made of.
pub const FINGERPRINT: u64 = 7;

/// One parser.
pub struct Target {
    pub name: &'static str,
    /// What the source is called; the extension helps to find the format.
    pub file: &'static str,
    /// The format that is named, most of the time.
    pub format: Option<&'static str>,
    /// Whether the input is text, so that its lines and numbers are worth changing.
    pub is_text: bool,
    pub seeds: fn() -> Vec<Vec<u8>>,
    pub scraps: &'static [&'static [u8]],
    /// What is done to an input that was changed, half of the time: packing, or putting checksums right.
    pub finish: Option<fn(&mut Vec<u8>, &mut Random)>,
    pub options: fn(&mut ReadOptions, &mut Random),
    pub memory: Memory,
}

impl Target {
    /// The format of sentences that it is, if it is one.
    pub fn sentences(&self) -> Option<&'static dyn SentenceFormat> {
        find_sentence_format(self.format?).ok()
    }
}

/// The most bytes in use while one input is read: a fixed number, and a number per byte of input.
pub struct Memory {
    pub at_least: usize,
    pub per_byte: usize,
}

/// Text and plain arrays: a few windows, and rows that take more room than their text.
const PLAIN: Memory = Memory { at_least: 4 << 20, per_byte: 256 };
/// What deflate packs may unfold a thousandfold; the parser's share comes on top.
const PACKED: Memory = Memory { at_least: 4 << 20, per_byte: 2048 };
/// A page may claim 64 MiB, and a few columns are decoded together.
const PAGED: Memory = Memory { at_least: 160 << 20, per_byte: 2048 };
/// A window of 128 MiB may be asked for, and is kept beside what is decoded.
const WINDOWED: Memory = Memory { at_least: 272 << 20, per_byte: 2048 };
/// The limit of pixels of a fuzzed picture is 2^16, each 16 bytes at most, and the decoder has tables.
const PICTURE: Memory = Memory { at_least: 16 << 20, per_byte: 2048 };

/// All parsers.
pub static TARGETS: &[Target] = &[
    Target {
        name: "libsvm",
        file: "fuzz.svm",
        format: Some("libsvm"),
        is_text: true,
        seeds: || [files("libsvm"), vec![read("table.svm"), lines(libsvm_line)]].concat(),
        scraps: LIBSVM,
        finish: None,
        options: |_, _| {},
        memory: PLAIN,
    },
    Target {
        name: "csv",
        file: "fuzz.csv",
        format: Some("csv"),
        is_text: true,
        seeds: || [files("csv"), vec![read("table.csv"), lines(csv_line)]].concat(),
        scraps: CSV,
        finish: None,
        options: table_options,
        memory: PLAIN,
    },
    Target {
        name: "text",
        file: "fuzz.tsv",
        format: Some("text"),
        is_text: true,
        seeds: || files("text"),
        scraps: TEXT,
        finish: None,
        options: text_options,
        memory: PLAIN,
    },
    Target {
        name: "json",
        file: "fuzz.jsonl",
        format: Some("jsonl"),
        is_text: true,
        seeds: || ["table.jsonl", "vector.jsonl", "sparse.jsonl"].map(read).into(),
        scraps: JSON,
        finish: None,
        options: table_options,
        memory: PLAIN,
    },
    Target {
        name: "vw",
        file: "fuzz.vw",
        format: Some("vw"),
        is_text: true,
        seeds: || vec![VW_SEED.to_vec(), lines(vw_line)],
        scraps: VW,
        finish: None,
        options: |_, _| {},
        memory: PLAIN,
    },
    #[cfg(feature = "parquet")]
    Target {
        name: "parquet",
        file: "fuzz.parquet",
        format: Some("parquet"),
        is_text: false,
        seeds: || {
            ["table.parquet", "zstd.parquet", "gzip.parquet", "list.parquet", "sparse.parquet", "odd.parquet"]
                .map(read)
                .into()
        },
        scraps: &[b"PAR1", b"PARE", b"\x15\x02", b"\x19\x0C", b"\x00", b"\xFF\xFF\xFF\xFF\x0F", b"\x18\x01x"],
        finish: Some(mend::parquet),
        options: table_options,
        memory: PAGED,
    },
    #[cfg(feature = "arrow")]
    Target {
        name: "arrow",
        file: "fuzz.arrow",
        format: Some("arrow"),
        is_text: false,
        seeds: || ["table.arrow", "stream.arrows", "sparse.feather"].map(read).into(),
        scraps: &[b"ARROW1", b"\xFF\xFF\xFF\xFF", b"\0\0\0\0", b"\x08\0\0\0", b"\x7F\xFF\xFF\xFF"],
        finish: None,
        options: table_options,
        memory: PAGED,
    },
    #[cfg(feature = "images")]
    Target {
        name: "images",
        file: "fuzz.png",
        format: Some("picture"),
        is_text: false,
        seeds: || {
            let pictures = ["pictures/day/0.png", "pictures/night/1.pgm", "colours/left/a.png"].map(read);
            let text = b"P2\n# made by hand\n2 2\n255\n0 50\n100 255\n".to_vec();
            let bits = b"P4\n9 2\n\xAA\x80\x55\0".to_vec();
            let colours = b"P6 2 1 65535\n\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B".to_vec();
            [&pictures[..], &[text, bits, colours, read("colours/right/b.jpg")]].concat()
        },
        scraps: &[
            b"\x89PNG\r\n\x1A\n",
            b"IHDR",
            b"IDAT",
            b"IEND",
            b"PLTE",
            b"tRNS",
            b"\xFF\xD8\xFF",
            b"\xFF\xC0",
            b"\xFF\xC4",
            b"\xFF\xDA",
            b"\xFF\xDB",
            b"\xFF\xD9",
            b"P5\n",
            b"P3 ",
            b"P7\n",
            b"\n255\n",
            b"4294967295",
            b"\0\0\0\x0D",
        ],
        finish: Some(mend::png),
        options: |how, random| {
            how.limits.pixels = 1 << 16;
            how.label = LabelColumn::Absent;
            how.pictures.colour = random.below(2) == 0;
            how.pictures.size = [None, None, Some((3, 2))][random.below(3) as usize];
        },
        memory: PICTURE,
    },
    Target {
        name: "idx",
        file: "fuzz.idx",
        format: Some("idx"),
        is_text: false,
        seeds: || {
            let bytes = [&[0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3][..], &[9; 24]].concat();
            let doubles = [&[0, 0, 0x0E, 2, 0, 0, 0, 2, 0, 0, 0, 2][..], &[0x3F; 32]].concat();
            let shorts = [&[0, 0, 0x0B, 1, 0, 0, 0, 5][..], &[1; 10]].concat();
            vec![bytes, doubles, shorts]
        },
        scraps: &[
            b"\0\0\x08\x03",
            b"\0\0\x0D\x02",
            b"\xFF\xFF\xFF\xFF",
            b"\0\0\0\0",
            b"\x7F\xF0\0\0",
            b"\0\0\0\x01",
        ],
        finish: None,
        options: |how, _| how.label = LabelColumn::Absent,
        memory: PLAIN,
    },
    Target {
        name: "numpy",
        file: "fuzz.npy",
        format: Some("numpy"),
        is_text: false,
        seeds: || ["column.npy", "half.npy", "object.npy"].map(read).into(),
        scraps: NUMPY,
        finish: None,
        options: array_options,
        memory: PLAIN,
    },
    Target {
        name: "zip",
        file: "fuzz.npz",
        format: Some("numpy"),
        is_text: false,
        seeds: || ["table.npz", "fortran.npz", "sparse.npz", "scipy.npz"].map(read).into(),
        scraps: &[
            b"PK\x01\x02",
            b"PK\x03\x04",
            b"PK\x05\x06",
            b"PK\x06\x06",
            b"\x08\0",
            b"\xFF\xFF\xFF\xFF",
            b"X.npy",
            b"y.npy",
        ],
        finish: Some(mend::zip),
        options: array_options,
        memory: PACKED,
    },
    Target {
        name: "gzip",
        file: "fuzz.svm.gz",
        format: None,
        is_text: false,
        seeds: || plain_texts().iter().map(|plain| gzip(plain, flate2::Compression::fast())).collect(),
        scraps: &[
            b"\x1F\x8B\x08",
            b"\0\0\0\0",
            b"\xFF\xFF\xFF\xFF",
            b"\x1F",
            b"\x03\0",
            b"\x08\x1C",
            b"\0\x01\0\0\xFF\xFF",
        ],
        finish: Some(mend::gzip),
        options: |_, _| {},
        memory: PACKED,
    },
    Target {
        name: "zstd",
        file: "fuzz.svm.zst",
        format: None,
        is_text: false,
        seeds: zstd_seeds,
        scraps: &[
            b"\x28\xB5\x2F\xFD",
            b"\x50\x2A\x4D\x18",
            b"\xFF\xFF\xFF\xFF",
            b"\0\0\0",
            b"\x20",
            b"\xF8",
            b"\x01\0\0",
        ],
        finish: Some(mend::zstd),
        options: |_, _| {},
        memory: WINDOWED,
    },
    Target {
        name: "cache",
        file: "fuzz.cache",
        format: None,
        is_text: false,
        seeds: cache_seeds,
        scraps: &[
            b"RBcache\n",
            b"RBend  \n",
            b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
            b"\x01\0\0\0\0\0\0\0",
            b"\0\0\0\0",
        ],
        finish: Some(mend::cache),
        options: |_, _| {},
        memory: PLAIN,
    },
    Target {
        name: "columns",
        file: "fuzz.conll",
        format: Some("columns"),
        is_text: true,
        seeds: || [CONLL, &b"a\tN\r\n\r\nb\tV\r\n"[..]].map(<[u8]>::to_vec).into(),
        scraps: SENTENCES,
        finish: None,
        options: |_, _| {},
        memory: PLAIN,
    },
    Target {
        name: "conllu",
        file: "fuzz.conllu",
        format: Some("conllu"),
        is_text: true,
        seeds: || [CONLLU].map(<[u8]>::to_vec).into(),
        scraps: SENTENCES,
        finish: None,
        options: |_, _| {},
        memory: PLAIN,
    },
    Target {
        name: "items",
        file: "fuzz.crfsuite",
        format: Some("items"),
        is_text: true,
        seeds: || [ITEMS].map(<[u8]>::to_vec).into(),
        scraps: SENTENCES,
        finish: None,
        options: |_, _| {},
        memory: PLAIN,
    },
    Target {
        name: "token-lists",
        file: "fuzz.jsonl",
        format: Some("token-lists"),
        is_text: true,
        seeds: || [TOKEN_LISTS].map(<[u8]>::to_vec).into(),
        scraps: JSON,
        finish: None,
        options: |_, _| {},
        memory: PLAIN,
    },
    Target {
        name: "plain",
        file: "fuzz.txt",
        format: Some("plain"),
        is_text: true,
        seeds: || [PLAIN_TEXT].map(<[u8]>::to_vec).into(),
        scraps: SENTENCES,
        finish: None,
        options: |_, _| {},
        memory: PLAIN,
    },
];

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

fn files(name: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Some rows, made line by line.
fn lines(line: fn(u32) -> String) -> Vec<u8> {
    (0..12).map(line).collect::<String>().into_bytes()
}

fn libsvm_line(i: u32) -> String {
    format!("{} {}:{} {}:-{}e-3 # {i}\n", i % 3, i % 17 + 1, f64::from(i) / 3.0, i % 17 + 40, i * i)
}

fn csv_line(i: u32) -> String {
    match i {
        0 => "number,\"kind, of\",label\n".to_owned(),
        _ => format!("{},\"{}\",{}\r\n", f64::from(i) / 3.0, ["a", "b\"\"c", ""][i as usize % 3], i % 2),
    }
}

fn vw_line(i: u32) -> String {
    format!("{} {} 'tag{i}|space:0.5 a{}:{} b |other c:{}\n", i % 2, f64::from(i) / 4.0, i % 4, i, i % 3)
}

fn plain_texts() -> Vec<Vec<u8>> {
    [files("libsvm"), vec![read("table.svm"), lines(libsvm_line), b"1 1:1\n0 2:2\n".repeat(200)]].concat()
}

pub fn gzip(plain: &[u8], level: flate2::Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(plain: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
}

fn zstd_seeds() -> Vec<Vec<u8>> {
    let mut all: Vec<_> = plain_texts().iter().map(|plain| zstd(plain)).collect();
    // What other tools write: a raw block, a repeated byte, a frame to be skipped, a checksum.
    all.push(b"\x28\xB5\x2F\xFD\x20\x09\x49\0\x001 1:1\n0\n\n".to_vec());
    all.push(b"\x28\xB5\x2F\xFD\x20\x20\x03\x01\x001".to_vec());
    all.push(b"\x50\x2A\x4D\x18\x03\0\0\0abc\x28\xB5\x2F\xFD\x20\x05\x29\0\x001 1:1".to_vec());
    all.push(b"\x28\xB5\x2F\xFD\x04\x58\x45\0\x001 1:1\n0\n\x12\x34\x56\x78".to_vec());
    all
}

fn cache_seeds() -> Vec<Vec<u8>> {
    let sources = [
        Source::bytes("t.svm", lines(libsvm_line)),
        Source::bytes("t.csv", read("table.csv")),
        Source::bytes("t.vw", lines(vw_line)),
        Source::bytes("t.svm", *b"a 1:1 300000:2\nb\na 5:1\n"),
    ];
    let cached = |source: &Source| {
        let mut writer = CacheWriter::new(Vec::new(), FINGERPRINT, "seed");
        let mut stream = blocks(source, &ReadOptions::as_stored()).unwrap();
        while let Some(block) = stream.next().unwrap() {
            writer.write(block).unwrap();
        }
        let labels: Labels = stream.labels().clone();
        writer.finish(&labels).unwrap()
    };
    sources.iter().map(cached).collect()
}

fn table_options(how: &mut ReadOptions, random: &mut Random) {
    how.header = [None, None, Some(true), Some(false)][random.below(4) as usize];
    how.missing = [Missing::Error, Missing::Mean, Missing::Zero, Missing::Drop][random.below(4) as usize];
    let labels =
        [LabelColumn::Guess, LabelColumn::Guess, LabelColumn::Absent, LabelColumn::Named("1".into())];
    how.label = labels[random.below(4) as usize].clone();
}

fn array_options(how: &mut ReadOptions, random: &mut Random) {
    how.missing = [Missing::Error, Missing::Zero, Missing::Drop][random.below(3) as usize];
    let labels = [LabelColumn::Guess, LabelColumn::Absent, LabelColumn::Named("-1".into())];
    how.label = labels[random.below(3) as usize].clone();
}

fn text_options(how: &mut ReadOptions, random: &mut Random) {
    let labels = [LabelColumn::Guess, LabelColumn::Absent, LabelColumn::Named("-1".into())];
    how.label = labels[random.below(3) as usize].clone();
    how.text_columns = [None, None, Some("1"), Some("text")][random.below(4) as usize]
        .into_iter()
        .map(str::to_owned)
        .collect();
    how.text = TextOptions {
        units: [Units::Words, Units::Characters][random.below(2) as usize],
        shortest: 1 + random.below(2) as usize,
        longest: 2 + random.below(3) as usize,
        weighting: [Weighting::Count, Weighting::Binary, Weighting::Frequency, Weighting::TfIdf]
            [random.below(4) as usize],
        unit_length: random.below(2) == 0,
        min_count: None,
        keep_names: random.below(2) == 0,
    };
}

const VW_SEED: &[u8] = b"1 2 0.5 'tag|user:2 age:0.3 male |item price:1e2 red red\n\
-1 | a b:2 c:-0.5\n1 1.5 |x y:3\n-1 0 't| a\n";

const LIBSVM: &[&[u8]] = &[
    b":",
    b" ",
    b"\n",
    b"#",
    b"qid:",
    b"1:1",
    b"0:",
    b"nan",
    b"inf",
    b"1e400",
    b"-",
    b"+",
    b".",
    b"e",
    b"4294967296:1",
    b"99999999999999999999",
    b"\r",
    b"\xC2\xA0",
    b"\0",
    b",",
    b"1e-400",
    b"-0.0",
    b"00000000",
    b"123456789",
    b"3.4028236e38",
    b"\xEF\xBB\xBF",
];

const CSV: &[&[u8]] = &[
    b",",
    b";",
    b"\t",
    b"|",
    b"\"",
    b"\"\"",
    b"\n",
    b"\r\n",
    b"\r",
    b"NA",
    b"?",
    b"nan",
    b"label",
    b"1e400",
    b"0x1",
    b"1_000",
    b"\xC2\xA0",
    b"\0",
    b"\xFF",
    b"0.1",
    b"-",
    b"\"\n\"",
    b" ",
    b"\xEF\xBB\xBF",
    b"3e38",
];

const TEXT: &[&[u8]] = &[
    b"\t",
    b"\n",
    b"\r\n",
    b" ",
    b"\"",
    b"label\ttext\n",
    b"From: a\nTo: b\n\n",
    b"Subject: ",
    b"\xFF",
    b"\0",
    b"'",
    b"\xE2\x80\x99",
    b"1.5",
    b"\xC2\xA3",
    b"\xE2\x80\x8B",
    b"\xCC\x81",
    b"\xF0\x9F\x91\x8D",
    b"\xE6\x88\x91",
    b"\xC4\xB0",
    b"_",
    b"nan",
    b"\xEF\xBB\xBF",
    b"\xE1\xBA\x9E",
];

const JSON: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\uD83D\\uDC4D",
    b"\\uD83D",
    b"null",
    b"true",
    b"NaN",
    b"1e400",
    b"-0",
    b"\"label\":",
    b"{\"1\":2}",
    b"[1,2]",
    b"[[[[[[[[",
    b"{\"a\":{\"a\":",
    b"\n",
    b" ",
    b"\0",
    b"\xFF",
    b"\"\":",
    b"0.1",
    b"Infinity",
];

const VW: &[&[u8]] = &[
    b"|",
    b" |",
    b":",
    b" ",
    b"\n",
    b"'",
    b"'tag",
    b"|a:0",
    b" b:1e400",
    b"nan",
    b"-1",
    b"0",
    b"\t",
    b"\r",
    b"\0",
    b"\xFF",
    b"a:1:2",
    b":1",
    b"||",
    b"1,2",
    b"1:0.5:0.3",
];

const NUMPY: &[&[u8]] = &[
    b"\x93NUMPY",
    b"'descr':",
    b"'<f8'",
    b"'>f4'",
    b"'|S3'",
    b"'<U2'",
    b"'|O'",
    b"'fortran_order': True",
    b"'shape': (",
    b"(2, 3), ",
    b"(18446744073709551615,)",
    b"(0,)",
    b"()",
    b"(1, 1, 1)",
    b"\x01\0",
    b"\x02\0",
    b"\xFF\xFF\xFF\xFF",
    b"'<i1'",
    b"'|b1'",
];

const CONLL: &[u8] = b"He PRP B-NP\nran VBD B-VP\n\n-DOCSTART- -X- O\n\n\xC3\x84tna\tNNP\tB-NP\n. . O\n";

const CONLLU: &[u8] = b"# sent_id = 1\n# text = don't\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdo\tdo\tAUX\tVB\t_\t0\troot\t_\t_\n2\tn't\tnot\tPART\t_\t_\t1\tadvmod\t_\t_\n2.1\tgo\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n1\tYes\tyes\tINTJ\t_\t_\t_\t_\t_\t_\n";

const ITEMS: &[u8] = b"N\tw=a\\:b:0.5\tcap\tw=\\\\\nV\tbias:1e3\n\nN\tx\t__BOS__\n";

const TOKEN_LISTS: &[u8] = b"{\"tokens\": [\"He\", \"r\\u00fcns\"], \"tags\": [\"PRP\", \"VBZ\"]}\n{\"tokens\":[\"go\"],\"tags\":[\"VB\"],\"id\":1}\n";

const PLAIN_TEXT: &[u8] =
    b"Don't go (now), Mr. O'Neil's cat said: \"U.S.A.!\"\n\n\xE2\x80\x94 3.5 % of $12,000\n";

const SENTENCES: &[&[u8]] = &[
    b"\n",
    b"\n\n",
    b"\r\n",
    b"\t",
    b"\t\t",
    b" ",
    b"  ",
    b"#",
    b"# x\n",
    b"_",
    b"1-2\t",
    b"1.1\t",
    b"0",
    b"99999999999999999999\t",
    b":",
    b":1e400",
    b":-0",
    b"\\",
    b"\\:",
    b"\0",
    b"\xFF",
    b"\xEF\xBB\xBF",
    b"\xE3\x80\x80",
    b"\xC2\xA0",
    b"\xE2\x80\x99s",
    b"B-",
    b"-",
    b"O",
    b".",
    b"n't",
];
