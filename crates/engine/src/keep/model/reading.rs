//! How a model wants its data read: what it learned from stands in its schema, and every face asks here.

use super::Model;
use rosenblatt_data::{Column, ColumnKind, DataError, LabelColumn, ReadOptions, Source, Stream, blocks};

impl Model {
    /// `how` for rows whose classes are known: columns, words and scales are those of the training data.
    #[must_use]
    pub fn to_evaluate(&self, how: ReadOptions) -> ReadOptions {
        ReadOptions { schema: self.schema().cloned(), ..how }
    }

    /// `how` for rows whose classes are to be predicted. A table may come with its labels or without; they are not
    /// looked at. Other formats have no labels then, unless `how` names them.
    #[must_use]
    pub fn to_predict(&self, how: ReadOptions) -> ReadOptions {
        // A message is a row by itself, whether or not it was learned from a column.
        let is_message = |column: &Column| matches!(column.kind, ColumnKind::Text(_));
        let is_table = self.schema().is_some_and(|schema| !schema.columns.iter().all(is_message));
        let label = match how.label {
            LabelColumn::Guess if !is_table => LabelColumn::Absent,
            label => label,
        };
        ReadOptions { schema: self.schema().cloned(), grow_classes: true, label, ..how }
    }

    /// The rows of a source whose classes are to be predicted, piece by piece, as the model sees them.
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
