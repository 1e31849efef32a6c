//! The model file: what is saved comes back, and what was cut, changed or made up is refused.

use rosenblatt::kernel::Setting;
use rosenblatt::learning::{Random, Readout};
use rosenblatt::model::FormatError;
use rosenblatt::options::Classes;
use rosenblatt::options::{KernelOptions, Mapping};
use rosenblatt::{Dataset, Model, Options, Spec, train};
use std::fs;

fn data() -> Dataset {
    let mut random = Random::new(3);
    let rows: Vec<[f64; 5]> = (0..90).map(|_| std::array::from_fn(|_| random.unit() - 0.5)).collect();
    let names: Vec<&str> = rows
        .iter()
        .map(|row| {
            if row[0] > 0.1 {
                "a"
            } else if row[1] > 0.0 {
                "b"
            } else {
                "c"
            }
        })
        .collect();
    Dataset::from_rows(&rows, &names)
        .with_feature_names(["v", "w", "x", "y", "z"].map(str::to_owned).to_vec())
}

/// One model of every kind: planes and votes, independent and joint, without and with a kernel, after every
/// map.
fn models() -> Vec<Model> {
    let kinds = [
        (Readout::Last, Classes::OneVsRest),
        (Readout::Voted, Classes::OneVsOne),
        (Readout::Voted, Classes::Direct(rosenblatt::learning::Share::Uniform)),
        (Readout::Pocket, Classes::OneVsRest),
    ];
    let model = |(readout, multiclass, kernel): (Readout, Classes, Option<&str>)| {
        let kernel = kernel.map(|name| KernelOptions { name: name.to_owned(), ..KernelOptions::default() });
        let readout = Some(readout);
        let spec = Spec::new(Options { readout, multiclass, kernel, epochs: 2, ..Options::default() });
        train(&spec.unwrap(), &data()).unwrap()
    };
    let plain = kinds.into_iter().map(|(readout, multiclass)| (readout, multiclass, None));
    let with_kernel = [
        (Readout::Last, Classes::OneVsRest, Some("rbf")),
        (Readout::Voted, Classes::OneVsOne, Some("polynomial")),
        (Readout::Voted, Classes::Direct(rosenblatt::learning::Share::Max), Some("laplacian")),
        (Readout::Random, Classes::OneVsRest, Some("cosine")),
    ];
    let behind_map = |name: &str| {
        let gamma = Setting::Number(1.0);
        let params = [("gamma".to_owned(), gamma)].into_iter().filter(|_| name == "sketch").collect();
        let map = Some(Mapping { name: name.to_owned(), size: 16, params, ..Mapping::default() });
        train(&Spec::new(Options { map, epochs: 2, ..Options::default() }).unwrap(), &data()).unwrap()
    };
    let maps = ["fourier", "sketch", "nystroem"].map(behind_map);
    plain.chain(with_kernel).map(model).chain(maps).collect()
}

/// A model that is whole but for a word of its header, which was replaced by another of the same length.
fn lie(bytes: &[u8], from: &str, to: &str) -> String {
    assert_eq!(from.len(), to.len());
    let place = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    let mut lying = bytes.to_vec();
    lying[place..place + to.len()].copy_from_slice(to.as_bytes());
    rosenblatt::model::model_checksum(&mut lying);
    Model::from_bytes(&lying).unwrap_err().to_string()
}

#[test]
fn what_is_saved_comes_back_and_is_saved_alike() {
    let data = data();
    for model in models() {
        let bytes = model.to_bytes();
        let again = Model::from_bytes(&bytes).unwrap();
        assert_eq!(again.to_bytes(), bytes);
        assert_eq!(again.predict_all(&data).unwrap(), model.predict_all(&data).unwrap());
        assert_eq!(again.feature_names(), model.feature_names());
        assert_eq!(again.training_summary(), model.training_summary());
    }
}

#[test]
fn every_truncation_and_anything_appended_is_refused() {
    for model in models() {
        let bytes = model.to_bytes();
        for length in 0..bytes.len() {
            assert!(Model::from_bytes(&bytes[..length]).is_err(), "cut to {length} bytes");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(matches!(Model::from_bytes(&longer), Err(FormatError::Length { .. })));
        assert!(Model::from_bytes(&[bytes.clone(), bytes].concat()).is_err());
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let bytes = models()[0].to_bytes();
    let mut random = Random::new(1);
    for _ in 0..10_000 {
        let mut flipped = bytes.clone();
        let place = random.below(bytes.len() as u64) as usize;
        flipped[place] ^= 1 << random.below(8);
        assert!(Model::from_bytes(&flipped).is_err(), "a bit of byte {place}");
    }
}

#[test]
fn hostile_lengths_allocate_nothing() {
    let bytes = models()[0].to_bytes();
    for place in (0..bytes.len().min(512)).step_by(4) {
        for hostile in [u64::from(u32::MAX), i64::MAX as u64, 1 << 30] {
            let mut lying = bytes.clone();
            let value = hostile.to_le_bytes();
            let n = value.len().min(lying.len() - place);
            lying[place..place + n].copy_from_slice(&value[..n]);
            if lying != bytes {
                assert!(Model::from_bytes(&lying).is_err(), "{hostile} at {place}");
            }
        }
    }
}

#[test]
fn strangers_are_told_apart() {
    for stranger in [&b""[..], b"RB", b"\x80\x04\x95pickle", b"\x1f\x8b\x08\x00", &[b'['; 10_000], &[0; 100]]
    {
        let error = Model::from_bytes(stranger).unwrap_err();
        assert!(matches!(error, FormatError::NotAModel | FormatError::Length { .. }), "{error}");
    }
    let mut newer = models()[0].to_bytes();
    newer[8] = 3;
    let error = Model::from_bytes(&newer).unwrap_err().to_string();
    assert!(error.contains("version 3") && error.contains("up to 2"), "{error}");
}

#[test]
fn a_whole_file_that_says_what_cannot_be_is_refused() {
    // The header is text, so it can be falsified at the same length; the checksum is then made right.
    let bytes = models()[0].to_bytes();
    let lie = |from: &str, to: &str| lie(&bytes, from, to);
    assert!(lie("\"width\":5", "\"width\":9").contains("not as many weights"));
    assert!(lie("\"outputs\":3", "\"outputs\":2").contains("need 3 outputs"));
    assert!(lie("\"a\",\"b\",\"c\"", "\"a\",\"a\",\"c\"").contains("two different classes"));
    assert!(lie("perceptron", "percebtron").contains("no algorithm"));
    assert!(lie("\"name\":\"weights\"", "\"name\":\"heights\"").contains("heights"));
    let mut not_a_number = bytes.clone();
    let end = not_a_number.len();
    not_a_number[end - 8..].copy_from_slice(&f64::NAN.to_le_bytes());
    rosenblatt::model::model_checksum(&mut not_a_number);
    assert!(Model::from_bytes(&not_a_number).unwrap_err().to_string().contains("NaN"));
}

#[test]
fn a_map_that_cannot_be_is_refused() {
    let models = models();
    let [fourier, sketch, nystroem] =
        models.last_chunk().unwrap().each_ref().map(|model: &Model| model.to_bytes());
    assert!(lie(&fourier, "\"size\":16", "\"size\":17").contains("not as wide as its hypothesis"));
    assert!(lie(&fourier, "\"name\":\"fourier\"", "\"name\":\"furrier\"").contains("one of fourier"));
    assert!(lie(&fourier, "\"landmarks\":false", "\"landmarks\":true ").contains("landmark-offsets"));
    assert!(lie(&sketch, "\"size\":16", "\"size\":15").contains("power of two"));
    assert!(lie(&sketch, "\"gamma\":1.0", "\"gamma\":-10").contains("positive number"));
    assert!(lie(&nystroem, "\"landmarks\":true", "\"landmarks\":null").contains("its header"));
    assert!(lie(&nystroem, "\"map\":{\"width\":5", "\"map\":{\"width\":2").contains("do not fit together"));
    assert!(lie(&nystroem, "\"size\":16", "\"size\":15").contains("more landmarks than were asked for"));
    // The last array is the factor; what it divides by must be positive.
    let mut divides_by_nothing = nystroem;
    let end = divides_by_nothing.len();
    divides_by_nothing[end - 8..].copy_from_slice(&0_f64.to_le_bytes());
    rosenblatt::model::model_checksum(&mut divides_by_nothing);
    let message = Model::from_bytes(&divides_by_nothing).unwrap_err().to_string();
    assert!(message.contains("the factor does not fit"), "{message}");
}

#[test]
fn saving_replaces_in_one_step_and_cleans_up() {
    let folder = std::env::temp_dir().join(format!("rosenblatt-model-file-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("m.model");
    for model in models() {
        model.save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap().to_bytes(), model.to_bytes());
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no temporary file stays");
    let refused = Model::load(folder.join("none.model")).unwrap_err().to_string();
    assert!(refused.contains("none.model"), "{refused}");
    let unwritable = models()[0].save(folder.join("no/such/folder/m.model")).unwrap_err().to_string();
    assert!(unwritable.contains("no file can be made"), "{unwritable}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn models_of_the_first_version_are_read() {
    // Trained by the program as it was then, on `crates/data/tests/data/table.csv` and `table.svm`.
    let planes = include_bytes!("fixtures/version-1/planes.model");
    let votes = include_bytes!("fixtures/version-1/votes.model");
    for (bytes, classes, width) in [(&planes[..], ["ant", "bee", "cow"], 5), (votes, ["0", "1", "2"], 5)] {
        assert_eq!(bytes[8], 1);
        let model = Model::from_bytes(bytes).unwrap();
        assert_eq!((model.labels().names(), model.width()), (&classes.map(str::to_owned)[..], width));
        assert_eq!((model.data_fingerprint(), model.date()), (None, None));
        // Written anew it is of this version, and still says nothing that it does not know.
        let again = model.to_bytes();
        assert_eq!(again[8], 2);
        assert_eq!(Model::from_bytes(&again).unwrap().to_bytes(), again);
    }
    let model = Model::from_bytes(planes).unwrap();
    let scaler = model.schema().unwrap().scaler.as_ref().unwrap();
    assert_eq!(scaler.shift[0], -0.25);
    assert_eq!(model.predict(&[0.5, -0.5, 0.1, 0.2, -1.4]).unwrap(), "ant");
}

#[test]
fn where_a_model_comes_from_is_kept() {
    let spec = Spec::default();
    let rows = [[1.0, 0.0], [0.0, -2.0]];
    let model = train(&spec, &Dataset::from_rows(&rows, &["b", "a"])).unwrap();
    // As FORMAT.md has it, by hand.
    let digest = |words: &[u64], lanes: &[u64; 8]| {
        let (mut first, mut second) = (0x243F_6A88_85A3_08D3_u64, 0x1319_8A2E_0370_7344_u64);
        for word in words.iter().chain(lanes).chain(&[0, 1, 2, 3]) {
            first = (first ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            second = second.wrapping_add(*word).wrapping_mul(0xBF58_476D_1CE4_E5B9).rotate_left(37);
        }
        [first ^ second.rotate_left(32), second]
    };
    let mut lanes = [0, 1, 2, 3, 4, 5, 6, 7];
    let name = |name: u8| digest(&[u64::from(name), 1], &lanes)[0];
    let one = 1.0_f64.to_bits();
    let words = [1, name(b'b'), one, 1, name(b'a'), one];
    for (feature, value) in [(0_u64, 1.0_f64), (1, -2.0)] {
        let word = lanes[0] ^ value.to_bits() ^ (feature + 1);
        lanes[0] = word.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
    let [first, second] = digest(&words, &lanes);
    assert_eq!(model.data_fingerprint(), Some(format!("{first:016x}{second:016x}").as_str()));
    assert_eq!(model.date(), None);

    let dated = model.clone().dated("2026-11-15T10:20:30Z".parse().unwrap());
    let bytes = dated.to_bytes();
    let again = Model::from_bytes(&bytes).unwrap();
    assert_eq!((again.data_fingerprint(), again.date()), (model.data_fingerprint(), dated.date()));
    assert_eq!(again.to_bytes(), bytes);
    for (from, to, complaint) in [
        ("2026-11-15", "2026-11-31", "a date should"),
        ("fingerprint\":\"", "fingerprint\":\"x", "32 hexadecimal digits"),
    ] {
        let place = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        let mut lying = bytes.clone();
        lying[place..place + to.len()].copy_from_slice(to.as_bytes());
        rosenblatt::model::model_checksum(&mut lying);
        let error = Model::from_bytes(&lying).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
}
