"""What people hand over, as the engine takes it: arrays without a copy where they allow it, tables as Arrow."""

import io
import os

import numpy as np


def _is_sparse(X):
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def lend(X):
    """An array or a sparse matrix in a form that the engine reads where it is; one copy if it must be."""
    if _is_sparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            # The caller's matrix stays as it is.
            X = X.copy()
            X.sum_duplicates()
        data = X.data if X.data.dtype in (np.float32, np.float64) else X.data.astype(np.float64)
        return (X.indptr, X.indices, np.ascontiguousarray(data), X.shape[1])
    X = np.asarray(X)
    if X.dtype not in (np.float32, np.float64) or not X.dtype.isnative:
        X = X.astype(np.float64)
    return np.ascontiguousarray(X)


def class_name(value):
    """The name of a class in the model's file: what it would be in a table."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def source(data):
    """Files by name, or a table as the bytes of a file and the name that says its format."""
    if isinstance(data, (str, os.PathLike)):
        return [os.fspath(data)], None
    if isinstance(data, (list, tuple)) and data and all(isinstance(one, (str, os.PathLike)) for one in data):
        return [os.fspath(one) for one in data], None
    if isinstance(data, (bytes, bytearray)):
        return bytes(data), "data"
    if isinstance(data, np.ndarray) or _is_sparse(data):
        return _array(data)
    if hasattr(data, "__arrow_c_stream__"):
        return _arrow(data), "table.arrow"
    if hasattr(data, "to_csv"):
        return data.to_csv(index=False).encode(), "table.csv"
    raise TypeError(f"expected a path, a table or an array, not {type(data).__name__}")


def _array(data):
    kept = io.BytesIO()
    if _is_sparse(data):
        import scipy.sparse

        scipy.sparse.save_npz(kept, data.tocsr())
        return kept.getvalue(), "array.npz"
    np.save(kept, data)
    return kept.getvalue(), "array.npy"


def _arrow(table):
    kept = io.BytesIO()
    if hasattr(table, "write_ipc"):
        table.write_ipc(kept)
        return kept.getvalue()
    try:
        import pyarrow
    except ImportError:
        if hasattr(table, "to_csv"):
            return table.to_csv(index=False).encode()
        raise
    table = pyarrow.table(table) if not hasattr(table, "to_csv") else pyarrow.Table.from_pandas(table, preserve_index=False)
    with pyarrow.ipc.new_file(kept, table.schema) as writer:
        writer.write_table(table)
    return kept.getvalue()
