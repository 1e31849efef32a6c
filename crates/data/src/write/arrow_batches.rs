//! Rows gathered into Arrow record batches, for the formats that write those.
//!
//! The label is a column of text, or of whole numbers if all classes are; the weight one of doubles. Features
//! with names are a column each, up to [`MAX_COLUMNS`]. Without names, or with more of them, they are one
//! column of lists called `features`, or, where most are zero, two: `indices`, from 0, and `values`.

use super::{OutRow, Shape};
use crate::error::{DataError, ErrorKind};
use crate::rows::schema::{Layout, Precision};
use arrow_array::builder::{Float32Builder, Float64Builder, ListBuilder, UInt32Builder};
use arrow_array::{ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// More columns than this take tools longer to list than to read.
const MAX_COLUMNS: usize = 4096;

/// How many values are gathered, about, before they are a batch.
const BATCH_VALUES: usize = 1 << 18;

/// How features are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Columns,
    List,
    Pairs,
}

/// Rows that are not a batch yet.
pub(super) struct Batches {
    schema: SchemaRef,
    form: Form,
    shape: Shape,
    whole: Option<Vec<i64>>,
    classes: Vec<u32>,
    weights: Vec<f64>,
    /// Values row by row; all of them, or with their features in `indices`.
    values: Vec<f64>,
    indices: Vec<u32>,
    /// Where each row ends among the values.
    ends: Vec<usize>,
}

fn failed(error: &dyn std::fmt::Display) -> DataError {
    DataError::new(ErrorKind::Internal, format!("a batch of rows cannot be made: {error}"))
}

impl Batches {
    pub(super) fn new(shape: &Shape) -> Result<Self, DataError> {
        if shape.width == 0 {
            shape.check_columns(MAX_COLUMNS)?;
        }
        let form = match (&shape.names, shape.layout) {
            (Some(_), _) if shape.width <= MAX_COLUMNS => Form::Columns,
            (_, Layout::Sparse) => Form::Pairs,
            (_, Layout::Dense) => Form::List,
        };
        let whole = shape.whole_labels();
        let float = match shape.precision {
            Precision::Single => DataType::Float32,
            Precision::Double => DataType::Float64,
        };
        let list = |kind: DataType| DataType::List(Arc::new(Field::new_list_field(kind, true)));
        let mut names = shape.column_names().into_iter();
        let mut fields = Vec::new();
        if shape.labelled {
            let kind = if whole.is_some() { DataType::Int64 } else { DataType::Utf8 };
            fields.extend(names.next().map(|name| Field::new(name, kind, false)));
        }
        if shape.weighted {
            fields.extend(names.next().map(|name| Field::new(name, DataType::Float64, false)));
        }
        match form {
            Form::Columns => fields.extend(names.map(|name| Field::new(name, float.clone(), false))),
            Form::List => fields.push(Field::new("features", list(float), false)),
            Form::Pairs => {
                fields.push(Field::new("indices", list(DataType::UInt32), false));
                fields.push(Field::new("values", list(float), false));
            }
        }
        Ok(Self {
            schema: Arc::new(Schema::new(fields)),
            form,
            shape: shape.clone(),
            whole,
            classes: Vec::new(),
            weights: Vec::new(),
            values: Vec::new(),
            indices: Vec::new(),
            ends: Vec::new(),
        })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Adds a row; a batch if there are enough of them.
    pub(super) fn add(&mut self, row: &OutRow<'_>) -> Result<Option<RecordBatch>, DataError> {
        self.classes.push(row.class);
        self.weights.push(row.weight);
        if self.form == Form::Pairs {
            for &(feature, value) in row.entries.iter().filter(|(_, value)| *value != 0.0) {
                self.indices.push(feature);
                self.values.push(value);
            }
        } else {
            let start = self.values.len();
            self.values.resize(start + self.shape.width, 0.0);
            for &(feature, value) in row.entries {
                if let Some(place) = self.values[start..].get_mut(feature as usize) {
                    *place = value;
                }
            }
        }
        self.ends.push(self.values.len());
        let is_full = self.values.len() + self.ends.len() >= BATCH_VALUES;
        if is_full { self.take().map(Some) } else { Ok(None) }
    }

    /// What is left at the end, if anything is.
    pub(super) fn rest(&mut self) -> Result<Option<RecordBatch>, DataError> {
        if self.classes.is_empty() { Ok(None) } else { self.take().map(Some) }
    }

    fn take(&mut self) -> Result<RecordBatch, DataError> {
        let mut columns: Vec<ArrayRef> = Vec::new();
        if self.shape.labelled {
            let classes = self.classes.iter().map(|&class| class as usize);
            columns.push(if let Some(numbers) = &self.whole {
                let numbers = classes.filter_map(|class| numbers.get(class)).copied();
                Arc::new(numbers.collect::<Int64Array>())
            } else {
                let names = classes.filter_map(|class| self.shape.labels.get(class));
                Arc::new(StringArray::from_iter_values(names))
            });
        }
        if self.shape.weighted {
            columns.push(Arc::new(Float64Array::from(std::mem::take(&mut self.weights))));
        }
        match self.form {
            Form::Columns => {
                for feature in 0..self.shape.width {
                    let values = self.values.iter().skip(feature).step_by(self.shape.width);
                    columns.push(floats(values.copied(), self.shape.precision));
                }
            }
            Form::List => columns.push(self.lists()),
            Form::Pairs => {
                let mut indices = ListBuilder::new(UInt32Builder::new());
                for row in self.rows() {
                    indices.values().append_slice(&self.indices[row]);
                    indices.append(true);
                }
                columns.push(Arc::new(indices.finish()));
                columns.push(self.lists());
            }
        }
        self.classes.clear();
        self.weights.clear();
        self.values.clear();
        self.indices.clear();
        self.ends.clear();
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|error| failed(&error))
    }

    /// Where the values of each row are.
    fn rows(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<'_> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    fn lists(&self) -> ArrayRef {
        if self.shape.precision == Precision::Double {
            let mut lists = ListBuilder::new(Float64Builder::new());
            for row in self.rows() {
                lists.values().append_slice(&self.values[row]);
                lists.append(true);
            }
            return Arc::new(lists.finish());
        }
        let mut lists = ListBuilder::new(Float32Builder::new());
        for row in self.rows() {
            self.values[row].iter().for_each(|&value| lists.values().append_value(value as f32));
            lists.append(true);
        }
        Arc::new(lists.finish())
    }
}

fn floats(values: impl Iterator<Item = f64>, precision: Precision) -> ArrayRef {
    match precision {
        Precision::Single => Arc::new(values.map(|value| value as f32).collect::<Float32Array>()),
        Precision::Double => Arc::new(values.collect::<Float64Array>()),
    }
}
