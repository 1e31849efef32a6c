//! JavaScript: an ES module with the model as an object, and one function from a row to scores, probabilities and the class,
//! or to a number.

use super::additive::{Additive, Bent, Cross, Height, Kind, Naming, Part};
use crate::calibration::Curve;
use rosenblatt_data::MISSING_CELLS;
use serde_json::{Value, json};

/// The text of the module.
pub(super) fn bytes(model: &Additive<'_>) -> Vec<u8> {
    let reading = &model.reading;
    let costs = match &reading.naming {
        Naming::Costs(costs) => {
            Some(costs.rows().chunks(reading.classes.len()).map(<[f64]>::to_vec).collect::<Vec<_>>())
        }
        _ => None,
    };
    let curve = |curve: &Curve| match curve {
        Curve::Platt { slope, offset } => json!({ "slope": slope, "offset": offset }),
        Curve::Isotonic { scores, shares } => json!({ "at": scores, "shares": shares }),
        Curve::Softmax => json!({}),
    };
    let mut whole = json!({
        "biases": model.biases,
        "columns": model.parts.iter().map(part).collect::<Vec<_>>(),
        "crosses": model.crosses.iter().map(cross).collect::<Vec<_>>(),
        "missingCells": MISSING_CELLS,
    });
    if !reading.is_number() {
        whole["classes"] = json!(reading.classes);
        whole["pairs"] = json!(reading.pairs);
        whole["curves"] = json!(reading.curves.iter().map(curve).collect::<Vec<_>>());
        whole["namedByScores"] = json!(matches!(reading.naming, Naming::Scores));
        whole["costs"] = json!(costs);
        whole["takesLast"] = json!(reading.takes_last);
    }
    let about = model.about("null, undefined, NaN or one of missingCells");
    let about: Vec<String> = about.iter().map(|line| format!("// {line}")).collect();
    let predicts = if reading.is_number() { NUMBER } else { CLASSES };
    let text = format!("{}\n\nconst model = {whole:#};\n\n{SUMS}{predicts}", about.join("\n"));
    // The source may stand in a page, where this would end it.
    text.replace("</", "<\\/").into_bytes()
}

fn part(part: &Part<'_>) -> Value {
    let mut value = match &part.kind {
        Kind::Line { slopes, .. } => json!({ "slopes": slopes }),
        Kind::Curve(bent) => {
            let mut value = places(bent);
            let n_heights = bent.knots.len() + bent.values.len();
            value["heights"] = json!(bent.levels().take(n_heights).collect::<Vec<_>>());
            value
        }
        // Pairs, as names of an object may have a meaning of their own.
        Kind::Table { values, other } => json!({ "categories": values, "other": other }),
    };
    value["name"] = json!(part.name);
    value["missing"] = json!(part.missing);
    value
}

/// Where a column has heights, beside that of a missing value: they stand in this order, that one last.
fn places<H: Height>(bent: &Bent<H>) -> Value {
    let at = |list: &[(f64, H)]| list.iter().map(|(at, _)| *at).collect::<Vec<_>>();
    json!({ "knots": at(&bent.knots), "values": at(&bent.values) })
}

fn cross(cross: &Cross) -> Value {
    let Cross { parts, surface } = cross;
    let heights: Vec<Vec<_>> = surface.levels().map(|curve| curve.levels().collect()).collect();
    let second = surface.levels().next().map(places);
    json!({ "columns": parts, "axes": [places(surface), second], "heights": heights })
}

/// What every model needs.
const SUMS: &str = r#"for (const column of model.columns) {
  if (column.categories) column.categories = new Map(column.categories);
}

const add = (sums, points, times) => points.forEach((point, output) => { sums[output] += point * times; });

// How many of these numbers, ascending, are no larger.
const below = (numbers, x) => {
  let count = 0;
  while (count < numbers.length && numbers[count] <= x) count++;
  return count;
};

const isMissing = (cell) => cell === null || cell === undefined || Number.isNaN(cell)
  || (typeof cell === "string" && model.missingCells.includes(cell.trim().toLowerCase()));

// What every object has by birth, such as `constructor`, is no cell.
const cellOf = (row, name) =>
  (name in Object.prototype && !Object.prototype.hasOwnProperty.call(row, name) ? undefined : row[name]);

// Of a column that bends the places of the heights that count at a number, and how much of each.
function levelsAt({ knots, values }, x) {
  const levels = [];
  const above = below(knots, x);
  if (knots.length > 0 && (above === 0 || above === knots.length)) {
    levels.push([Math.max(above - 1, 0), 1]);
  } else if (knots.length > 0) {
    const share = (x - knots[above - 1]) / (knots[above] - knots[above - 1]);
    levels.push([above - 1, 1 - share], [above, share]);
  }
  const place = values.indexOf(x);
  if (place >= 0) levels.push([knots.length + place, 1]);
  return levels;
}

// What a cell adds to the sums; false if it is missing and the model has no answer to that.
function addCell(sums, column, cell) {
  if (isMissing(cell)) {
    if (column.missing) add(sums, column.missing, 1);
    return column.missing !== null;
  }
  if (column.categories) {
    add(sums, column.categories.get(String(cell).trim()) ?? column.other, 1);
    return true;
  }
  const x = ["number", "string", "bigint"].includes(typeof cell) ? Number(cell) : NaN;
  if (Number.isNaN(x)) throw new TypeError(`${column.name} should be a number, but is ${cell}`);
  if (column.slopes) {
    add(sums, column.slopes, x);
    return true;
  }
  for (const [place, share] of levelsAt(column, x)) add(sums, column.heights[place], share);
  return true;
}

// What the cells of two columns add together to the sums.
function addCross(sums, { axes, heights }, cells) {
  const [left, right] = axes.map((axis, side) =>
    isMissing(cells[side]) ? [[axis.knots.length + axis.values.length, 1]] : levelsAt(axis, Number(cells[side])));
  for (const [one, share] of left) {
    for (const [other, part] of right) add(sums, heights[one][other], share * part);
  }
}

// The scores of a row; null if a value is missing that the model needs, or too large for it.
function scoresOf(row) {
  const scores = model.biases.slice();
  let known = true;
  for (const column of model.columns) known = addCell(scores, column, cellOf(row, column.name)) && known;
  for (const cross of known ? model.crosses : []) {
    addCross(scores, cross, cross.columns.map((place) => cellOf(row, model.columns[place].name)));
  }
  return known && scores.every(Number.isFinite) ? scores : null;
}
"#;

/// What predicts a number.
const NUMBER: &str = r"
/**
 * The number that is predicted of a row, an object with a value for each column.
 * @returns {{prediction: number}} NaN if a value is missing that the model needs, or too large for it
 */
export function predict(row) {
  const scores = scoresOf(row);
  return { prediction: scores === null ? NaN : scores[0] };
}
";

/// What names classes.
const CLASSES: &str = r"
// Of every class what it has for it: its score; of pairs the duels that it wins and less than one for their scores, or
// for probabilities its lowest score against another.
function standingsOf(scores, byVotes) {
  if (model.classes.length === 2) return [0, scores[0]];
  if (model.pairs.length === 0) return scores.slice();
  if (!byVotes) {
    const lowest = model.classes.map(() => Infinity);
    model.pairs.forEach(([a, b], pair) => {
      lowest[a] = Math.min(lowest[a], scores[pair]);
      lowest[b] = Math.min(lowest[b], -scores[pair]);
    });
    return lowest;
  }
  const sums = model.classes.map(() => 0);
  const wins = model.classes.map(() => 0);
  model.pairs.forEach(([a, b], pair) => {
    sums[a] += scores[pair];
    sums[b] -= scores[pair];
    wins[a] += Math.sign(scores[pair]);
    wins[b] -= Math.sign(scores[pair]);
  });
  return sums.map((sum, place) => wins[place] + sum / (3 * (Math.abs(sum) + 1)));
}

// The share of a class, and what grows with it.
function shareOf(curve, score) {
  if (curve.at) {
    const { at, shares } = curve;
    const above = below(at, score);
    if (above === 0 || above === at.length) {
      const share = shares[Math.max(above - 1, 0)];
      return [share, share - 0.5];
    }
    const [low, high] = [shares[above - 1], shares[above]];
    const share = low + (high - low) * ((score - at[above - 1]) / (at[above] - at[above - 1]));
    return [share, share - 0.5];
  }
  const rank = -(curve.slope * score + curve.offset);
  return [1 / (1 + Math.exp(-rank)), rank];
}

/**
 * The class of a row, an object with a value for each column.
 * @returns {{class: ?string, scores: number[], probabilities: ?number[]}} class null and scores NaN if a value is
 * missing that the model needs, or too large for it; probabilities in the order of `classes`, null if the model has none
 */
export function predict(row) {
  const scores = scoresOf(row);
  if (scores === null) return { class: null, scores: model.biases.map(() => NaN), probabilities: null };
  const named = standingsOf(scores, model.namedByScores);
  let best = 0;
  named.forEach((standing, place) => {
    if (standing > named[best] || (model.takesLast && standing === named[best])) best = place;
  });
  const standings = standingsOf(scores, model.curves.length === 0);
  let ranks = standings.slice();
  let probabilities = null;
  if (model.curves.length === 1) {
    const [share, rank] = shareOf(model.curves[0], scores[0]);
    ranks = [0, rank];
    probabilities = [1 - share, share];
  } else if (model.curves.length > 1) {
    const isSoftmax = model.curves[0].slope === undefined && !model.curves[0].at;
    const found = standings.map((score, place) =>
      isSoftmax ? [Math.exp(score - standings[best]), score] : shareOf(model.curves[place], score));
    ranks = found.map(([, rank]) => rank);
    const sum = found.reduce((sum, [share]) => sum + share, 0);
    probabilities = found.map(([share]) => (sum > 0 ? share / sum : 1 / found.length));
  }
  if (model.costs) {
    ranks = model.classes.map((_, named) =>
      probabilities.reduce((gain, share, truth) => gain - share * model.costs[truth][named], 0));
  }
  if (!model.namedByScores) ranks.forEach((rank, place) => { if (rank > ranks[best]) best = place; });
  return { class: model.classes[best], scores, probabilities };
}

/** The classes, in the order of probabilities. */
export const classes = model.classes;
";
