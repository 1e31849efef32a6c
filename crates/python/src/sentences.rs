//! Sentences as Python has them: lists of tokens, each a word, some cells, or attributes as `python-crfsuite` takes them.

use crate::error::Failure;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyString, PyTuple};
use rosenblatt::data::{MadeSentences, find_sentence_format};

/// What stands between the name of an attribute and its value, or what it is nested in.
const BETWEEN: char = ':';
/// How deep attributes may be nested.
const DEEPEST: usize = 16;

/// What tokens are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tokens {
    /// Attributes: `{"word": "dog", "length": 3.0, "capital": False}`, or a list of names.
    Attributes,
    /// Words, or lists of the cells of columns.
    Cells,
}

impl Tokens {
    /// What a token seems to be: words are cells, everything else is attributes.
    fn of(token: &Bound<'_, PyAny>) -> Self {
        if token.is_instance_of::<PyString>() { Self::Cells } else { Self::Attributes }
    }

    /// No sentences yet, of such tokens.
    fn begin(self) -> PyResult<(Self, MadeSentences)> {
        let format = find_sentence_format(if self == Self::Cells { "columns" } else { "items" });
        Ok((self, MadeSentences::new("X", format.map_err(Failure::from)?)))
    }
}

/// Sentences for the engine, and how many tokens each has.
pub(crate) struct Given {
    pub(crate) made: MadeSentences,
    pub(crate) lengths: Vec<usize>,
}

/// Where something is wrong.
#[derive(Clone, Copy)]
struct Place {
    sentence: usize,
    token: usize,
}

impl Place {
    fn wrong(self, words: &str) -> PyErr {
        let Self { sentence, token } = self;
        PyValueError::new_err(format!("sentence {}, token {}: {words}", sentence + 1, token + 1))
    }
}

/// What is called `name`, to be walked through; text has letters, but is no list.
fn sequence<'py>(
    given: &Bound<'py, PyAny>,
    name: &str,
    expected: &str,
) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
    let kind =
        || given.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyDict>() {
        return Err(PyValueError::new_err(format!("{name} should be {expected}, but is {}", kind())));
    }
    given
        .try_iter()
        .map_err(|_| PyValueError::new_err(format!("{name} should be {expected}, but is {}", kind())))
}

/// Takes in sentences, with their labels if there are some. The first token says what all are, unless the
/// caller does.
pub(crate) fn take_in(
    given: &Bound<'_, PyAny>,
    labels: Option<&Bound<'_, PyAny>>,
    tokens: Option<Tokens>,
) -> PyResult<Given> {
    let mut known = tokens.map(Tokens::begin).transpose()?;
    let mut lengths = Vec::new();
    let mut all_labels =
        labels.map(|labels| sequence(labels, "y", "a list of lists of labels")).transpose()?;
    for (number, sentence) in sequence(given, "X", "a list of sentences")?.enumerate() {
        let name = format!("sentence {}", number + 1);
        let mut labels = match &mut all_labels {
            None => None,
            Some(all) => {
                let Some(labels) = all.next() else {
                    return Err(PyValueError::new_err(format!(
                        "y has labels of {number} sentences, X has more"
                    )));
                };
                let name = format!("the labels of sentence {}", number + 1);
                Some(sequence(&labels?, &name, "a list of labels")?)
            }
        };
        let mut length = 0;
        for token in sequence(&sentence?, &name, "a list of tokens")? {
            let token = token?;
            let (tokens, made) = match &mut known {
                Some(known) => known,
                None => known.insert(Tokens::of(&token).begin()?),
            };
            let place = Place { sentence: number, token: length };
            let label = match &mut labels {
                None => None,
                Some(labels) => Some(label(labels.next().transpose()?, place)?),
            };
            // A label is the first cell of attributes, and the last of columns.
            match tokens {
                Tokens::Attributes => {
                    cell(made, label.as_deref().unwrap_or_default(), 1.0, place)?;
                    attributes(made, &token, place)?;
                }
                Tokens::Cells => {
                    cells(made, &token, place)?;
                    label.map_or(Ok(()), |label| cell(made, &label, 1.0, place))?;
                }
            }
            made.end_token().map_err(|error| named(error, place))?;
            length += 1;
        }
        if labels.is_some_and(|mut labels| labels.next().is_some()) {
            return Err(PyValueError::new_err(format!(
                "sentence {} should have as many labels as tokens, but has {length} tokens and more labels",
                number + 1
            )));
        }
        if let Some((_, made)) = &mut known {
            made.end_sentence();
        }
        lengths.push(length);
        if number % 1024 == 1023 {
            given.py().check_signals()?;
        }
    }
    if all_labels.is_some_and(|mut all| all.next().is_some()) {
        return Err(PyValueError::new_err(format!(
            "y should have as many sentences as X, but X has {} and y more",
            lengths.len()
        )));
    }
    let (_, made) = known.map_or_else(|| Tokens::Attributes.begin(), Ok)?;
    Ok(Given { made, lengths })
}

fn label(given: Option<Bound<'_, PyAny>>, place: Place) -> PyResult<String> {
    let Some(given) = given else {
        return Err(place.wrong("there should be as many labels as tokens, but there are fewer"));
    };
    let Ok(label) = given.cast::<PyString>() else {
        let kind = given.get_type().name()?;
        return Err(place.wrong(&format!("a label should be text, but is {kind}; `str(label)` makes it so")));
    };
    let label = text(label, place)?;
    if label.is_empty() || label.contains(['\t', '\n', '\r', '\0']) {
        return Err(place.wrong("a label should have letters, and no tabs, line ends and zeros"));
    }
    Ok(label.to_owned())
}

/// Text without halves of characters, which Python allows.
fn text<'a>(given: &'a Bound<'_, PyString>, place: Place) -> PyResult<&'a str> {
    given.to_str().map_err(|_| place.wrong("text should be Unicode, but has half a surrogate pair"))
}

fn named(error: impl Into<Failure>, place: Place) -> PyErr {
    let error: PyErr = error.into().into();
    place.wrong(&Python::attach(|py| error.value(py).to_string()))
}

fn cell(made: &mut MadeSentences, text: &str, value: f64, place: Place) -> PyResult<()> {
    made.cell(text, value).map_err(|error| named(error, place))
}

/// A word, or the cells of a token.
fn cells(made: &mut MadeSentences, token: &Bound<'_, PyAny>, place: Place) -> PyResult<()> {
    if let Ok(word) = token.cast::<PyString>() {
        return cell(made, text(word, place)?, 1.0, place);
    }
    for one in sequence(token, "a token", "a word, or a list of cells")? {
        let one = one?;
        let Ok(word) = one.cast::<PyString>() else {
            let kind = one.get_type().name()?;
            return Err(place.wrong(&format!("a cell should be text, but is {kind}")));
        };
        cell(made, text(word, place)?, 1.0, place)?;
    }
    Ok(())
}

/// The attributes of a token.
fn attributes(made: &mut MadeSentences, token: &Bound<'_, PyAny>, place: Place) -> PyResult<()> {
    let mut name = String::new();
    if let Ok(dict) = token.cast::<PyDict>() {
        return of_dict(made, dict, &mut name, 1, place);
    }
    of_list(made, sequence(token, "a token", "a dict or a list of attributes")?, &mut name, place)
}

fn of_dict(
    made: &mut MadeSentences,
    dict: &Bound<'_, PyDict>,
    name: &mut String,
    depth: usize,
    place: Place,
) -> PyResult<()> {
    if depth > DEEPEST {
        return Err(place.wrong(&format!("attributes should be nested at most {DEEPEST} deep")));
    }
    let length = name.len();
    // A copy, as what is asked of values may run code that changes it.
    for pair in dict.items() {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let Ok(key) = key.cast::<PyString>() else {
            let kind = key.get_type().name()?;
            return Err(place.wrong(&format!("the name of an attribute should be text, but is {kind}")));
        };
        name.push_str(text(key, place)?);
        if let Ok(word) = value.cast::<PyString>() {
            name.push(BETWEEN);
            name.push_str(text(word, place)?);
            cell(made, name, 1.0, place)?;
        } else if let Ok(dict) = value.cast::<PyDict>() {
            name.push(BETWEEN);
            of_dict(made, dict, name, depth + 1, place)?;
        } else if value.is_instance_of::<PyList>()
            || value.is_instance_of::<PyTuple>()
            || value.is_instance_of::<PySet>()
        {
            name.push(BETWEEN);
            of_list(made, value.try_iter()?, name, place)?;
        } else if let Ok(number) = value.extract::<f64>() {
            cell(made, name, number, place)?;
        } else {
            let kind = value.get_type().name()?;
            let words =
                format!("`{name}` should be text, a number, or a dict, list or set of these, but is {kind}");
            return Err(place.wrong(&words));
        }
        name.truncate(length);
    }
    Ok(())
}

fn of_list(
    made: &mut MadeSentences,
    given: Bound<'_, pyo3::types::PyIterator>,
    name: &mut String,
    place: Place,
) -> PyResult<()> {
    let length = name.len();
    for one in given {
        let one = one?;
        let Ok(word) = one.cast::<PyString>() else {
            let kind = one.get_type().name()?;
            return Err(place.wrong(&format!("an attribute of a list should be text, but is {kind}")));
        };
        name.push_str(text(word, place)?);
        cell(made, name, 1.0, place)?;
        name.truncate(length);
    }
    Ok(())
}

/// Lists of labels, one for every sentence, those without tokens included.
pub(crate) fn listed<'py>(
    py: Python<'py>,
    names: &[String],
    found: Vec<Vec<u32>>,
    lengths: Option<&[usize]>,
) -> PyResult<Bound<'py, PyList>> {
    let names: Vec<Bound<'py, PyString>> = names.iter().map(|name| PyString::new(py, name)).collect();
    let all = PyList::empty(py);
    let mut found = found.into_iter();
    let add = |labels: Vec<u32>| -> PyResult<()> {
        all.append(PyList::new(py, labels.into_iter().map(|label| &names[label as usize]))?)
    };
    match lengths {
        None => found.try_for_each(add)?,
        Some(lengths) => {
            for length in lengths {
                add(if *length == 0 { Vec::new() } else { found.next().unwrap_or_default() })?;
            }
        }
    }
    Ok(all)
}
