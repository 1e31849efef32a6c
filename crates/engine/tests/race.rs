//! What the default promises: a choice that held-out rows had no part in, an estimate that keeps its word, the same
//! bits after a stop, and no race where a choice was given.

use rosenblatt::data::{ReadOptions, Scaling, Shape, Source, load_with_schema};
use rosenblatt::insight::interval;
use rosenblatt::learning::{Random, Totals};
use rosenblatt::model::Checkpoint;
use rosenblatt::monitor::{CheckpointRequest, Checkpointer, Watch};
use rosenblatt::race::{RaceOptions, Rescale, portfolio, race};
use rosenblatt::recipe::{Choice, Plan};
use rosenblatt::settings::Asked;
use rosenblatt::split::split;
use rosenblatt::{Dataset, Error, Monitor, Options, Recipe, Spec, Trained};
use std::fmt::Write as _;

/// Points around the centres of their classes, some far from home.
struct Cloud {
    n_classes: u64,
    width: usize,
    noise: f64,
}

impl Cloud {
    fn row(&self, random: &mut Random) -> (Vec<f64>, u64) {
        let class = random.below(self.n_classes);
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let centre = |feature: usize| f64::from(u8::from(feature as u64 % self.n_classes == class));
        ((0..self.width).map(|feature| centre(feature) + self.noise * normal()).collect(), class)
    }

    fn csv(&self, n_rows: usize, random: &mut Random) -> String {
        let mut text = String::new();
        for _ in 0..n_rows {
            let (values, class) = self.row(random);
            for value in &values {
                write!(text, "{value:.4},").unwrap();
            }
            writeln!(text, "class {class}").unwrap();
        }
        text
    }
}

fn train(csv: &str, recipe: &Recipe) -> Trained {
    recipe.train(&Source::bytes("rows.csv", csv.as_bytes().to_vec()), &mut ()).unwrap()
}

fn context(trained: &Trained) -> String {
    serde_json::to_string(trained.race.as_ref().unwrap()).unwrap()
}

#[test]
fn held_out_rows_have_no_part_in_the_choice_but_are_learned_from() {
    let cloud = Cloud { n_classes: 3, width: 4, noise: 0.6 };
    let csv = cloud.csv(400, &mut Random::new(4));
    let reading = ReadOptions { scaling: Scaling::None, ..ReadOptions::default() };
    let recipe = Recipe { reading, estimate: Plan::HoldOut(0.2), ..Recipe::default() };
    let first = train(&csv, &recipe);
    // The rows that are held out become others, of the same classes.
    let names: Vec<&str> = csv.lines().map(|line| line.rsplit(',').next().unwrap()).collect();
    let data = rosenblatt::Dataset::from_rows(&vec![[0.0]; 400], &names);
    let (_, held) = split(&data, 0.2, 0);
    let lines = csv.lines().enumerate().map(|(row, line)| {
        if held.contains(&(row as u32)) { format!("9,9,9,9,{}\n", names[row]) } else { format!("{line}\n") }
    });
    let second = train(&lines.collect::<String>(), &recipe);
    assert_eq!(context(&first), context(&second));
    assert_ne!(first.model.kept(), second.model.kept(), "all rows are learned from in the end");
    assert_eq!(first.model.training_summary().rows, 400);
    assert_eq!(first.estimate.unwrap().evaluation.rows, held.len() as u64);
    assert!(second.estimate.unwrap().evaluation.error() > 0.5, "the estimate shows a useless model");
}

/// Columns of two words are 0 and 1 in the model, and so they are where it is decided who wins.
#[test]
fn a_race_is_run_on_what_the_winner_learns_from() {
    let mut random = Random::new(12);
    let mut csv = "size,garden,floor,label\n".to_owned();
    for _ in 0..300 {
        let (size, garden, floor) = (random.unit(), random.below(8) == 0, random.below(2) == 0);
        let is_dear = size + f64::from(u8::from(garden)) + 0.4 * random.unit() > 0.9;
        let word = |is_so: bool| if is_so { "yes" } else { "no" };
        writeln!(csv, "{size:.3},{},{},{}", word(garden), word(floor), word(is_dear)).unwrap();
    }
    let source = Source::bytes("rows.csv", csv.as_bytes().to_vec());
    let (data, schema) = load_with_schema(&source, &ReadOptions::default()).unwrap();
    assert_eq!(schema.indicators(), [false, true, true]);
    let (learned, _) = split(&data, 0.2, 0);
    let by = |rescale: Rescale| {
        let base = Options { validation: None, ..Options::default() };
        let candidates = portfolio(&data, learned.len(), &base).unwrap();
        let options = RaceOptions { rescale, ..RaceOptions::default() };
        serde_json::to_string(&race(&candidates, &data, &learned, &options, &mut ()).unwrap()).unwrap()
    };
    let reading = ReadOptions { shape: Shape::Line, ..ReadOptions::default() };
    let printed =
        context(&train(&csv, &Recipe { reading, estimate: Plan::HoldOut(0.2), ..Recipe::default() }));
    assert_eq!(printed, by(Rescale::AllBut(schema.indicators())));
    assert_ne!(printed, by(Rescale::AllBut(Vec::new())));
}

#[test]
fn the_error_told_keeps_its_word() {
    let clouds = [
        Cloud { n_classes: 2, width: 5, noise: 0.9 },
        Cloud { n_classes: 4, width: 8, noise: 0.5 },
        Cloud { n_classes: 2, width: 40, noise: 1.5 },
    ];
    let (mut n_kept, mut n_told) = (0, 0);
    for (number, cloud) in clouds.iter().enumerate() {
        let mut random = Random::new(100 + number as u64);
        let fresh: Vec<(Vec<f64>, u64)> = (0..4000).map(|_| cloud.row(&mut random)).collect();
        for seed in 0..17 {
            let learning = Asked::only(Options { seed, ..Options::default() }, &["seed"]);
            let trained = train(&cloud.csv(250, &mut random), &Recipe { learning, ..Recipe::default() });
            assert!(trained.race.is_some());
            let wrong = fresh
                .iter()
                .filter(|(row, class)| trained.model.predict(row).unwrap() != format!("class {class}"));
            let error = wrong.count() as f64 / fresh.len() as f64;
            let evaluation = trained.estimate.unwrap().evaluation;
            let (low, high) = interval(evaluation.errors, evaluation.rows);
            n_told += 1;
            n_kept += usize::from(low <= error && error <= high);
        }
    }
    assert!(n_kept * 100 >= n_told * 90, "{n_kept} of {n_told}");
}

/// Stops the training of the model that is kept after this many questions.
struct Impatient {
    left: u64,
    kept: Option<Vec<u8>>,
}

impl Checkpointer for &mut Impatient {
    fn request(&mut self, _so_far: &Totals) -> CheckpointRequest {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { CheckpointRequest::SaveAndStop } else { CheckpointRequest::Continue }
    }

    fn save(&mut self, checkpoint: &[u8]) {
        self.kept = Some(checkpoint.to_vec());
    }
}

impl Monitor for Impatient {
    fn training<'a>(&'a mut self, _: &'a Spec, _: Option<&'a Dataset>) -> Result<Watch<'a>, Error> {
        Ok(Watch { checkpointer: Box::new(self), observer: Box::new(()) })
    }
}

#[test]
fn a_raced_training_that_is_stopped_and_resumed_ends_in_the_same_bits() {
    let cloud = Cloud { n_classes: 3, width: 4, noise: 0.6 };
    let csv = cloud.csv(300, &mut Random::new(9));
    for recipe in [Recipe::default(), Recipe { estimate: Plan::Folds(3), ..Recipe::default() }] {
        let whole = train(&csv, &recipe);
        let source = Source::bytes("rows.csv", csv.as_bytes().to_vec());
        let mut impatient = Impatient { left: 3, kept: None };
        let stopped = recipe.train(&source, &mut impatient);
        assert!(matches!(stopped, Err(Error::Interrupted { .. })));
        let checkpoint = Checkpoint::from_bytes(&impatient.kept.unwrap()).unwrap();
        let resumed = recipe.resume(&source, Some(checkpoint), &mut ()).unwrap();
        assert!(resumed.model.to_bytes() == whole.model.to_bytes());
        assert_eq!(context(&resumed), context(&whole));
    }
}

#[test]
fn what_is_said_is_done_without_a_race() {
    let csv = Cloud { n_classes: 2, width: 3, noise: 0.5 }.csv(80, &mut Random::new(2));
    for learning in [
        Options { algorithm: "pa1".to_owned(), ..Options::default() },
        Options { epochs: 3, ..Options::default() },
        Options { validation: None, ..Options::default() },
    ] {
        let trained = train(&csv, &Recipe { learning: learning.clone().into(), ..Recipe::default() });
        assert!(trained.race.is_none() && trained.model.spec().options().algorithm == learning.algorithm);
    }
    let given = train(&csv, &Recipe { choice: Choice::Given, ..Recipe::default() });
    assert!(given.race.is_none() && given.model.training_summary().folds == Some(5));
    let learning = Asked::only(Options { seed: 3, ..Options::default() }, &["seed"]);
    let seeded = Recipe { learning, ..Recipe::default() };
    assert_eq!(train(&csv, &seeded).model.training_summary().raced, Some(0.0));
}
