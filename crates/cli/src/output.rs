//! Rows on their way out: plain lines, CSV, JSON Lines or Parquet, to stdout or to a file that takes its
//! name once it is whole.

use crate::failure::Failure;
use crate::ui;
use rosenblatt::catalogue::PREDICTION_FORMATS;
use rosenblatt_data::FormatInfo;
use rosenblatt_data::files::{is_special, is_stdout};
use rosenblatt_data::write::NewFile;
use rosenblatt_data::write::csv_cell;
use rosenblatt_data::write::{Cell, CellKind, ParquetTable};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The first cell and nothing else.
    Lines,
    /// Cells below a header.
    Csv,
    /// An object a line.
    JsonLines,
    /// Columns.
    Parquet,
}

impl Form {
    /// The form that goes by the name of one of [`PREDICTION_FORMATS`].
    fn of(info: &FormatInfo) -> Self {
        match info.name {
            "csv" => Self::Csv,
            "jsonl" => Self::JsonLines,
            "parquet" => Self::Parquet,
            _ => Self::Lines,
        }
    }

    /// The form called `name`, else the one that the extension of `path` stands for (`.gz` left out).
    pub(crate) fn find(name: Option<&str>, path: Option<&Path>) -> Result<Option<Self>, Failure> {
        let names: Vec<&str> = PREDICTION_FORMATS.iter().map(|info| info.name).collect();
        let names = names.join(", ");
        if let Some(name) = name {
            let known = PREDICTION_FORMATS.iter().find(|info| info.is_called(name));
            let message = format!("`--to` should be one of {names}, but is `{name}`");
            return known.map(|info| Some(Self::of(info))).ok_or(Failure::Usage(message));
        }
        let Some(path) = path.filter(|path| !is_special(path)) else { return Ok(None) };
        let file = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let file = file.strip_suffix(".gz").unwrap_or(&file);
        let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
        let known = PREDICTION_FORMATS.iter().find(|info| info.extensions.contains(&extension));
        known.map(|info| Some(Self::of(info))).ok_or_else(|| {
            let message = format!("the name {} does not tell how to write", path.display());
            Failure::Usage(format!("{message}; say so with `--to` and one of {names}"))
        })
    }
}

/// Where rows go, and how.
pub(crate) struct Output {
    form: Form,
    file: Option<NewFile>,
    table: Option<ParquetTable>,
    waiting: Vec<u8>,
}

impl Output {
    /// Opens the output and writes what stands before the first row.
    pub(crate) fn new(
        form: Form,
        path: Option<&Path>,
        columns: &[(String, CellKind)],
    ) -> Result<Self, Failure> {
        let file = path.filter(|path| !is_stdout(path)).map(NewFile::create).transpose()?;
        let table = if form == Form::Parquet { Some(ParquetTable::new(columns)?) } else { None };
        let mut waiting = Vec::new();
        if form == Form::Csv {
            let names: Vec<_> = columns.iter().map(|(name, _)| csv_cell(name)).collect();
            waiting.extend(format!("{}\n", names.join(",")).bytes());
        }
        Ok(Self { form, file, table, waiting })
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Adds a row of cells.
    pub(crate) fn row(&mut self, cells: &[Cell]) -> Result<(), Failure> {
        if let Some(table) = &mut self.table {
            return Ok(table.row(cells)?);
        }
        let cells = if self.form == Form::Lines { &cells[..1] } else { cells };
        if let (Form::Lines, Some(Cell::Text(name))) = (self.form, cells.first())
            && name.contains(['\n', '\r'])
        {
            let message = format!(
                "the class `{}` has several lines, so that lines do not tell rows apart",
                name.escape_debug()
            );
            return Err(Failure::Usage(format!("{message}; write them with `--to csv` or `--to jsonl`")));
        }
        let mut text = String::new();
        for (place, cell) in cells.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            // Writing to a string cannot fail.
            let _ = match cell {
                // A class alone on its line is what it is; a cell of a table must not break it.
                Cell::Text(name) if self.form == Form::Lines => write!(text, "{name}"),
                Cell::Text(name) => write!(text, "{}", csv_cell(name)),
                Cell::Number(number) => write!(text, "{number}"),
                Cell::Count(count) => write!(text, "{count}"),
                Cell::Empty => Ok(()),
            };
        }
        text.push('\n');
        self.waiting.extend(text.bytes());
        Ok(())
    }

    /// Adds a row that is an object.
    pub(crate) fn object(&mut self, object: &Value) {
        self.waiting.extend(format!("{object}\n").bytes());
    }

    /// Hands on what is ready.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        if let Some(table) = &mut self.table {
            self.waiting.extend(table.take());
        }
        match &mut self.file {
            Some(file) => file.write(&self.waiting)?,
            None => ui::print_either(&self.waiting)?,
        }
        self.waiting.clear();
        Ok(())
    }

    /// Writes the end.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        if let Some(table) = self.table.take() {
            self.waiting.extend(table.finish()?);
        }
        self.flush()?;
        if let Some(file) = self.file {
            file.finish()?;
        }
        Ok(())
    }
}
