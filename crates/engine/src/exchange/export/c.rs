//! C: one self-contained C99 source with one function from a row to scores, probabilities and the class, or to a number.
//!
//! The model is tables of constants; the code around them is the same for every model. Column names become names of fields.

use super::additive::{Additive, Kind, Naming, Points};
use super::exact;
use crate::calibration::Curve;
use rosenblatt_data::harmless;
use std::fmt::Write as _;

/// Names that fields cannot have: words of C and C++, and macros that compilers define.
const KEYWORDS: &str = " auto break case char const continue default do double else enum extern float for goto if inline int long \
                        register restrict return short signed sizeof static struct switch typedef union unsigned void \
                        volatile while bool true false nullptr alignas alignof constexpr static_assert thread_local typeof \
                        asm class new delete this template namespace operator private public protected try catch throw \
                        virtual friend and or not xor NAN NULL INFINITY typeof_unqual linux unix i386 ";

/// The text of the source.
pub(super) fn bytes(model: &Additive<'_>) -> Vec<u8> {
    let Additive { biases, parts, reading, .. } = model;
    let (n_outputs, n_classes) = (biases.len(), reading.classes.len());
    let mut text = String::from("/*\n");
    for line in model.about("NAN, of a category NULL or an empty text") {
        let _ = writeln!(text, " * {}", comment(&line));
    }
    text.push_str(" * Link with -lm.\n */\n#include <math.h>\n#include <stddef.h>\n#include <string.h>\n\n");
    let classes =
        if reading.is_number() { String::new() } else { format!(", ROSENBLATT_CLASSES = {n_classes}") };
    let _ = writeln!(text, "enum {{ ROSENBLATT_SCORES = {n_outputs}{classes} }};\n");

    text.push_str("typedef struct {\n");
    let mut fields: Vec<String> = Vec::new();
    for part in parts {
        let field = field(&part.name, &fields);
        let what = if matches!(part.kind, Kind::Table { .. }) { "const char *" } else { "double " };
        let _ = writeln!(text, "    {what}{field}; /* {} */", comment(&part.name));
        fields.push(field);
    }
    text.push_str("} rosenblatt_row;\n\ntypedef struct {\n");
    let scores = if reading.is_number() {
        text.push_str(
            "    double prediction; /* NAN if a value is missing that the model needs, or too large for it */\n} rosenblatt_prediction;\n\n",
        );
        text.push_str(SUMS);
        "scores[ROSENBLATT_SCORES]"
    } else {
        text.push_str(
            "    int class_number; /* from 0; -1 if a value is missing that the model needs, or too large for it */\n    \
             const char *class_name; /* NULL then */\n    double scores[ROSENBLATT_SCORES];\n    \
             double probabilities[ROSENBLATT_CLASSES]; /* NAN if the model has none */\n} rosenblatt_prediction;\n\n",
        );
        let names: Vec<String> = reading.classes.iter().map(|class| string(class)).collect();
        let _ = writeln!(text, "static const char *const rosenblatt_classes[] = {{{}}};\n", names.join(", "));
        text.push_str(SUMS);
        text.push_str(CLASSES);
        "*scores = found.scores"
    };
    text.push_str("\nrosenblatt_prediction rosenblatt_predict(const rosenblatt_row *row) {\n");
    let _ = writeln!(text, "    rosenblatt_prediction found;\n    double {scores};\n    int known = 1;");
    let _ = writeln!(text, "    {}", constants("biases", std::slice::from_ref(biases)));
    text.push_str("    memcpy(scores, biases, sizeof biases);\n");
    for (part, field) in parts.iter().zip(&fields) {
        let _ = writeln!(text, "    {{");
        let mut line = |line: &str| {
            let _ = writeln!(text, "        {line}");
        };
        let is_missing = if matches!(part.kind, Kind::Table { .. }) {
            format!("row->{field} == NULL || *row->{field} == '\\0'")
        } else {
            format!("isnan(row->{field})")
        };
        if let Some(points) = &part.missing {
            line(&constants("missing", std::slice::from_ref(points)));
        }
        let missing =
            if part.missing.is_some() { "rosenblatt_add(scores, missing[0], 1)" } else { "known = 0" };
        match &part.kind {
            Kind::Line { slopes, .. } => {
                line(&constants("slopes", std::slice::from_ref(slopes)));
                line(&format!("if ({is_missing}) {missing};"));
                line(&format!("else rosenblatt_add(scores, slopes[0], row->{field});"));
            }
            Kind::Curve(bent) => {
                for (name, points) in [("knot", &bent.knots), ("value", &bent.values)] {
                    if !points.is_empty() {
                        let at: Vec<String> = points.iter().map(|(at, _)| exact(*at)).collect();
                        line(&format!("static const double {name}s[] = {{{}}};", at.join(", ")));
                        let heights: Vec<Points> = points.iter().map(|(_, points)| points.clone()).collect();
                        line(&constants(&format!("at_{name}s"), &heights));
                    }
                }
                line(&format!("if ({is_missing}) {missing};"));
                line("else {");
                if !bent.knots.is_empty() {
                    let n_knots = bent.knots.len();
                    line(&format!("    rosenblatt_curve(scores, row->{field}, {n_knots}, knots, at_knots);"));
                }
                if !bent.values.is_empty() {
                    let n_values = bent.values.len();
                    line(&format!(
                        "    rosenblatt_value(scores, row->{field}, {n_values}, values, at_values);"
                    ));
                }
                line("}");
            }
            Kind::Table { values, other } => {
                let names: Vec<String> = values.iter().map(|(value, _)| string(value)).collect();
                line(&format!("static const char *const values[] = {{{}}};", names.join(", ")));
                // What is none of them stands after them.
                let points =
                    values.iter().map(|(_, points)| points).chain([other]).cloned().collect::<Vec<_>>();
                line(&constants("points", &points));
                line(&format!("if ({is_missing}) {missing};"));
                let place = format!("rosenblatt_find(row->{field}, {}, values)", values.len());
                line(&format!("else rosenblatt_add(scores, points[{place}], 1);"));
            }
        }
        text.push_str("    }\n");
    }
    if reading.is_number() {
        text.push_str("    found.prediction = known && isfinite(scores[0]) ? scores[0] : NAN;\n");
    } else {
        reading_text(model, &mut text);
    }
    text.push_str("    return found;\n}\n");
    text.into_bytes()
}

/// From scores to probabilities and a class.
fn reading_text(model: &Additive<'_>, text: &mut String) {
    let reading = &model.reading;
    let n_classes = reading.classes.len();
    text.push_str("    double standings[ROSENBLATT_CLASSES], ranks[ROSENBLATT_CLASSES];\n");
    if !reading.curves.is_empty() {
        text.push_str("    double shares[ROSENBLATT_CLASSES];\n");
    }
    text.push_str("    int class, best;\n    for (class = 0; class < ROSENBLATT_CLASSES; class++) found.probabilities[class] = NAN;\n");
    text.push_str(
        "    for (class = 0; class < ROSENBLATT_SCORES; class++) known = known && isfinite(scores[class]);\n    \
         if (!known) {\n        for (class = 0; class < ROSENBLATT_SCORES; class++) scores[class] = NAN;\n        \
         found.class_number = -1;\n        found.class_name = NULL;\n        return found;\n    }\n",
    );
    if n_classes == 2 {
        text.push_str("    standings[0] = 0;\n    standings[1] = scores[0];\n");
    } else if reading.pairs.is_empty() {
        text.push_str("    memcpy(standings, scores, sizeof standings);\n");
    } else {
        text.push_str("    rosenblatt_duels(scores, standings);\n");
    }
    let order = if reading.takes_last { ">=" } else { ">" };
    let _ = writeln!(
        text,
        "    best = 0;\n    for (class = 1; class < ROSENBLATT_CLASSES; class++)\n        if (standings[class] {order} standings[best]) best = class;"
    );
    text.push_str("    memcpy(ranks, standings, sizeof ranks);\n");
    let first = usize::from(n_classes == 2);
    let by_probability = !matches!(reading.naming, Naming::Scores);
    let mut is_softmax = false;
    for (class, curve) in (first..).zip(reading.curves) {
        match curve {
            Curve::Platt { slope, offset } => {
                let _ = writeln!(
                    text,
                    "    ranks[{class}] = {} * standings[{class}] + {};\n    shares[{class}] = 1 / (1 + exp(-ranks[{class}]));",
                    exact(-slope),
                    exact(-offset)
                );
            }
            Curve::Isotonic { scores, shares } => {
                let list = |numbers: &[f64]| {
                    numbers.iter().map(|number| exact(*number)).collect::<Vec<_>>().join(", ")
                };
                let _ = writeln!(
                    text,
                    "    {{\n        static const double at[] = {{{}}};\n        static const double share[] = {{{}}};\n        \
                     shares[{class}] = rosenblatt_between(standings[{class}], {}, at, share);\n        \
                     ranks[{class}] = shares[{class}] - 5e-1;\n    }}",
                    list(scores),
                    list(shares),
                    scores.len()
                );
            }
            Curve::Softmax => is_softmax = true,
        }
    }
    if is_softmax {
        text.push_str(
            "    for (class = 0; class < ROSENBLATT_CLASSES; class++) shares[class] = exp(standings[class] - standings[best]);\n",
        );
    }
    if !reading.curves.is_empty() {
        if n_classes == 2 {
            text.push_str(
                "    found.probabilities[0] = 1 - shares[1];\n    found.probabilities[1] = shares[1];\n",
            );
        } else {
            text.push_str("    rosenblatt_divide(shares, found.probabilities);\n");
        }
    }
    if by_probability {
        if let Naming::Costs(costs) = &reading.naming {
            let rows: Vec<Points> = costs.rows().chunks(n_classes).map(<[f64]>::to_vec).collect();
            let _ = writeln!(text, "    {}", constants_of("costs", &rows, "ROSENBLATT_CLASSES"));
            text.push_str("    rosenblatt_gains(found.probabilities, costs, ranks);\n");
        }
        text.push_str(
            "    for (class = 0; class < ROSENBLATT_CLASSES; class++)\n        if (ranks[class] > ranks[best]) best = class;\n",
        );
    }
    text.push_str("    found.class_number = best;\n    found.class_name = rosenblatt_classes[best];\n");
}

/// What every model needs.
const SUMS: &str = r"static inline void rosenblatt_add(double *scores, const double *points, double times) {
    for (int output = 0; output < ROSENBLATT_SCORES; output++) scores[output] += points[output] * times;
}

/* Lines between knots, level beyond them. */
static inline void rosenblatt_curve(double *scores, double x, int n, const double *knots,
                                    const double (*heights)[ROSENBLATT_SCORES]) {
    int above = 0;
    while (above < n && knots[above] <= x) above++;
    if (above == 0 || above == n) {
        rosenblatt_add(scores, heights[above == 0 ? 0 : n - 1], 1);
    } else {
        double share = (x - knots[above - 1]) / (knots[above] - knots[above - 1]);
        rosenblatt_add(scores, heights[above - 1], 1 - share);
        rosenblatt_add(scores, heights[above], share);
    }
}

static inline void rosenblatt_value(double *scores, double x, int n, const double *values,
                                    const double (*points)[ROSENBLATT_SCORES]) {
    for (int place = 0; place < n; place++)
        if (values[place] == x) rosenblatt_add(scores, points[place], 1);
}

static inline int rosenblatt_find(const char *text, int n, const char *const *values) {
    int place = 0;
    while (place < n && strcmp(text, values[place]) != 0) place++;
    return place;
}
";

/// What classes need beside.
const CLASSES: &str = r"
static inline double rosenblatt_between(double x, int n, const double *at, const double *share) {
    int above = 0;
    while (above < n && at[above] <= x) above++;
    if (above == 0 || above == n) return share[above == 0 ? 0 : n - 1];
    return share[above - 1]
         + (share[above] - share[above - 1]) * ((x - at[above - 1]) / (at[above] - at[above - 1]));
}

/* Of every class the duels that it wins, and less than a third of one for the sum of their scores. */
static inline void rosenblatt_duels(const double *scores, double *standings) {
    double sums[ROSENBLATT_CLASSES] = {0}, wins[ROSENBLATT_CLASSES] = {0};
    int pair = 0;
    for (int a = 0; a < ROSENBLATT_CLASSES; a++) {
        for (int b = a + 1; b < ROSENBLATT_CLASSES; b++, pair++) {
            double won = (scores[pair] > 0) - (scores[pair] < 0);
            sums[a] += scores[pair];
            sums[b] -= scores[pair];
            wins[a] += won;
            wins[b] -= won;
        }
    }
    for (int class = 0; class < ROSENBLATT_CLASSES; class++)
        standings[class] = wins[class] + sums[class] / (3 * (fabs(sums[class]) + 1));
}

static inline void rosenblatt_divide(const double *shares, double *probabilities) {
    double sum = 0;
    for (int class = 0; class < ROSENBLATT_CLASSES; class++) sum += shares[class];
    for (int class = 0; class < ROSENBLATT_CLASSES; class++)
        probabilities[class] = sum > 0 ? shares[class] / sum : 1.0 / ROSENBLATT_CLASSES;
}

static inline void rosenblatt_gains(const double *probabilities, const double (*costs)[ROSENBLATT_CLASSES],
                                    double *gains) {
    for (int named = 0; named < ROSENBLATT_CLASSES; named++) {
        gains[named] = 0;
        for (int truth = 0; truth < ROSENBLATT_CLASSES; truth++)
            gains[named] -= probabilities[truth] * costs[truth][named];
    }
}
";

/// A table of constants, a line per thing.
fn constants(name: &str, lines: &[Points]) -> String {
    constants_of(name, lines, "ROSENBLATT_SCORES")
}

fn constants_of(name: &str, lines: &[Points], width: &str) -> String {
    let line = |points: &Points| {
        let points: Vec<String> = points.iter().map(|number| exact(*number)).collect();
        format!("{{{}}}", points.join(", "))
    };
    let lines: Vec<String> = lines.iter().map(line).collect();
    format!("static const double {name}[][{width}] = {{{}}};", lines.join(", "))
}

/// Text within a comment: nothing in it ends the comment, seems to begin another or shows code that is not there.
fn comment(text: &str) -> String {
    harmless(text).replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\t'], " ")
}

/// A string, byte by byte where it is not plain: an octal escape ends after three digits, a hexadecimal one does not.
fn string(value: &str) -> String {
    let mut text = String::from("\"");
    for byte in value.bytes() {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' if byte != b'?' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text.push('"');
    text
}

/// A name for the field of a column that no other has.
fn field(name: &str, taken: &[String]) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    let mut field: String = name.chars().map(plain).collect();
    if field.is_empty() || field.starts_with(|first: char| first.is_ascii_digit() || first == '_') {
        field.insert_str(0, "column_");
    }
    while KEYWORDS.contains(&format!(" {field} ")) || taken.contains(&field) {
        field.push('_');
    }
    field
}
