//! A small file of every kind, to be spoiled.

use rosenblatt::calibration::Method;
use rosenblatt::data::{Missing, ReadOptions, Source, load_with_schema};
use rosenblatt::learning::{Random, Readout};
use rosenblatt::options::Classes;
use rosenblatt::options::{KernelOptions, Mapping, NetworkOptions};
use rosenblatt::train::{CheckpointRequest, Checkpointer};
use rosenblatt::{Dataset, Options, Spec, Training, train};
use std::sync::Arc;

fn data() -> Dataset {
    let mut random = Random::new(3);
    let rows: Vec<[f64; 4]> = (0..60).map(|_| std::array::from_fn(|_| random.unit() - 0.5)).collect();
    let names: Vec<String> =
        rows.iter().map(|row| format!("class {}", ((row[0] + row[1] + 1.0) * 1.5) as u32)).collect();
    Dataset::from_rows(&rows, &names)
}

/// A small file of every kind.
pub(crate) fn files() -> Vec<(&'static str, Vec<u8>)> {
    struct Once(Vec<u8>);
    impl Checkpointer for Once {
        fn request(&mut self, so_far: &rosenblatt::learning::Totals) -> CheckpointRequest {
            if so_far.epochs == 1 { CheckpointRequest::SaveAndStop } else { CheckpointRequest::Continue }
        }
        fn save(&mut self, checkpoint: &[u8]) {
            self.0 = checkpoint.to_vec();
        }
    }
    let spec = |readout, multiclass, kernel| {
        let options = Options { readout: Some(readout), multiclass, kernel, epochs: 2, ..Options::default() };
        Spec::new(options).unwrap()
    };
    let planes = spec(Readout::Last, Classes::OneVsRest, None);
    let votes = spec(Readout::Voted, Classes::OneVsOne, None);
    let mapped = |name: &str| {
        let map = Some(Mapping { name: name.to_owned(), size: 8, ..Mapping::default() });
        Spec::new(Options { map, epochs: 2, ..Options::default() }).unwrap()
    };
    let sums = spec(Readout::Last, Classes::OneVsRest, Some(KernelOptions::default()));
    let kernel_votes = spec(Readout::Voted, Classes::OneVsOne, Some(KernelOptions::default()));
    let network = Spec::new(Options {
        algorithm: "mlp".to_owned(),
        network: Some(NetworkOptions { sizes: Some(vec![3, 2]), ..NetworkOptions::default() }),
        epochs: 2,
        ..Options::default()
    });
    let network = network.unwrap();
    let checkpoint = |spec: &Spec| {
        let mut kept = Once(Vec::new());
        Training::new(spec, &data()).checkpointer(&mut kept).run(&mut ()).unwrap_err();
        kept.0
    };
    vec![
        ("model of a kernel", train(&sums, &data()).unwrap().to_bytes()),
        ("model of a kernel's votes", train(&kernel_votes, &data()).unwrap().to_bytes()),
        ("checkpoint of a kernel", checkpoint(&kernel_votes)),
        ("model of a network", train(&network, &data()).unwrap().to_bytes()),
        ("checkpoint of a network", checkpoint(&network)),
        ("model of weights", train(&planes, &data()).unwrap().to_bytes()),
        ("model of votes", train(&votes, &data()).unwrap().to_bytes()),
        ("model behind drawn directions", train(&mapped("fourier"), &data()).unwrap().to_bytes()),
        ("model behind landmarks", train(&mapped("nystroem"), &data()).unwrap().to_bytes()),
        ("checkpoint", checkpoint(&votes)),
        (
            "model of a table",
            of_table(Method::Platt, "a,b,kind,label\n", |i| {
                format!(
                    "{},{}.5,{},{}\n",
                    i % 7,
                    i * i % 11,
                    ["red", "blue", ""][i % 3],
                    ["x", "y"][i / 2 % 2]
                )
            }),
        ),
        (
            "model of texts",
            of_table(Method::Isotonic, "", |i| {
                format!(
                    "{}\tword{} and {}\n",
                    ["ham", "spam"][i / 2 % 2],
                    i % 5,
                    ["more", "less", "none"][i % 3]
                )
            }),
        ),
    ]
}

/// A calibrated model of what a file holds, with what it takes to read more of it.
fn of_table(method: Method, head: &str, line: impl Fn(usize) -> String) -> Vec<u8> {
    let text: String = std::iter::once(head.to_owned()).chain((0..24).map(line)).collect();
    let name = if head.is_empty() { "t.tsv" } else { "t.csv" };
    // Of texts none can be missing.
    let missing = if head.is_empty() { Missing::default() } else { Missing::Mean };
    let read = ReadOptions { missing, ..ReadOptions::default() };
    let (data, schema) = load_with_schema(&Source::bytes(name, text.into_bytes()), &read).unwrap();
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    let model = train(&Spec::default(), &data).unwrap().with_schema(Arc::new(schema));
    model.calibrated(method, &data, &rows).unwrap().to_bytes()
}
