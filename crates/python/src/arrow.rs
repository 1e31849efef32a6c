//! Tables of other packages, by the Arrow C stream interface: they stay where they are.

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use rosenblatt_data::Table;

/// The table of any object that has `__arrow_c_stream__`.
pub(crate) fn table(given: &Bound<'_, PyAny>) -> PyResult<Table> {
    let capsule = given.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    #[expect(unsafe_code, reason = "a stream of another package is known by its address alone")]
    // SAFETY: by the protocol a capsule of this name holds a stream. It is moved out, and what is left in the capsule is
    // marked as released, so that it is released only once.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr().cast()) };
    let wrong =
        |error: &dyn std::fmt::Display| PyValueError::new_err(format!("the table cannot be read: {error}"));
    let reader = RecordBatchStreamReader::try_new(stream).map_err(|error| wrong(&error))?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|error| wrong(&error))?;
    Ok(Table { schema, batches })
}
