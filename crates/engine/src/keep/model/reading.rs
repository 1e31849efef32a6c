//! How a model wants its data read: what it learned from stands in its schema, and every face asks here.

use super::Model;
use crate::task::Task;
use rosenblatt_data::{
    Column, ColumnKind, DataError, LabelColumn, Layout, Limits, Precision, ReadOptions, Schema, Source,
    Spelling, Stream, blocks,
};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Model {
    /// What decides how rows become features: the schema of the training data. A model of rows in memory saw them as they
    /// were, so that numbers are read unscaled and in double precision; in their order, unless the features have names.
    pub fn schema_of_rows(&self) -> Arc<Schema> {
        if let Some(schema) = self.schema() {
            return Arc::clone(schema);
        }
        let plain = Schema { precision: Some(Precision::Double), ..Schema::default() };
        let names = self.feature_names().unwrap_or_default();
        if names.is_empty() || names.iter().collect::<BTreeSet<_>>().len() < names.len() {
            return Schema { width: Some(self.width()), ..plain }.into();
        }
        let number = || ColumnKind::Number { fill: None, spelling: Spelling::default() };
        let columns = names.iter().map(|name| Column { name: name.clone(), kind: number() }).collect();
        Schema { columns, has_names: true, layout: Layout::Dense, ..plain }.into()
    }

    /// The same, with what is to be noted of rows that have more features.
    fn schema_to_read(&self) -> Arc<Schema> {
        let schema = self.schema_of_rows();
        let has_names = !schema.columns.is_empty() || schema.names.is_some();
        let is_hashed = schema.hash_bits.is_some() || schema.text.is_some();
        if has_names || is_hashed || schema.layout == Layout::Dense {
            return schema;
        }
        Schema { known: Some(self.width()), ..Schema::clone(&schema) }.into()
    }

    /// `how` for rows whose classes are known: columns, words and scales are those of the training data.
    #[must_use]
    pub fn to_evaluate(&self, how: ReadOptions) -> ReadOptions {
        ReadOptions { schema: Some(self.schema_to_read()), limits: self.limits(how.limits), ..how }
    }

    /// `how` for rows to predict. A table may come with its labels or without; they are not looked at. Other formats
    /// have no labels then, unless `how` names them.
    #[must_use]
    pub fn to_predict(&self, how: ReadOptions) -> ReadOptions {
        // A message is a row by itself, whether or not it was learned from a column.
        let is_message = |column: &Column| matches!(column.kind, ColumnKind::Text(_));
        let schema = self.schema_of_rows();
        let is_table = !schema.columns.iter().all(is_message);
        let label = match how.label {
            LabelColumn::Guess if !is_table => LabelColumn::Absent,
            label => label,
        };
        ReadOptions {
            schema: Some(self.schema_to_read()),
            grow_classes: true,
            label,
            limits: self.limits(how.limits),
            ..how
        }
    }

    /// Numbers may all differ, where classes are limited.
    fn limits(&self, limits: Limits) -> Limits {
        let classes = if self.task() == Task::Numbers { u32::MAX as usize } else { limits.classes };
        Limits { classes, ..limits }
    }

    /// The rows of a source to predict, piece by piece, as the model sees them.
    ///
    /// ```
    /// use rosenblatt::data::{ReadOptions, Source, load_with_schema};
    /// use rosenblatt::{Spec, Training};
    ///
    /// let pets = Source::bytes("pets.csv", *b"legs,weight,label\n4,3.5,cat\n2,0.1,bird\n4,5,cat\n2,0.2,bird\n");
    /// let (data, schema) = load_with_schema(&pets, &ReadOptions::default())?;
    /// let model = Training::new(&Spec::default(), &data).schema(schema.into()).run(&mut ())?;
    /// let new = Source::bytes("new.csv", *b"weight,legs\n4,4\n0.1,2\n");
    /// let mut rows = model.open(&new)?;
    /// let mut names = Vec::new();
    /// while let Some(block) = rows.next()? {
    ///     let classes = model.predict_view(block.view())?;
    ///     names.extend(classes.into_iter().map(|class| model.labels().name(class)));
    /// }
    /// assert_eq!(names, ["cat", "bird"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(&self, source: &Source) -> Result<Stream, DataError> {
        blocks(source, &self.to_predict(ReadOptions::default()))
    }
}
