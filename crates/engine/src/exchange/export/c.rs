//! C: one self-contained C99 source with one function from a row to scores, probabilities and the class, or to a number.
//!
//! The model is tables of constants; the code around them is the same for every model. Column names become names of fields.

use super::additive::{Additive, Bent, Cross, Height, Kind, Naming, Points};
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
    let Additive { biases, parts, crosses, reading, .. } = model;
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
        if let (Some(points), Kind::Line { .. } | Kind::Table { .. }) = (&part.missing, &part.kind) {
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
                let (tables, place) = place(bent, field, "");
                for table in &tables {
                    line(table);
                }
                let heights: Vec<Points> = bent.levels().cloned().collect();
                if !heights.is_empty() {
                    line(&constants("heights", &heights));
                }
                // A missing value with an answer has a height, too.
                let curve = format!("rosenblatt_curve(scores, {place}, heights)");
                match (&part.missing, heights.is_empty()) {
                    (Some(_), _) => line(&format!("{curve};")),
                    (None, true) => line(&format!("if ({is_missing}) {missing};")),
                    (None, false) => line(&format!("if ({is_missing}) {missing};\n        else {curve};")),
                }
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
    for Cross { parts: pair, surface } in crosses {
        let Some(curve) = surface.levels().next() else { continue };
        let [one, other] = pair.map(|place| &fields[place]);
        let (mut tables, first) = place(surface, one, "_1");
        let (more, second) = place(curve, other, "_2");
        tables.extend(more);
        let heights: Vec<Points> = surface.levels().flat_map(Bent::levels).cloned().collect();
        tables.push(constants("heights", &heights));
        let n_levels = curve.levels().count();
        tables
            .push(format!("if (known) rosenblatt_surface(scores, {first}, {second}, {n_levels}, heights);"));
        let _ = writeln!(text, "    {{\n        {}\n    }}", tables.join("\n        "));
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
    let by_probability = !matches!(reading.naming, Naming::Scores);
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
    } else if by_probability {
        text.push_str(LOWEST);
    } else {
        text.push_str("    rosenblatt_duels(scores, standings);\n");
    }
    let order = if reading.takes_last { ">=" } else { ">" };
    let _ = writeln!(
        text,
        "    best = 0;\n    for (class = 1; class < ROSENBLATT_CLASSES; class++)\n        if (standings[class] {order} standings[best]) best = class;"
    );
    text.push_str("    memcpy(ranks, standings, sizeof ranks);\n");
    if !reading.pairs.is_empty() && !reading.curves.is_empty() && !by_probability {
        text.push_str(LOWEST);
    }
    let first = usize::from(n_classes == 2);
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

/* Of a column that bends the places of the heights that count, and how much of each. */
typedef struct {
    int count, places[3];
    double shares[3];
} rosenblatt_levels;

/* Lines between knots, level beyond them; then values with a height of their own, and last a missing one. */
static inline rosenblatt_levels rosenblatt_at(double x, int n_knots, const double *knots,
                                              int n_values, const double *values) {
    rosenblatt_levels at = {0, {0, 0, 0}, {0, 0, 0}};
    int above = 0, place = 0;
    if (isnan(x)) {
        at.places[at.count] = n_knots + n_values;
        at.shares[at.count++] = 1;
        return at;
    }
    while (above < n_knots && knots[above] <= x) above++;
    if (n_knots > 0 && (above == 0 || above == n_knots)) {
        at.places[at.count] = above == 0 ? 0 : n_knots - 1;
        at.shares[at.count++] = 1;
    } else if (n_knots > 0) {
        double share = (x - knots[above - 1]) / (knots[above] - knots[above - 1]);
        at.places[at.count] = above - 1;
        at.shares[at.count++] = 1 - share;
        at.places[at.count] = above;
        at.shares[at.count++] = share;
    }
    while (place < n_values && values[place] != x) place++;
    if (place < n_values) {
        at.places[at.count] = n_knots + place;
        at.shares[at.count++] = 1;
    }
    return at;
}

static inline void rosenblatt_curve(double *scores, rosenblatt_levels at,
                                    const double (*heights)[ROSENBLATT_SCORES]) {
    for (int level = 0; level < at.count; level++)
        rosenblatt_add(scores, heights[at.places[level]], at.shares[level]);
}

/* What two columns add together: for each level of the first, all of the second. */
static inline void rosenblatt_surface(double *scores, rosenblatt_levels one, rosenblatt_levels other, int n_levels,
                                      const double (*heights)[ROSENBLATT_SCORES]) {
    for (int level = 0; level < one.count; level++)
        for (int beside = 0; beside < other.count; beside++)
            rosenblatt_add(scores, heights[one.places[level] * n_levels + other.places[beside]],
                           one.shares[level] * other.shares[beside]);
}

static inline int rosenblatt_find(const char *text, int n, const char *const *values) {
    int place = 0;
    while (place < n && strcmp(text, values[place]) != 0) place++;
    return place;
}
";

/// How probabilities of pairs take their scores.
const LOWEST: &str = "    rosenblatt_lowest(scores, standings);\n";

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

/* Of every class its lowest score against another. */
static inline void rosenblatt_lowest(const double *scores, double *standings) {
    int pair = 0;
    for (int class = 0; class < ROSENBLATT_CLASSES; class++) standings[class] = INFINITY;
    for (int a = 0; a < ROSENBLATT_CLASSES; a++) {
        for (int b = a + 1; b < ROSENBLATT_CLASSES; b++, pair++) {
            standings[a] = fmin(standings[a], scores[pair]);
            standings[b] = fmin(standings[b], -scores[pair]);
        }
    }
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

/// Tables of where a column has heights, and the call that says which of them count.
fn place<H: Height>(bent: &Bent<H>, field: &str, suffix: &str) -> (Vec<String>, String) {
    let (mut tables, mut call) = (Vec::new(), format!("rosenblatt_at(row->{field}"));
    for (name, points) in [("knots", &bent.knots), ("values", &bent.values)] {
        let at: Vec<String> = points.iter().map(|(at, _)| exact(*at)).collect();
        let name = format!("{name}{suffix}");
        if points.is_empty() {
            call.push_str(", 0, NULL");
        } else {
            tables.push(format!("static const double {name}[] = {{{}}};", at.join(", ")));
            let _ = write!(call, ", {}, {name}", points.len());
        }
    }
    (tables, format!("{call})"))
}

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
