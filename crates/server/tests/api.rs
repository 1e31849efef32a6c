//! Every path and every body, as the documentation has them.

use crate::bench::{Answer, Bench, PETS, ask, model_of, perceptron, pets};
use rosenblatt::data::{LabelColumn, ReadOptions, Source, load_source};
use rosenblatt::recipe::Plan;
use rosenblatt::tagger::{Judging, TaggerOptions, TaggerTraining};
use rosenblatt::{Error, Model, Options, Task};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn classes(answer: &Answer) -> Vec<String> {
    let value = answer.value();
    let all = value["predictions"].as_array().unwrap();
    all.iter().map(|one| one["class"].as_str().unwrap_or("null").to_owned()).collect()
}

/// Asks again until something is so.
pub(crate) fn soon(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_body_gives_the_same_classes() {
    let bench = Bench::new(&[("pets", pets())]);
    let path = "/v1/models/pets/predict";
    for body in [
        r#"{"rows": [{"legs": 4, "weight": 4}, {"weight": 0.1, "legs": 2}]}"#,
        r#"[{"legs": 4, "weight": 4}, {"legs": 2, "weight": 0.1}]"#,
        "{\"rows\": [[4, 4],\n [2, 0.1]]}",
    ] {
        let answer = bench.json(path, body).ok();
        assert_eq!(classes(&answer), ["cat", "bird"], "{body}");
        assert_eq!(
            (answer.value()["version"].as_u64(), answer.value()["learned"].as_u64()),
            (Some(1), Some(0))
        );
    }
    assert_eq!(classes(&bench.json(path, r#"{"legs": 2, "weight": 0.2}"#).ok()), ["bird"]);
    let csv = "weight,legs\n4,4\n0.1,2\n";
    assert_eq!(classes(&bench.post(path, "text/csv", csv).ok()), ["cat", "bird"]);
    let lines = "{\"legs\": 4, \"weight\": 4}\n{\"legs\": 2, \"weight\": 0.1}\n";
    let streamed = bench.post(path, "application/x-ndjson", lines).ok();
    assert_eq!(streamed.text(), "{\"class\":\"cat\"}\n{\"class\":\"bird\"}\n");
    // Packed, both ways.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(csv.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::bulk::compress(csv.as_bytes(), 1).unwrap();
    for (name, body) in [("gzip", gzip), ("zstd", zstd)] {
        let headers = [("content-type", "text/csv"), ("content-encoding", name)];
        assert_eq!(
            classes(&ask(bench.address, "POST", path, &headers, &body).ok()),
            ["cat", "bird"],
            "{name}"
        );
    }
    let many = format!("legs,weight\n{}", "4,4\n".repeat(1000));
    let headers = [("content-type", "text/csv"), ("accept-encoding", "gzip")];
    let packed = ask(bench.address, "POST", path, &headers, many.as_bytes()).ok();
    assert!(packed.head.contains("content-encoding: gzip") && packed.body.len() < 2000, "{}", packed.head);
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("cat").count(), 1000);
    // Other forms of answers.
    let headers = [("content-type", "text/csv"), ("accept", "text/csv")];
    let answer = ask(bench.address, "POST", &format!("{path}?scores"), &headers, csv.as_bytes()).ok();
    assert!(answer.text().starts_with("class,score\ncat,"), "{}", answer.text());
    let headers = [("content-type", "text/csv"), ("accept", "application/vnd.apache.arrow.stream")];
    let arrow = ask(bench.address, "POST", path, &headers, csv.as_bytes()).ok();
    let reader = arrow_ipc::reader::StreamReader::try_new(&arrow.body[..], None).unwrap();
    let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 2);
}

#[test]
fn arrow_goes_in_as_it_comes_out() {
    use arrow_array::{Float64Array, RecordBatch};
    use std::sync::Arc;
    let bench = Bench::new(&[("pets", pets())]);
    let legs: arrow_array::ArrayRef = Arc::new(Float64Array::from(vec![4.0, 2.0]));
    let weight: arrow_array::ArrayRef = Arc::new(Float64Array::from(vec![4.0, 0.1]));
    let batch = RecordBatch::try_from_iter([("legs", legs), ("weight", weight)]).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    let answer = bench.post("/v1/models/pets/predict", "application/vnd.apache.arrow.stream", bytes).ok();
    assert_eq!(classes(&answer), ["cat", "bird"]);
}

#[test]
fn texts_and_pictures_are_bodies_too() {
    let sms = model_of("sms-spam.tsv", perceptron());
    let rows = "P2\n2 2\n255\n0 0 255 255\n";
    let folder = tempfile::tempdir().unwrap();
    for (class, picture) in [("low", rows), ("high", "P2\n2 2\n255\n255 255 0 0\n")] {
        std::fs::create_dir(folder.path().join(class)).unwrap();
        for number in 0..3 {
            std::fs::write(folder.path().join(class).join(format!("{number}.pgm")), picture).unwrap();
        }
    }
    let source = Source::find(folder.path()).unwrap();
    let bench =
        Bench::new(&[("sms", sms), ("pictures", crate::bench::model_of_source(&source, perceptron()))]);
    let texts = ["WIN a FREE prize, txt now", "see you at home"];
    let answer = bench.post("/v1/models/sms/predict", "text/plain", texts.join("\n")).ok();
    assert_eq!(classes(&answer), ["spam", "ham"]);
    let answer = bench.json("/v1/models/sms/predict", &serde_json::to_string(&texts).unwrap()).ok();
    assert_eq!(classes(&answer), ["spam", "ham"]);
    let why = bench.post("/v1/models/sms/explain?top=2", "text/plain", texts[0]).ok().value();
    assert_eq!(why["predictions"][0]["for"].as_array().unwrap().len(), 2);
    let answer = bench.post("/v1/models/pictures/predict", "image/x-portable-anymap", rows).ok();
    assert_eq!(classes(&answer), ["low"]);
}

#[test]
fn problems_say_what_and_where_and_what_to_do() {
    let bench = Bench::with(&[("pets", pets())], |config| {
        config.limits.body_bytes = 10_000;
        config.limits.rows = 100;
    });
    let predict = "/v1/models/pets/predict";
    let learn = "/v1/models/pets/learn";
    for (path, kind, body, status, code) in [
        (predict, "application/json", "{\"rows\": [", 400, "bad-body"),
        (predict, "application/json", "", 400, "bad-body"),
        (predict, "application/json", "{\"rows\": []}", 422, "bad-rows"),
        (predict, "application/json", "{\"rows\": [[1, 2, 3]]}", 422, "bad-rows"),
        (predict, "application/json", "{\"rows\": [{\"legs\": \"many\", \"weight\": 1}]}", 422, "bad-rows"),
        (predict, "application/json", "[[1e400, 1]]", 422, "bad-rows"),
        (predict, "application/json", "[[NaN, 1]]", 400, "bad-body"),
        (predict, "application/json", "[1, 2, 3]", 422, "bad-rows"),
        (predict, "application/json", "{\"rows\": [1, 2]}", 422, "bad-rows"),
        (predict, "application/json", "[1, [1, 2]]", 422, "bad-rows"),
        (predict, "application/x-yaml", "a: 1", 415, "unknown-type"),
        (predict, "application/x-www-form-urlencoded", "a=1", 415, "unknown-type"),
        ("/v1/models/pets/predict?scored", "application/json", "[[1, 2]]", 400, "bad-request"),
        ("/v1/models/pets/predict?probabilities", "application/json", "[[1, 2]]", 422, "not-calibrated"),
        ("/v1/models/dogs/predict", "application/json", "[[1, 2]]", 404, "no-model"),
        ("/v1/nothing", "application/json", "", 404, "no-route"),
        ("/v1/models", "application/json", "", 405, "wrong-method"),
        (learn, "text/csv", "legs,weight\n4,4\n", 422, "bad-rows"),
        (learn, "application/json", "{\"rows\": [[4, 4]], \"labels\": []}", 422, "bad-rows"),
    ] {
        let answer = bench.post(path, kind, body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{path} {body}: {}",
            answer.text()
        );
        assert!(answer.head.contains("application/problem+json"), "{}", answer.head);
    }
    let answer = bench.post(predict, "text/csv", "legs,weight\n4,4\n2,x\n");
    let value = answer.value();
    assert_eq!((value["line"].as_u64(), value["column"].as_u64()), (Some(3), Some(3)), "{value}");
    let long = format!("legs,weight\n{}", "4,4\n".repeat(101));
    assert_eq!(bench.post(predict, "text/csv", &long).code(), "limit");
    assert_eq!(bench.post(predict, "text/csv", vec![b'x'; 20_000]).code(), "too-large");
    let bomb = zstd::bulk::compress(&vec![b' '; 1 << 24], 1).unwrap();
    assert!(bomb.len() < 10_000);
    assert_eq!(bench.post(predict, "text/csv", bomb).code(), "too-large");
    // Nothing was learned from any row of a request that is wrong.
    let answer = bench.post(learn, "text/csv", "legs,weight,label\n4,4,cat\n2,x,bird\n");
    assert_eq!(answer.code(), "bad-rows");
    assert_eq!(bench.get("/v1/models/pets/evaluate").ok().value()["learned"], 0);
    // A line in the middle of a stream is named by its number.
    let lines = "{\"legs\": 4, \"weight\": 4}\n{\"legs\": 4, \"weight\": }\n";
    let answer = bench.post(predict, "application/x-ndjson", lines).text();
    assert!(answer.contains("\"problem\"") && answer.contains("\"line\":2"), "{answer}");
}

#[test]
fn what_is_learned_is_what_offline_training_gives() {
    let base = pets();
    let bench = Bench::new(&[("pets", base.clone())]);
    let rows = ["4,5,cat", "2,0.3,bird", "0,9,fish", "0,8,fish", "4,1,cat", "2,3,bird"];
    for (place, row) in rows.iter().enumerate() {
        let key = format!("key-{place}");
        let headers = [("content-type", "text/csv"), ("idempotency-key", key.as_str())];
        let body = format!("legs,weight,label\n{row}\n");
        for turn in 0..2 {
            let answer =
                ask(bench.address, "POST", "/v1/models/pets/learn", &headers, body.as_bytes()).ok().value();
            assert_eq!(
                (answer["learned"].as_u64(), answer["repeated"].as_bool()),
                (Some(place as u64 + 1), Some(turn > 0))
            );
        }
    }
    let headers = [("content-type", "text/csv"), ("idempotency-key", "key-0")];
    let other =
        ask(bench.address, "POST", "/v1/models/pets/learn", &headers, b"legs,weight,label\n1,1,cat\n");
    assert_eq!((other.status, other.code().as_str()), (409, "key-reused"));
    let file = bench.get("/v1/models/pets/file").ok().body;
    let recipe = rosenblatt::Recipe {
        online: true,
        reading: ReadOptions { grow_classes: true, ..ReadOptions::default() },
        start: Some(Model::from_bytes(&base).unwrap().into()),
        ..rosenblatt::Recipe::default()
    };
    let all = format!("legs,weight,label\n{}\n", rows.join("\n"));
    let offline = recipe.train(&Source::bytes("all.csv", all.into_bytes()), &mut ()).unwrap().model;
    assert!(file == offline.to_bytes(), "the same bits");
    soon("the new class is named", || {
        classes(&bench.json("/v1/models/pets/predict", "[[0, 9]]").ok()) == ["fish"]
    });
    soon("all are published", || bench.get("/v1/models/pets/evaluate").ok().value()["learned"] == 6);
    let printed = bench.get("/v1/models/pets/evaluate").ok().value();
    assert!(printed["progressive-error"].as_f64().unwrap() > 0.0);
    let measured = bench.post("/v1/models/pets/evaluate", "text/csv", PETS).ok().value();
    assert_eq!((measured["rows"].as_u64(), measured["classes"].as_array().unwrap().len()), (Some(6), 3));
}

#[test]
fn versions_come_and_go() {
    let (first, second) = (pets(), model_of("iris.csv", perceptron()));
    let mut bench = Bench::new(&[("m", first.clone())]);
    bench.post("/v1/models/m/learn", "text/csv", "legs,weight,label\n0,9,fish\n").ok();
    let kept = bench.json("/v1/models/m/versions", "").ok();
    assert_eq!((kept.status, kept.value()["version"].as_u64()), (201, Some(2)));
    // What learned nothing since is not copied; another way to learn is another version.
    for body in ["", "{}"] {
        let same = bench.json("/v1/models/m/versions", body).ok();
        assert_eq!((same.status, same.value()["version"].as_u64()), (200, Some(2)), "{body}");
    }
    assert_eq!(bench.get("/v1/models/m/versions").ok().value()["versions"].as_array().unwrap().len(), 2);
    let learned = bench.get("/v1/models/m/versions/2/file").ok().body;
    assert_eq!(Model::from_bytes(&learned).unwrap().labels().len(), 3);
    // A file that is replaced is a new version.
    std::fs::write(bench.folder.join("m.model"), &second).unwrap();
    soon("it is taken in", || bench.get("/v1/models/m").ok().value()["version"] == 3);
    assert_eq!(bench.get("/v1/models/m/file").ok().body, second);
    // So is one that is sent, and an old one that is gone back to.
    let answer = ask(bench.address, "PUT", "/v1/models/other", &[], &first).ok();
    assert_eq!((answer.status, answer.value()["version"].as_u64()), (201, Some(1)));
    assert_eq!(bench.json("/v1/models/m/versions", "{\"of\": 1}").ok().value()["version"], 4);
    assert_eq!(bench.get("/v1/models/m/file").ok().body, first);
    assert_eq!(bench.json("/v1/models/m/versions", "{\"of\": 9}").code(), "no-version");
    assert_eq!(ask(bench.address, "PUT", "/v1/models/m", &[], b"no model").code(), "bad-body");
    // The file that was gone back from is served again once it is sent again, and what is served makes no version.
    for _ in 0..2 {
        assert_eq!(ask(bench.address, "PUT", "/v1/models/m", &[], &second).ok().value()["version"], 5);
        assert_eq!(bench.get("/v1/models/m/file").ok().body, second);
    }
    assert_eq!(bench.json("/v1/models/m/versions", "{\"of\": 1}").ok().value()["version"], 6);
    assert_eq!(bench.get("/v1/models").ok().value()["models"].as_array().unwrap().len(), 2);
    // All of it is there after a restart.
    bench.stop();
    let bench = Bench::at(&bench.folder, |_| {});
    let all = bench.get("/v1/models/m/versions").ok().value();
    assert_eq!((all["current"].as_u64(), all["versions"].as_array().unwrap().len()), (Some(6), 6));
    assert_eq!(bench.get("/v1/models/m/file").ok().body, first);
    // A file that is gone is served no more.
    std::fs::remove_file(bench.folder.join("m.model")).unwrap();
    soon("it is gone", || bench.get("/v1/models/m").status == 404);
}

#[test]
fn models_without_weights_go_on_from_nothing_if_asked() {
    let voted = Options { readout: Some("voted".parse().unwrap()), ..perceptron() };
    let source = Source::bytes("pets.csv", PETS.as_bytes());
    let bench = Bench::new(&[("pets", crate::bench::model_of_source(&source, voted))]);
    let answer = bench.post("/v1/models/pets/learn", "text/csv", PETS);
    assert_eq!((answer.status, answer.code().as_str()), (409, "cannot-learn"), "{}", answer.text());
    bench
        .json(
            "/v1/models/pets/versions",
            "{\"of\": 1, \"blank\": true, \"learning\": {\"algorithm\": \"pa1\"}}",
        )
        .ok();
    let learned = bench.post("/v1/models/pets/learn", "text/csv", PETS).ok().value();
    assert_eq!(learned["learned"], 6);
    soon("it is published", || {
        bench.get("/v1/models/pets").ok().value()["summary"]["spec"]["algorithm"] == "pa1"
    });
}

#[test]
fn models_that_keep_every_update_have_a_limit_and_those_with_a_budget_need_none() {
    let bench = Bench::with(&[("pets", pets())], |config| config.limits.updates = 6);
    let begin = |learning: &str| {
        let body = format!("{{\"of\": 1, \"blank\": true, \"learning\": {learning}}}");
        bench.json("/v1/models/pets/versions", &body).ok();
    };
    let learn = || bench.post("/v1/models/pets/learn", "text/csv", PETS);
    let kernel = "\"kernel\": {\"name\": \"rbf\", \"params\": {\"gamma\": 1}";
    for growing in ["{\"readout\": \"voted\"}".to_owned(), format!("{{{kernel}}}}}")] {
        begin(&growing);
        learn().ok();
        let refused = std::iter::repeat_with(learn).take(9).find(|answer| answer.status != 200).unwrap();
        assert_eq!((refused.status, refused.code().as_str()), (507, "full"), "{growing}");
        assert!(refused.text().contains("--max-updates"), "{}", refused.text());
        bench.json("/v1/models/pets/predict", "[[4, 4]]").ok();
    }
    for bounded in ["{\"algorithm\": \"arow\"}".to_owned(), format!("{{{kernel}, \"budget\": 3}}}}")] {
        begin(&bounded);
        for _ in 0..9 {
            learn().ok();
        }
        let answer = bench.json("/v1/models/pets/predict", "[[4, 4]]").ok().value();
        assert_eq!(answer["predictions"][0]["class"], "cat", "{bounded}");
    }
}

/// The rows of `source`, learned with a part of them held out, so that there are probabilities.
fn calibrated(source: &Source) -> Vec<u8> {
    let recipe = rosenblatt::Recipe {
        learning: perceptron().into(),
        choice: rosenblatt::recipe::Choice::Given,
        ..rosenblatt::Recipe::default()
    };
    recipe.train(source, &mut ()).unwrap().model.to_bytes()
}

#[test]
fn a_model_that_has_learned_says_where_its_probabilities_went() {
    let iris = calibrated(&Source::file(crate::bench::bundled("iris.csv")));
    let bench = Bench::new(&[("iris", iris), ("pets", pets())]);
    let (row, asked) = ("[5.1, 3.5, 1.4, 0.2]", "/v1/models/iris/predict?probabilities");
    bench.json(asked, row).ok();
    let never = bench.json("/v1/models/pets/predict?probabilities", "[4, 4]").value();
    assert!(never["help"].as_str().unwrap().contains("?scores"), "{never}");
    let rows = r#"{"rows": [[5.1, 3.5, 1.4, 0.2], [5, 3, 1, 0.1]], "labels": ["setosa", "setosa"]}"#;
    bench.json("/v1/models/iris/learn", rows).ok();
    soon("two examples are learned", || bench.json(asked, row).status != 200);
    let refused = bench.json(asked, row).value();
    assert_eq!(refused["code"], "not-calibrated");
    assert!(refused["detail"].as_str().unwrap().contains("has learned 2 examples online since"), "{refused}");
    let help = refused["help"].as_str().unwrap();
    assert!(help.contains("?scores") && help.contains("{\"of\": 1}"), "{help}");
    // Both cures help.
    bench.json("/v1/models/iris/predict?scores", row).ok();
    bench.json("/v1/models/iris/versions", "{\"of\": 1}").ok();
    bench.json(asked, row).ok();
}

#[test]
fn a_list_with_numbers_is_one_row() {
    let bench = Bench::new(&[("pets", pets()), ("sms", model_of("sms-spam.tsv", perceptron()))]);
    let scored = |body: &str| bench.json("/v1/models/pets/predict?scores", body).ok().value();
    assert_eq!(scored("[4, 3.5]"), scored("[[4, 3.5]]"));
    assert_eq!(scored(" [-4,\n1e1 ] "), scored("[[-4, 10]]"));
    // Texts are rows each, and a row of texts and lists is none.
    assert_eq!(classes(&bench.json("/v1/models/sms/predict", r#"["see you", "5"]"#).ok()).len(), 2);
    let wrong = bench.json("/v1/models/pets/predict", "{\"rows\": [4, 3.5]}").value();
    assert!(wrong["detail"].as_str().unwrap().contains("another pair of brackets"), "{wrong}");
}

#[test]
fn cures_can_be_followed_over_http() {
    let iris = calibrated(&Source::file(crate::bench::bundled("iris.csv")));
    let bench = Bench::new(&[("iris", iris), ("sms", model_of("sms-spam.tsv", perceptron()))]);
    for (path, kind, body, cure) in [
        ("iris/predict", "application/json", "[5.1, null, 1.4, 0.2]", "send the value, or train"),
        ("iris/predict", "text/csv", "5.1,3.5,1.4,0.2\n", "send a header line first"),
        ("sms/predict", "text/csv", "a,b\nfree,prize\n", "send it with `content-type: text/plain`"),
        ("iris/learn", "text/csv", "5.1,3.5,1.4,0.2,setosa\n", "send"),
    ] {
        let answer = bench.post(&format!("/v1/models/{path}"), kind, body).value();
        let help = answer["help"].as_str().unwrap_or_default();
        assert!(help.contains(cure), "{path} {body}: {answer}");
        // No option is set over HTTP; one of the command line is named with its dashes.
        assert!(!help.contains(" = "), "{answer}");
    }
    let headers = [("host", "models.example"), ("content-type", "application/json")];
    let foreign = ask(bench.address, "GET", "/v1/models", &headers, b"").value();
    assert!(foreign["help"].as_str().unwrap().contains("--host NAME"), "{foreign}");
}

#[test]
fn a_receipt_tells_of_its_request_and_of_all() {
    let mut bench = Bench::new(&[("pets", pets())]);
    let learn = |bench: &Bench, key: &str, row: &str| {
        let headers = [("content-type", "text/csv"), ("idempotency-key", key)];
        let body = format!("legs,weight,label\n{row}\n");
        ask(bench.address, "POST", "/v1/models/pets/learn", &headers, body.as_bytes()).ok().value()
    };
    let counts = |printed: &Value| {
        ["rows", "errors", "learned", "errors-so-far"].map(|name| printed[name].as_u64().unwrap())
    };
    // A class that was never seen is always predicted wrongly at first.
    let first = learn(&bench, "a", "0,9,fish\n0,8,newt");
    assert_eq!(counts(&first), [2, 2, 2, 2], "{first}");
    let right = learn(&bench, "b", "4,3.5,cat");
    let wrong = learn(&bench, "c", "0,7,frog");
    assert_eq!(counts(&wrong)[..3], [1, 1, 4], "{wrong}");
    assert_eq!(counts(&wrong)[3], 3 + counts(&right)[1], "{wrong}");
    // The same after a restart, from the snapshot.
    let folder = bench.folder.clone();
    bench.stop();
    let again = Bench::at(&folder, |_| {});
    let repeated = learn(&again, "c", "0,7,frog");
    assert_eq!((counts(&repeated), &repeated["repeated"]), (counts(&wrong), &Value::Bool(true)));
    let described = again.get("/openapi.json").ok().value();
    let receipt = &described["components"]["schemas"]["Receipt"]["properties"];
    for name in repeated.as_object().unwrap().keys() {
        assert!(receipt.get(name).is_some(), "{name} is described");
    }
}

#[test]
fn a_form_is_told_what_to_say() {
    let bench = Bench::new(&[("pets", pets())]);
    let answer = bench.post("/v1/models/pets/predict", "application/x-www-form-urlencoded", "[[4, 4]]");
    assert_eq!(answer.status, 415);
    assert!(answer.text().contains("curl -H 'content-type: application/json'"), "{}", answer.text());
}

#[test]
fn lines_are_answered_while_they_come() {
    let bench = Bench::new(&[("pets", pets())]);
    let mut stream = TcpStream::connect(bench.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = format!(
        "POST /v1/models/pets/learn HTTP/1.1\r\nhost: {}\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n",
        bench.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut seen = String::new();
    for turn in 1..=3 {
        let line = "{\"legs\": 4, \"weight\": 4, \"label\": \"cat\"}\n";
        stream.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes()).unwrap();
        // The answer to a line is there before the next line is sent.
        while !seen.contains(&format!("\"learned\":{turn}")) {
            let mut some = [0; 4096];
            let n = stream.read(&mut some).unwrap();
            assert!(n > 0, "{seen}");
            seen += &String::from_utf8_lossy(&some[..n]);
        }
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
}

#[test]
fn json_lines_have_no_end_but_lines_do() {
    let bench = Bench::with(&[("pets", pets())], |config| {
        config.limits.body_bytes = 64 << 10;
        config.limits.rows = 1000;
    });
    let (predict, learn) = ("/v1/models/pets/predict", "/v1/models/pets/learn");
    let line = "{\"legs\":4,\"weight\":4}\n";
    let answer = bench.post(predict, "application/x-ndjson", line.repeat(50_000)).ok().text();
    assert_eq!(answer.matches("{\"class\":\"cat\"}\n").count(), 50_000, "{}", &answer[answer.len() - 300..]);
    assert_eq!(answer.lines().count(), 50_000);
    // A line that is too long is refused by its number, after the answers to those before it.
    for (n_before, end) in [(0, "\n"), (1234, "\n"), (3, "")] {
        let long = format!("{}{{\"legs\":{}4}}{end}", line.repeat(n_before), " ".repeat(64 << 10));
        let answer = bench.post(predict, "application/x-ndjson", &long).ok().text();
        assert_eq!(answer.matches("cat").count(), n_before, "{answer}");
        let expected = format!("line {} is longer than a body may be, 65536 bytes", n_before + 1);
        assert!(answer.contains(&expected) && answer.contains("too-large"), "{answer}");
    }
    // What is taken as a whole has an end, and JSON Lines are named only to those who do not send them.
    for (kind, key, body) in [
        ("text/csv", "", format!("legs,weight,label\n{}", "4,4,cat\n".repeat(1001))),
        ("application/x-ndjson", "a", "{\"legs\":4,\"weight\":4,\"label\":\"cat\"}\n".repeat(1001)),
    ] {
        let mut headers = vec![("content-type", kind)];
        headers.extend((!key.is_empty()).then_some(("idempotency-key", key)));
        let answer = ask(bench.address, "POST", learn, &headers, body.as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (422, "limit"), "{}", answer.text());
        let help = answer.value()["help"].as_str().unwrap().to_owned();
        assert!(help.contains("`--max-rows`") && help.contains("without an idempotency key"), "{help}");
    }
}

#[test]
fn a_refused_batch_tells_what_was_learned_before_it() {
    let bench = Bench::with(&[("pets", pets())], |config| {
        config.grow_classes = false;
        config.limits.rows = 100;
    });
    let line = |class: &str| format!("{{\"legs\": 4, \"weight\": 4, \"label\": \"{class}\"}}\n");
    let body = line("cat").repeat(1234) + &line("dog") + &line("cat").repeat(10);
    let answer = bench.post("/v1/models/pets/learn", "application/x-ndjson", &body).ok().text();
    let lines: Vec<Value> = answer.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, receipts) = lines.split_last().unwrap();
    let n_learned: u64 = receipts.iter().map(|receipt| receipt["rows"].as_u64().unwrap()).sum();
    let problem = &last["problem"];
    assert_eq!(
        (problem["code"].as_str(), problem["rows-learned"].as_u64()),
        (Some("new-class"), Some(n_learned))
    );
    assert!((1134..=1234).contains(&n_learned), "{n_learned}");
    let expected = format!(
        "{n_learned} rows of this request were learned before, and nothing from line {} on",
        n_learned + 1
    );
    assert!(problem["detail"].as_str().unwrap().contains(&expected), "{problem}");
    soon("it is so", || bench.get("/v1/models/pets/evaluate").ok().value()["learned"] == n_learned);
    // With a key the request is learned as a whole, or not at all.
    let headers = [("content-type", "application/x-ndjson"), ("idempotency-key", "whole")];
    let body = line("cat").repeat(50) + &line("dog");
    let answer = ask(bench.address, "POST", "/v1/models/pets/learn", &headers, body.as_bytes());
    assert_eq!((answer.status, answer.code().as_str()), (422, "new-class"), "{}", answer.text());
    assert!(answer.value()["rows-learned"].is_null());
    assert_eq!(bench.get("/v1/models/pets/evaluate").ok().value()["learned"], n_learned);
}

#[test]
fn json_lines_of_which_nothing_is_learned_are_refused_like_any_request() {
    let bench = Bench::with(&[("pets", pets())], |config| config.limits.rows = 2);
    let learn = "/v1/models/pets/learn";
    let line = |label: &str| format!("{{\"legs\": 4, \"weight\": 4{label}}}\n");
    let good = line(", \"label\": \"cat\"");
    let asked = [("application/x-ndjson", ""), ("application/x-ndjson", "a key")];
    for label in [", \"label\": null", ", \"label\": \"\"", ""] {
        for (before, after) in [("", ""), (good.as_str(), ""), ("", good.as_str())] {
            for (kind, key) in asked {
                let mut headers = vec![("content-type", kind)];
                headers.extend((!key.is_empty()).then_some(("idempotency-key", key)));
                let body = [before, &line(label), after].concat();
                let answer = ask(bench.address, "POST", learn, &headers, body.as_bytes());
                let (status, value) = (answer.status, answer.value());
                assert_eq!((status, answer.code().as_str()), (422, "bad-rows"), "{body}: {value}");
                assert!(value["detail"].as_str().unwrap().contains("label"), "{body}: {value}");
                // A label that is not there at all has no place, where no row has one.
                if !label.is_empty() {
                    let expected = before.lines().count() as u64 + 1;
                    assert_eq!(value["line"], expected, "{body}: {value}");
                    assert!(value["column"].as_u64().is_some(), "{body}: {value}");
                }
                assert_eq!(bench.get("/v1/models/pets/evaluate").ok().value()["learned"], 0, "{body}");
            }
        }
    }
    // After a batch that was learned, the last line says what is wrong with the next one.
    let body = good.repeat(2) + &line(", \"label\": null");
    let answer = bench.post(learn, "application/x-ndjson", &body).ok().text();
    let last: Value = serde_json::from_str(answer.lines().last().unwrap()).unwrap();
    let problem = &last["problem"];
    assert_eq!((problem["line"].as_u64(), problem["rows-learned"].as_u64()), (Some(3), Some(2)), "{answer}");
    soon("one batch is learned", || bench.get("/v1/models/pets/evaluate").ok().value()["learned"] == 2);
}

#[test]
fn settings_that_mean_nothing_online_are_refused_by_name_and_no_version_is_made() {
    let mut bench = Bench::new(&[("pets", pets())]);
    let versions = "/v1/models/pets/versions";
    for (name, learning) in [
        ("epochs", r#"{"epochs": 3}"#),
        // What is written down is meant, even if it is as the default is.
        ("epochs", r#"{"algorithm": "pa1", "epochs": 20}"#),
        ("order", r#"{"order": "shuffle-once"}"#),
        ("max-updates", r#"{"max-updates": 9}"#),
        ("stop-when-clean", r#"{"stop-when-clean": false}"#),
        ("validation", r#"{"validation": {"patience": 3}}"#),
        ("patience", r#"{"validation": {"patience": 3}}"#),
        ("validation", r#"{"validation": null}"#),
        ("ratchet", r#"{"readout": "pocket", "ratchet": false}"#),
        ("costs", r#"{"costs": {"given": {"cat": 3}}}"#),
    ] {
        let answer = bench.json(versions, &format!("{{\"blank\": true, \"learning\": {learning}}}"));
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "bad-body"),
            "{learning}: {}",
            answer.text()
        );
        let detail = answer.value()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(name) && detail.contains("online"), "{learning}: {detail}");
    }
    for (learning, expected) in [
        // Rules that need all rows, and weights that follow from them.
        (r#"{"algorithm": "minover"}"#, "online"),
        (r#"{"class-weights": "balanced"}"#, "class-weights"),
        (r#"{"epoch": 3}"#, "epoch"),
    ] {
        let answer = bench.json(versions, &format!("{{\"blank\": true, \"learning\": {learning}}}"));
        assert!((400..500).contains(&answer.status), "{learning}: {}", answer.text());
        assert!(answer.value()["detail"].as_str().unwrap().contains(expected), "{}", answer.text());
    }
    assert_eq!(bench.get(versions).ok().value()["versions"].as_array().unwrap().len(), 1);
    let heeded = r#"{"blank": true, "learning": {"algorithm": "pa1", "params": {"C": 0.5}, "seed": 7}}"#;
    assert_eq!(bench.json(versions, heeded).ok().value()["version"], 2);
    // A version of an older server, which took such settings, goes on.
    bench.stop();
    let list = bench.folder.join("pets.serve/manifest.json");
    let written: Value = serde_json::from_slice(&std::fs::read(&list).unwrap()).unwrap();
    let mut old = written["manifest"].clone();
    old["versions"][1]["learning"]["epochs"] = 3.into();
    std::fs::write(&list, old.to_string()).unwrap();
    std::fs::remove_file(bench.folder.join("pets.serve/manifest.copy.json")).unwrap();
    let bench = Bench::at(&bench.folder.clone(), |_| {});
    assert_eq!(bench.post("/v1/models/pets/learn", "text/csv", PETS).ok().value()["version"], 2);
}

#[test]
fn tensors_have_the_names_and_the_kinds_of_values_that_metadata_lists() {
    let sms = model_of("sms-spam.tsv", perceptron());
    let bench = Bench::new(&[("pets", pets()), ("sms", sms), ("houses", houses().0)]);
    let text = r#"{"name": "text", "shape": [1], "datatype": "BYTES", "data": ["free prize"]}"#;
    let rows = r#"{"name": "rows", "shape": [1, 2], "datatype": "FP64", "data": [4, 4]}"#;
    let column = |name: &str, datatype: &str, data: &str| {
        format!(r#"{{"name": "{name}", "shape": [1], "datatype": "{datatype}", "data": [{data}]}}"#)
    };
    let (legs, weight) = (column("legs", "FP64", "4"), column("weight", "INT32", "4"));
    let (rooms, age) = (column("rooms", "FP64", "5"), column("age", "FP64", "10"));
    let garden = column("garden", "BYTES", "\"yes\"");
    let infer = |model: &str, inputs: &[&str]| {
        let body = format!("{{\"inputs\": [{}]}}", inputs.join(", "));
        bench.json(&format!("/v2/models/{model}/infer"), &body)
    };
    // What metadata lists is taken, and so is a table by its columns.
    infer("pets", &[rows]).ok();
    infer("pets", &[&legs, &weight]).ok();
    infer("sms", &[text]).ok();
    infer("sms", &[&text.replace("[1]", "[1, 1]")]).ok();
    infer("houses", &[&rooms, &garden, &age]).ok();
    for (model, inputs, expected) in [
        (
            "pets",
            vec![rows.replace("\"rows\"", "\"input-0\"")],
            ["no input `input-0`", "`rows` (FP64 [-1,2])"],
        ),
        ("pets", vec![rows.replace("\"rows\"", "\"row\"")], ["no input `row`", "did you mean `rows`?"]),
        ("pets", vec![text.to_owned()], ["no input `text`", "`rows` (FP64 [-1,2])"]),
        ("pets", vec![rows.to_owned(), legs.clone()], ["`rows` holds whole rows", "the only one"]),
        ("pets", vec![legs.clone(), legs.clone()], ["`legs`", "twice"]),
        (
            "pets",
            vec![legs.clone(), column("label", "BYTES", "\"cat\"")],
            ["no input `label`", "a tensor for each column"],
        ),
        ("pets", vec![column("legs", "BYTES", "\"4\""), weight], ["`legs` is BYTES", "takes FP64"]),
        (
            "pets",
            vec![rows.replace("FP64", "BYTES").replace("[4, 4]", "[\"4\", \"4\"]")],
            ["`rows` is BYTES", "FP64 [-1,2]"],
        ),
        ("pets", vec![rows.replace("[1, 2]", "[2]")], ["`rows` is FP64 [2]", "FP64 [-1,2]"]),
        ("pets", vec![rows.replace("[4, 4]", "[4, \"4\"]")], ["`rows` has type FP64", "\"4\""]),
        ("pets", vec![rows.replace("FP64", "FP8")], ["`FP8`", "send FP64, "]),
        ("sms", vec![rows.to_owned()], ["no input `rows`", "`text` (BYTES [-1])"]),
        ("sms", vec![text.replace("\"text\"", "\"t\"")], ["no input `t`", "`text` (BYTES [-1])"]),
        ("sms", vec![column("text", "FP64", "4")], ["`text` is FP64", "takes BYTES"]),
        ("sms", vec![column("text", "BYTES", "4")], ["`text` has type BYTES", "4"]),
        ("houses", vec![rows.to_owned()], ["no input `rows`", "`garden` (BYTES [-1])"]),
        (
            "houses",
            vec![rooms.clone(), age.clone(), garden.replace("garden", "gardens")],
            ["`gardens`", "did you mean `garden`?"],
        ),
    ] {
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let answer = infer(model, &inputs);
        let value = answer.value();
        assert_eq!(answer.status, 400, "{model} {inputs:?}: {value}");
        let error = value["error"].as_str().unwrap();
        assert!(expected.iter().all(|part| error.contains(part)), "{model} {inputs:?}: {error}");
    }
}

#[test]
fn the_open_inference_protocol_is_spoken() {
    let bench = Bench::new(&[("pets", pets())]);
    let printed = bench.get("/v2/models/pets").ok().value();
    assert_eq!(
        printed["inputs"],
        serde_json::json!([{"name": "rows", "datatype": "FP64", "shape": [-1, 2]}])
    );
    for path in [
        "/v2",
        "/v2/health/live",
        "/v2/health/ready",
        "/v2/models/pets/ready",
        "/v2/models/pets/versions/1/ready",
    ] {
        bench.get(path).ok();
    }
    assert_eq!(bench.get("/v2/models/pets/versions/2").code(), "no-version");
    let infer = "/v2/models/pets/infer";
    for body in [
        r#"{"id": "7", "inputs": [{"name": "rows", "shape": [2, 2], "datatype": "FP64", "data": [[4, 4], [2, 0.1]]}]}"#,
        r#"{"id": "7", "inputs": [{"name": "rows", "shape": [2, 2], "datatype": "FP32", "data": [4, 4, 2, 0.1]}]}"#,
        r#"{"id": "7", "inputs": [{"name": "weight", "shape": [2], "datatype": "FP64", "data": [4, 0.1]},
            {"name": "legs", "shape": [2], "datatype": "INT32", "data": [4, 2]}]}"#,
    ] {
        let value = bench.json(infer, body).ok().value();
        assert_eq!(
            (&value["outputs"][0]["data"], value["id"].as_str()),
            (&serde_json::json!(["cat", "bird"]), Some("7"))
        );
        assert_eq!(value["outputs"][1]["shape"], serde_json::json!([2, 1]));
    }
    let head = r#"{"inputs": [{"name": "rows", "shape": [2, 2], "datatype": "FP32", "parameters": {"binary_data_size": 16}}],
        "outputs": [{"name": "class", "parameters": {"binary_data": true}}]}"#;
    let raw: Vec<u8> = [4.0_f32, 4.0, 2.0, 0.1].iter().flat_map(|value| value.to_le_bytes()).collect();
    let length = head.len().to_string();
    let body = [head.as_bytes(), &raw].concat();
    let answer =
        ask(bench.address, "POST", infer, &[("inference-header-content-length", &length)], &body).ok();
    assert!(answer.body.ends_with(b"\x03\0\0\0cat\x04\0\0\0bird"), "{}", answer.text());
    for body in [
        "{}",
        r#"{"inputs": []}"#,
        r#"{"inputs": [{"name": "rows", "shape": [99999999999, 99999999999], "datatype": "FP64", "data": [1]}]}"#,
        r#"{"inputs": [{"name": "rows", "shape": [2, 2], "datatype": "FP64", "data": [1]}]}"#,
        r#"{"inputs": [{"name": "rows", "shape": [1, 2], "datatype": "FP64", "parameters": {"binary_data_size": 99}}]}"#,
    ] {
        let answer = bench.json(infer, body);
        assert!(matches!(answer.status, 400 | 422), "{body}: {}", answer.text());
    }
}

#[test]
fn numbered_features_grow() {
    let source = Source::bytes("a.svm", *b"a 1:1 20:1\nb 1:-1 13:1\na 2:1\nb 3:2\na 1:2\nb 17:2\n");
    let base = crate::bench::model_of_source(&source, perceptron());
    let bench = Bench::with(&[("m", base)], |config| config.limits.features = 1000);
    assert_eq!(
        classes(&bench.json("/v1/models/m/predict", &format!("[[1{}]]", ", 0".repeat(19))).ok()),
        ["a"]
    );
    bench.post("/v1/models/m/learn", "text/x-libsvm", "b 900:3\n").ok();
    let learned = bench.get("/v1/models/m/file").ok().body;
    assert_eq!(Model::from_bytes(&learned).unwrap().width(), 900);
    let answer = bench.post("/v1/models/m/learn", "text/x-libsvm", "b 1001:3\n");
    assert_eq!(answer.status, 422, "{}", answer.text());
    let classes: Vec<String> = (0..2000).map(|class| format!("c{class} 1:1")).collect();
    assert_eq!(bench.post("/v1/models/m/learn", "text/x-libsvm", classes.join("\n")).code(), "limit");
}

#[test]
fn scopes_read_only_and_pages() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "predict-only-0001 predict\nlearn-and-more-01 predict,learn\n").unwrap();
    let bench = Bench::with(&[("pets", pets())], |config| config.tokens = Some(tokens));
    let with = |token: &str, method: &str, path: &str, body: &str| {
        let value = format!("Bearer {token}");
        let headers = [("authorization", value.as_str()), ("content-type", "text/csv")];
        ask(bench.address, method, path, &headers, body.as_bytes()).status
    };
    assert_eq!(bench.get("/v1/models").status, 401);
    assert_eq!(bench.get("/metrics").status, 401);
    for path in ["/healthz", "/readyz", "/docs", "/openapi.json", "/v2/health/live"] {
        assert_eq!(bench.get(path).status, 200, "{path}");
    }
    assert_eq!(with("predict-only-0001", "GET", "/v1/models", ""), 200);
    assert_eq!(with("predict-only-0001", "POST", "/v1/models/pets/learn", PETS), 403);
    assert_eq!(with("learn-and-more-01", "POST", "/v1/models/pets/learn", PETS), 200);
    assert_eq!(with("learn-and-more-01", "GET", "/v1/models/pets/file", ""), 403);
    assert_eq!(with("unknown-token-001", "GET", "/v1/models", ""), 401);
    let page = with_token_text(&bench, "/metrics");
    assert!(page.contains("rosenblatt_rows_learned_total 6"), "{page}");
    let bench = Bench::with(&[("pets", pets())], |config| config.read_only = true);
    assert_eq!(bench.post("/v1/models/pets/learn", "text/csv", PETS).code(), "read-only");
    assert_eq!(ask(bench.address, "PUT", "/v1/models/x", &[], b"").code(), "read-only");
    assert_eq!(std::fs::read_dir(&bench.folder).unwrap().count(), 1, "nothing was written");
}

fn with_token_text(bench: &Bench, path: &str) -> String {
    ask(bench.address, "GET", path, &[("authorization", "Bearer predict-only-0001")], b"").ok().text()
}

#[test]
fn every_code_of_the_page_has_a_status() {
    let bench = Bench::new(&[]);
    let page = bench.get("/docs").ok();
    assert!(page.head.contains("content-security-policy"));
    let description = bench.get("/openapi.json").ok().value();
    let codes = description["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
        .as_array()
        .unwrap()
        .clone();
    assert!(codes.len() > 20);
    for code in codes {
        assert!(page.text().contains(&format!("id={}", code.as_str().unwrap())), "{code}");
    }
    let paths = description["paths"].as_object().unwrap();
    // So has every path that the document names.
    let document = include_str!("../../../docs/serve.md");
    let mut n_named = 0;
    for words in document.split('`').skip(1).step_by(2) {
        let Some((method, path)) = words.split_once(' ') else { continue };
        let known = ["GET", "POST", "PUT"].contains(&method) && path.starts_with('/');
        if known {
            let (path, asked) = path.split_once('?').unwrap_or((path, ""));
            let path = path.replace("NAME", "{name}").replace("versions/N", "versions/{version}");
            let operation = paths.get(&path).and_then(|path| path.get(method.to_lowercase()));
            let operation = operation.unwrap_or_else(|| panic!("no such path: {words}"));
            for name in
                asked.split('&').filter_map(|asked| asked.split('=').next()).filter(|name| !name.is_empty())
            {
                let is_it = |parameter: &serde_json::Value| parameter["name"] == name;
                assert!(operation["parameters"].as_array().unwrap().iter().any(is_it), "{words}");
            }
            n_named += 1;
        }
    }
    assert!(n_named > 8, "{n_named}");
    // And every number and code that its alerts ask for.
    let numbers = bench.get("/metrics").ok().text();
    let mut n_alerts = 0;
    for expression in document.split('`').skip(1).step_by(2).filter(|words| words.contains("rosenblatt_")) {
        let name = &expression[expression.find("rosenblatt_").unwrap()..];
        let end = name.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
        let name = &name[..end.unwrap_or(name.len())];
        assert!(numbers.contains(&format!("# TYPE {name} ")), "{expression}");
        if let Some((_, code)) = expression.split_once("code=\"") {
            assert!(
                page.text().contains(&format!("id={}>", code.split('"').next().unwrap())),
                "{expression}"
            );
        }
        n_alerts += 1;
    }
    assert!(n_alerts > 5, "{n_alerts}");
    assert!(paths.contains_key("/v1/models/{name}/predict") && paths.len() > 15);
}

#[test]
fn rows_without_a_value_are_left_out_in_their_places() {
    let text = "a,b,label\n1,2,x\n2,1,y\n3,1,y\n1,4,x\n";
    let reading = ReadOptions { missing: "drop".parse().unwrap(), ..ReadOptions::default() };
    let recipe = rosenblatt::Recipe {
        online: true,
        learning: perceptron().into(),
        reading,
        ..rosenblatt::Recipe::default()
    };
    let model = recipe.train(&Source::bytes("t.csv", text.as_bytes()), &mut ()).unwrap().model;
    let how = model.to_predict(ReadOptions::default());
    let body = "a,b\n,1\n1,2\n,1\n2,1\n,3\n";
    assert_eq!(load_source(&Source::bytes("t.csv", body.as_bytes()), &how).unwrap().n_source_rows(), 5);
    let bench = Bench::new(&[("m", model.to_bytes())]);
    let answer = bench.post("/v1/models/m/predict", "text/csv", body).ok();
    let found = classes(&answer);
    assert_eq!(
        found.iter().map(|class| class == "null").collect::<Vec<_>>(),
        [true, false, true, false, true]
    );
}

#[test]
fn a_class_that_was_never_seen_is_refused_unless_it_is_meant_and_then_it_is_named() {
    let sms = model_of("sms-spam.tsv", perceptron());
    let mut bench =
        Bench::with(&[("sms", sms.clone()), ("pets", pets())], |config| config.grow_classes = false);
    let learn = "/v1/models/sms/learn";
    let mistyped = r#"{"rows": ["Free entry in 2 a wkly comp to win FA Cup"], "labels": ["Spam"]}"#;
    let refused = bench.json(learn, mistyped);
    assert_eq!((refused.status, refused.code().as_str()), (422, "new-class"), "{}", refused.text());
    assert!(
        refused.text().contains("`Spam`") && refused.text().contains("`ham`, `spam`"),
        "{}",
        refused.text()
    );
    let lines = "{\"legs\": 4, \"weight\": 4, \"label\": \"dog\"}\n";
    assert!(bench.post("/v1/models/pets/learn", "application/x-ndjson", lines).text().contains("new-class"));
    assert!(bench.get("/v1/models/sms/file").ok().body == sms, "nothing was learned");
    // A label that is missing is none, in texts as in tables.
    for (path, row) in [(learn, "\"free prize\""), ("/v1/models/pets/learn", "[4, 4]")] {
        for label in ["null", "[]", "{}"] {
            let body = format!("{{\"rows\": [{row}], \"labels\": [{label}]}}");
            let answer = bench.json(path, &body);
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (422, "bad-rows"),
                "{body}: {}",
                answer.text()
            );
        }
    }
    // Known classes are learned; a new one, too, where it is meant.
    let known = bench.json(learn, r#"{"rows": ["free prize"], "labels": ["spam"]}"#).ok().value();
    assert_eq!(known["new-classes"], serde_json::json!([]));
    let grown = bench.json(&format!("{learn}?grow-classes"), mistyped).ok().value();
    assert_eq!(grown["new-classes"], serde_json::json!(["Spam"]));
    assert_eq!(bench.json(&format!("{learn}?grow"), mistyped).code(), "bad-request");
    let long = format!(r#"{{"rows": ["a b"], "labels": ["{}"]}}"#, "x".repeat(257));
    assert_eq!(bench.json(&format!("{learn}?grow-classes"), &long).code(), "limit");
    // A version may be set to grow, and those that follow it are.
    bench.json("/v1/models/pets/versions", "{\"of\": 1, \"grow-classes\": true}").ok();
    bench.post("/v1/models/pets/learn", "text/csv", PETS).ok();
    assert_eq!(bench.json("/v1/models/pets/versions", "").ok().value()["version"], 3);
    bench.stop();
    let bench = Bench::at(&bench.folder.clone(), |config| config.grow_classes = false);
    let row = r#"{"rows": [[0, 9]], "labels": ["fish"]}"#;
    assert_eq!(bench.json("/v1/models/pets/learn?grow-classes=false", row).code(), "new-class");
    let grown = bench.json("/v1/models/pets/learn", row).ok().value();
    assert_eq!(grown["new-classes"], serde_json::json!(["fish"]));
}

#[test]
fn what_the_learner_refuses_is_answered_and_noted_and_no_row_of_it_is_learned() {
    use std::sync::{Arc, Mutex};
    let notes = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&notes);
    let mut bench = Bench::with(&[("pets", pets())], |config| {
        config.journal =
            rosenblatt_server::Journal::new(move |note| kept.lock().unwrap().push_str(note.text));
    });
    let learn = "/v1/models/pets/learn";
    let network = "{\"of\": 1, \"blank\": true, \"learning\": {\"algorithm\": \"mlp\"}}";
    bench.json("/v1/models/pets/versions", network).ok();
    bench.post(learn, "text/csv", PETS).ok();
    let before = bench.get("/v1/models/pets/file").ok().body;
    // The outputs of a network are learned together, so the second row cannot be learned from, nor can the first.
    let headers = [("content-type", "text/csv"), ("idempotency-key", "refused")];
    for _ in 0..2 {
        let answer = ask(bench.address, "POST", learn, &headers, b"legs,weight,label\n4,9,bird\n0,9,fish\n");
        assert_eq!((answer.status, answer.code().as_str()), (409, "cannot-learn"), "{}", answer.text());
    }
    assert!(bench.get("/v1/models/pets/file").ok().body == before, "no row was learned");
    assert_eq!(notes.lock().unwrap().matches("nothing was learned").count(), 1, "{notes:?}");
    bench.json("/v1/models/pets/versions", "").ok();
    for expected in [
        "version 2 is served now: version 1 again",
        "version 3 is served now: what was learned on top of version 2",
    ] {
        assert!(notes.lock().unwrap().contains(expected), "{notes:?}");
    }
    bench.stop();
    let bench = Bench::at(&bench.folder.clone(), |_| {});
    assert!(bench.get("/v1/models/pets/file").ok().body == before, "nor is any after a restart");
}

/// A model of tags: words, and what they are.
fn tags(judging: Judging) -> Model {
    let known =
        "the DT\ndog NN\nruns VB\n\na DT\ncat NN\nsleeps VB\n\n".repeat(6) + &"so RB\n\nso DT\n\n".repeat(6);
    let source = Source::bytes("known.conll", known.into_bytes());
    TaggerTraining::new(&TaggerOptions::default()).judged(judging).run(&source, &mut ()).unwrap()
}

#[test]
fn sentences_get_the_tags_that_the_engine_gives_them() {
    let judged = Judging { plan: Plan::HoldOut(0.3), ..Judging::default() };
    let (model, plain) = (tags(judged), tags(Judging::default()));
    let bench = Bench::new(&[("tags", model.to_bytes()), ("plain", plain.to_bytes()), ("pets", pets())]);
    assert_eq!(bench.get("/readyz").ok().value()["unread"], serde_json::json!({}));
    let printed = bench.get("/v1/models/tags").ok().value();
    assert_eq!((printed["task"].as_str(), printed["summary"]["task"].as_str()), (Some("tags"), Some("tags")));
    assert_eq!(bench.get("/v1/models/pets").ok().value()["task"], "classes");
    // Every body, and what the engine writes for the same sentences.
    let path = "/v1/models/tags/predict";
    let text = "the\ncat\nruns\n\na\ndog\n\n";
    let mut expected = String::new();
    let tagger = model.tagger().unwrap();
    let mut stream = tagger.open(&Source::bytes("body.conll", text.as_bytes()), None).unwrap();
    tagger
        .write_all::<Error>(&mut stream, 1, |written| {
            expected.push_str(written);
            Ok(())
        })
        .unwrap();
    assert_eq!(expected, "the DT\ncat NN\nruns VB\n\na DT\ndog NN\n\n");
    let headers = [("content-type", "text/x-conll"), ("accept", "text/plain")];
    assert_eq!(ask(bench.address, "POST", path, &headers, text.as_bytes()).ok().text(), expected);
    let wanted = serde_json::json!([
        {"tokens": ["the", "cat", "runs"], "tags": ["DT", "NN", "VB"]},
        {"tokens": ["a", "dog"], "tags": ["DT", "NN"]},
    ]);
    for body in [
        r#"{"rows": [["the", "cat", "runs"], ["a", "dog"]]}"#,
        r#"[["the", "cat", "runs"], ["a", "dog"]]"#,
        "[{\"tokens\": [\"the\",\n\"cat\", \"runs\"]}, [\"a\", \"dog\"]]",
        r#"["the cat runs", "a dog"]"#,
    ] {
        assert_eq!(bench.json(path, body).ok().value()["predictions"], wanted, "{body}");
    }
    let lines = "{\"tokens\": [\"the\", \"cat\", \"runs\"]}\n{\"tokens\": [\"a\", \"dog\"]}\n";
    let streamed = bench.post(path, "application/x-ndjson", lines).ok().text();
    let streamed: Vec<Value> = streamed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(Value::Array(streamed), wanted);
    // What else can be asked for.
    let body = r#"[["the", "cat", "runs"]]"#;
    let printed = bench.json(&format!("{path}?scores&probabilities"), body).ok().value();
    let one = &printed["predictions"][0];
    assert!(one["score"].is_f64() && one["leads"].as_array().unwrap().len() == 3, "{one}");
    assert_eq!(one["probabilities"].as_array().unwrap().len(), 3);
    let printed = bench.json("/v1/models/tags/explain?top=2", body).ok().value();
    assert!(
        printed["predictions"][0]["reasons"][0]["attributes"].as_array().unwrap().len() <= 2,
        "{printed}"
    );
    let labelled = r#"{"rows": [["the", "cat"], ["a", "dog"]], "labels": [["DT", "NN"], ["DT", "VB"]]}"#;
    let printed = bench.json("/v1/models/tags/evaluate", labelled).ok().value();
    assert_eq!((printed["tokens"].as_u64(), printed["accuracy"].as_f64()), (Some(4), Some(0.75)));
    // What cannot be had, and why.
    let file = bench.get("/v1/models/tags/file").ok();
    assert!(file.body == model.to_bytes());
    let refused = bench.json("/v1/models/tags/learn", labelled);
    assert_eq!((refused.status, refused.value()["code"].as_str()), (409, Some("cannot-learn")));
    let refused = bench.json("/v1/models/plain/predict?probabilities", body);
    assert_eq!((refused.status, refused.value()["code"].as_str()), (422, Some("not-calibrated")));
    let refused = bench.post(path, "text/csv", "a,b\n1,2\n");
    assert_eq!((refused.status, refused.value()["code"].as_str()), (415, Some("unknown-type")));
    let refused = bench.json(path, r#"{"legs": 4}"#);
    assert_eq!(refused.status, 400, "{}", refused.text());
    let refused = bench.json(path, r#"[["the"], "cat"]"#);
    assert_eq!((refused.status, refused.value()["code"].as_str()), (422, Some("bad-rows")));
    let tensor = r#"{"inputs": [{"name": "rows", "shape": [1, 1], "datatype": "FP64", "data": [1]}]}"#;
    let refused = bench.json("/v2/models/tags/infer", tensor);
    assert_eq!(refused.status, 422, "{}", refused.text());
    let refused = bench.json("/v1/models/pets/predict", r#"[["the", "cat", "runs"]]"#);
    assert_eq!(refused.status, 422, "{}", refused.text());
}

/// A model of prices, and the rows that it learned from.
fn houses() -> (Vec<u8>, String) {
    let mut rows = "rooms,age,garden,price\n".to_owned();
    for row in 0..120 {
        let (rooms, age, garden) =
            (row * 37 % 101 % 8 + 1, row * 53 % 97 % 60, ["yes", "no"][row * 31 % 7 % 2]);
        let price = 20.0 + 3.0 * rooms as f64 - 0.5 * age as f64 + (row * 7919 % 1009) as f64 / 500.0;
        let _ = writeln!(rows, "{rooms},{age},{garden},{price}");
    }
    let reading = ReadOptions { label: LabelColumn::Named("price".to_owned()), ..ReadOptions::default() };
    let recipe = rosenblatt::Recipe { reading, ..Default::default() };
    let trained = recipe.train(&Source::bytes("houses.csv", rows.clone().into_bytes()), &mut ()).unwrap();
    (trained.model.to_bytes(), rows)
}

#[test]
fn numbers_are_predicted_as_the_engine_predicts_them() {
    let (bytes, rows) = houses();
    let model = Model::from_bytes(&bytes).unwrap();
    assert_eq!(model.task(), Task::Numbers);
    let bench = Bench::new(&[("houses", bytes), ("pets", pets())]);
    assert_eq!(bench.get("/readyz").ok().value()["ready"], true);
    let found = bench.get("/v1/models/houses").ok().value();
    assert_eq!(
        (&found["task"], &found["number"], &found["classes"]),
        (&"numbers".into(), &"price".into(), &serde_json::json!([]))
    );
    let new = "rooms,age,garden\n5,10,yes\n1,50,no\n";
    let data =
        load_source(&Source::bytes("new.csv", new.as_bytes()), &model.to_predict(ReadOptions::default()))
            .unwrap();
    let expected = model.predict_numbers(data.view()).unwrap();
    assert!((expected[0] - 32.0).abs() < 2.0 && (expected[1] + 1.0).abs() < 2.0, "{expected:?}");
    let path = "/v1/models/houses/predict";
    let predicted = |answer: Answer| -> Vec<f64> {
        let value = answer.ok().value();
        let all = value["predictions"].as_array().unwrap().clone();
        all.iter().map(|one| one["prediction"].as_f64().unwrap()).collect()
    };
    for body in [
        r#"{"rows": [[5, 10, "yes"], [1, 50, "no"]]}"#,
        r#"[{"rooms": 5, "age": 10, "garden": "yes"}, {"garden": "no", "age": 50, "rooms": 1}]"#,
    ] {
        assert_eq!(predicted(bench.json(path, body)), expected, "{body}");
    }
    assert_eq!(predicted(bench.json(path, r#"{"rooms": 1, "age": 50, "garden": "no"}"#)), expected[1..]);
    assert_eq!(predicted(bench.post(path, "text/csv", new)), expected);
    let line = bench.post(path, "application/x-ndjson", "{\"rooms\":1,\"age\":50,\"garden\":\"no\"}\n").ok();
    assert_eq!(line.text(), format!("{{\"prediction\":{}}}\n", expected[1]));
    let headers = [("content-type", "text/csv"), ("accept", "text/csv")];
    let csv = ask(bench.address, "POST", path, &headers, new.as_bytes()).ok().text();
    assert_eq!(csv, format!("prediction\n{}\n{}\n", expected[0], expected[1]));
    let headers = [("content-type", "text/csv"), ("accept", "application/vnd.apache.arrow.stream")];
    let arrow = ask(bench.address, "POST", path, &headers, new.as_bytes()).ok();
    let batch =
        arrow_ipc::reader::StreamReader::try_new(&arrow.body[..], None).unwrap().next().unwrap().unwrap();
    let column = batch.column(0).as_any().downcast_ref::<arrow_array::Float64Array>().unwrap();
    assert_eq!(column.values(), &expected[..]);
    // The reasons add up to the prediction.
    let found = bench.json("/v1/models/houses/explain?top=9", r#"[[5, 10, "yes"]]"#).ok().value();
    let one = &found["predictions"][0];
    let sum = |side: &str| {
        one[side].as_array().unwrap().iter().map(|part| part["contribution"].as_f64().unwrap()).sum::<f64>()
    };
    let whole = one["base"].as_f64().unwrap() + sum("for") + sum("against");
    assert!((whole - expected[0]).abs() < 1e-9, "{one}");
    // How far off it is on rows with prices, as the engine says.
    let found = bench.post("/v1/models/houses/evaluate", "text/csv", &rows).ok().value();
    assert!(found["rows"] == 120 && found["rmse"]["value"].as_f64().unwrap() < 2.0, "{found}");
    // The Open Inference Protocol.
    let found = bench.get("/v2/models/houses").ok().value();
    assert_eq!(
        found["outputs"],
        serde_json::json!([{"name": "prediction", "datatype": "FP64", "shape": [-1]}])
    );
    let tensors = r#"{"inputs": [
        {"name": "rooms", "shape": [2], "datatype": "FP64", "data": [5, 1]},
        {"name": "age", "shape": [2], "datatype": "INT64", "data": [10, 50]},
        {"name": "garden", "shape": [2], "datatype": "BYTES", "data": ["yes", "no"]}]}"#;
    let found = bench.json("/v2/models/houses/infer", tensors).ok().value();
    let wanted =
        serde_json::json!([{"name": "prediction", "datatype": "FP64", "shape": [2], "data": expected}]);
    assert_eq!(found["outputs"], wanted);
    let asked = tensors.replacen('{', r#"{"outputs": [{"name": "class"}], "#, 1);
    assert_eq!(bench.json("/v2/models/houses/infer", &asked).status, 400);
    // What there is of classes alone.
    for wish in ["probabilities", "scores"] {
        let refused = bench.json(&format!("{path}?{wish}"), r#"[[5, 10, "yes"]]"#);
        assert_eq!((refused.status, refused.code().as_str()), (422, "bad-rows"), "{}", refused.text());
    }
    let refused = bench.post("/v1/models/houses/learn", "text/csv", &rows);
    assert_eq!((refused.status, refused.code().as_str()), (409, "cannot-learn"), "{}", refused.text());
    assert!(refused.text().contains("predicts numbers") && refused.text().contains("train it again"));
    let missing = bench.json(path, r#"[[5, null, "yes"]]"#);
    assert_eq!(missing.status, 422, "{}", missing.text());
}

#[test]
fn a_body_of_one_row_is_that_row() {
    let bench = Bench::new(&[("pets", pets()), ("sms", model_of("sms-spam.tsv", perceptron()))]);
    for body in ["[4, 4]", " { \"weight\": 4, \"legs\": 4 }\n", "[[4, 4]]"] {
        assert_eq!(classes(&bench.json("/v1/models/pets/predict", body).ok()), ["cat"], "{body}");
    }
    assert_eq!(
        classes(&bench.json("/v1/models/sms/predict", " \"WIN a FREE prize, txt now\"").ok()),
        ["spam"]
    );
    for body in [
        r#"{"rows": [[4, 4]], "tables": 1}"#,
        r#"{"rows": [[4, 4]], "labels": 1}"#,
        "4 4",
        "{\"legs\": 4",
        "tru",
    ] {
        let refused = bench.json("/v1/models/pets/predict", body);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "bad-body"),
            "{body}: {}",
            refused.text()
        );
    }
}

#[test]
fn unknown_columns_are_named_and_slips_are_refused() {
    // The model fills cells that are missing, so that a slip would go unnoticed.
    let bench = Bench::new(&[("pets", pets())]);
    let [predict, learn, evaluate] =
        ["predict", "learn", "evaluate"].map(|deed| format!("/v1/models/pets/{deed}"));
    let json = "application/json";
    for (path, kind, body, row, line) in [
        (&predict, json, r#"[{"legs": 4, "weight": 4}, {"legs": 4, "wieght": 4}]"#, 2, None),
        (&predict, json, r#"{"legs": 4, "wieght": 4, "label": "cat"}"#, 1, None),
        (&learn, json, r#"{"rows": [{"legs": 4, "wieght": 4}], "labels": ["cat"]}"#, 1, None),
        (&evaluate, json, r#"[{"legs": 4, "wieght": 4, "label": "cat"}]"#, 1, None),
    ] {
        let answer = bench.post(path, kind, body);
        let value = answer.value();
        assert_eq!((answer.status, answer.code().as_str()), (422, "bad-rows"), "{body}: {value}");
        assert_eq!((value["row"].as_u64(), value["line"].as_u64()), (Some(row), line), "{value}");
        assert!(value["detail"].as_str().unwrap().contains("no column `wieght`"), "{value}");
        assert!(value["help"].as_str().unwrap().starts_with("did you mean `weight`?"), "{value}");
    }
    let far = bench.json(&predict, r#"{"legs": 4, "colour": "red"}"#).value();
    assert!(far["detail"].as_str().unwrap().contains("`colour`"), "{far}");
    assert!(far["detail"].as_str().unwrap().contains("lacks the model's column `weight`"), "{far}");
    let lines = "{\"legs\": 4, \"weight\": 4, \"id\": 7}\n\n{\"wieght\": NaN, \"legs\": 4}\n";
    for path in [&predict, &learn] {
        let lines = lines.replace("\"legs\"", "\"label\": \"cat\", \"legs\"");
        let answer = bench.post(path, "application/x-ndjson", &lines).text();
        let last: Value = serde_json::from_str(answer.lines().last().unwrap()).unwrap();
        // Where nothing was learned yet, the request is refused as a whole.
        let problem = if path == &learn { &last } else { &last["problem"] };
        assert_eq!(problem["line"], 3, "{answer}");
        assert!(problem["help"].as_str().unwrap().contains("`weight`"), "{answer}");
    }
    assert_eq!(bench.get("/v1/models/pets/evaluate").ok().value()["learned"], 0, "nothing was learned");
    let tensors = r#"{"inputs": [{"name": "legs", "shape": [1], "datatype": "FP64", "data": [4]},
        {"name": "wieght", "shape": [1], "datatype": "FP64", "data": [4]}]}"#;
    assert!(bench.json("/v2/models/pets/infer", tensors).text().contains("did you mean `weight`?"));
    // A column more does no harm, and is named; the label is none.
    let more = r#"[{"legs": 4, "weight": 4, "colour": "red", "label": "cat"},
        {"legs": 2, "weight": 0.1, "id": 7, "label": "bird"}]"#;
    let answer = bench.json(&predict, more).ok();
    assert_eq!(classes(&answer), ["cat", "bird"]);
    assert_eq!(answer.value()["unknown-columns"], serde_json::json!(["colour", "id"]));
    let lines = "{\"legs\": 4, \"weight\": 4}\n{\"legs\": 4, \"weight\": 4, \"id\": 7}\n";
    let answer = bench.post(&predict, "application/x-ndjson", lines).ok().text();
    assert_eq!(answer, "{\"class\":\"cat\"}\n{\"class\":\"cat\",\"unknown-columns\":[\"id\"]}\n");
    let labelled = r#"{"rows": [{"legs": 4, "weight": 4, "id": 7}], "labels": ["cat"]}"#;
    for path in [&learn, &evaluate] {
        let answer = bench.json(path, labelled).ok().value();
        assert_eq!(answer["unknown-columns"], serde_json::json!(["id"]), "{answer}");
    }
    // What is only missing is filled, as it was.
    for known in [r#"{"legs": 4, "weight": 4, "label": "cat"}"#, r#"{"legs": 4}"#, "[4, 4]"] {
        assert!(bench.json(&predict, known).ok().value().get("unknown-columns").is_none(), "{known}");
    }
}

#[test]
fn refusals_are_noted_once_in_a_while_and_counted() {
    use std::sync::{Arc, Mutex};
    let notes = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&notes);
    let bench = Bench::with(&[("pets", pets())], |config| {
        config.grow_classes = false;
        config.journal = rosenblatt_server::Journal::new(move |note| {
            kept.lock().unwrap().push((note.text.to_owned(), note.is_warning));
        });
    });
    let learn = "/v1/models/pets/learn";
    let has = |text: &str| notes.lock().unwrap().iter().filter(|(line, _)| line.contains(text)).count();
    for _ in 0..3 {
        bench.json(learn, r#"{"rows": [[4, 4]], "labels": ["dog"]}"#);
        bench.json(learn, r#"{"rows": [[4, 4]], "labels": []}"#);
    }
    bench.post(learn, "application/x-ndjson", "{\"legs\": 4, \"weight\": 4, \"label\": \"dog\"}\n");
    assert_eq!(
        has("model pets: nothing was learned: the model has never seen the class `dog`"),
        1,
        "{notes:?}"
    );
    assert_eq!(has("as many labels as rows (`bad-rows`)"), 1, "{notes:?}");
    // What else a client does wrong is counted, and not noted.
    bench.json("/v1/models/pets/predict", "[[1, 2, 3]]");
    bench.json("/v1/models/dogs/learn", "[[1, 2, 3]]");
    let page = bench.get("/metrics").ok().text();
    for (deed, code, count) in [
        ("learn", "new-class", 4),
        ("learn", "bad-rows", 3),
        ("learn", "no-model", 1),
        ("predict", "bad-rows", 1),
    ] {
        let line = format!("rosenblatt_problems_total{{deed=\"{deed}\",code=\"{code}\"}} {count}\n");
        assert!(page.contains(&line), "{line}{page}");
    }
    assert_eq!((has("nothing was learned"), has("a request was refused")), (2, 0), "{notes:?}");
    let n_more = || {
        let notes = notes.lock().unwrap();
        let counts =
            notes.iter().filter_map(|(line, _)| line.strip_prefix("model pets: ")?.split_once(" more "));
        counts.map(|(count, _)| count.parse::<u64>().unwrap()).sum::<u64>()
    };
    soon("the others are noted", || n_more() == 5);
    assert!(notes.lock().unwrap().iter().all(|(_, is_warning)| *is_warning));
    let bench = Bench::with(&[("pets", pets())], |config| {
        let kept = Arc::clone(&notes);
        config.limits.requests = 0;
        config.journal = rosenblatt_server::Journal::new(move |note| {
            kept.lock().unwrap().push((note.text.to_owned(), true));
        });
    });
    assert_eq!(bench.json("/v1/models/pets/predict", "[[4, 4]]").code(), "busy");
    assert_eq!(
        has("model pets: a request was refused: too many requests at a time (`busy`)"),
        1,
        "{notes:?}"
    );
}

#[test]
fn versions_say_when_they_were_made_from_what_and_what_they_learned() {
    let mut bench = Bench::new(&[("pets", pets())]);
    let whole = bench.whole.take();
    let teach = |bench: &Bench| {
        bench
            .post("/v1/models/pets/learn", "text/csv", "legs,weight,label\n0,9,fish\n4,3.5,cat\n")
            .ok()
            .value()
    };
    let receipt = teach(&bench);
    bench.json("/v1/models/pets/versions", "").ok();
    bench.json("/v1/models/pets/versions", "{\"of\": 1}").ok();
    teach(&bench);
    teach(&bench);
    let listed = |bench: &Bench| bench.get("/v1/models/pets/versions").ok().value()["versions"].clone();
    soon("it is published", || listed(&bench)[2]["learned"] == 4);
    for turn in 0..2 {
        let versions = listed(&bench);
        let [first, second, third] = [0, 1, 2].map(|place| &versions[place]);
        assert_eq!((&first["from"], &first["learned"]), (&Value::Null, &2.into()), "{turn}: {versions}");
        assert_eq!(first["errors"], receipt["errors-so-far"], "{versions}");
        let share = receipt["errors-so-far"].as_f64().unwrap() / 2.0;
        assert_eq!(first["progressive-error"], share, "{versions}");
        assert_eq!((&second["from"], &second["learned"]), (&1.into(), &0.into()), "{versions}");
        assert!(second["progressive-error"].is_null(), "{versions}");
        assert_eq!((&third["from"], &third["learned"]), (&1.into(), &4.into()), "{versions}");
        for version in [first, second, third] {
            let made = version["made"].as_str().unwrap();
            assert!(made.starts_with("20") && made.len() == 20 && made.ends_with('Z'), "{made}");
        }
        bench.stop();
        bench = Bench::at(&bench.folder.clone(), |_| {});
    }
    // What a version learned is known, too, if its file is replaced while no server runs.
    bench.stop();
    std::fs::write(bench.folder.join("pets.model"), model_of("iris.csv", perceptron())).unwrap();
    let bench = Bench::at(&bench.folder.clone(), |_| {});
    assert_eq!(listed(&bench)[2]["learned"], 4);
    let described = bench.get("/openapi.json").ok().value();
    let of_version =
        &described["components"]["schemas"]["Versions"]["properties"]["versions"]["items"]["properties"];
    for name in ["made", "from", "learned", "errors", "progressive-error", "calibrated"] {
        assert!(of_version[name].is_object(), "{name}");
    }
    drop(whole);
}

#[test]
fn the_first_version_stays_and_has_the_probabilities() {
    let iris = calibrated(&Source::file(crate::bench::bundled("iris.csv")));
    let bench = Bench::with(&[("iris", iris)], |config| config.limits.versions = 2);
    let (row, asked) = ("[5.1, 3.5, 1.4, 0.2]", "/v1/models/iris/predict?probabilities");
    let [learn, versions] = ["learn", "versions"].map(|what| format!("/v1/models/iris/{what}"));
    for number in 2..6 {
        bench.json(&learn, r#"{"rows": [[5.1, 3.5, 1.4, 0.2]], "labels": ["setosa"]}"#).ok();
        assert_eq!(bench.json(&versions, "").ok().value()["version"], number);
        // The version is what was learned, and has learned nothing itself.
        let refused = bench.json(asked, row).value();
        assert_eq!(refused["code"], "not-calibrated");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("has learned online since version 1"), "{refused}");
        let help = refused["help"].as_str().unwrap();
        assert!(help.contains("{\"of\": 1}") && help.contains("--calibrate platt"), "{help}");
    }
    let listed = bench.get(&versions).ok().value();
    let numbers: Vec<u64> = listed["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["version"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 4, 5]);
    bench.json(&versions, "{\"of\": 1}").ok();
    bench.json(asked, row).ok();
    assert_eq!(bench.json(&versions, "{\"of\": 3}").code(), "no-version");
}
