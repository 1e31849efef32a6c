"""Converts arguments for the engine: arrays without a copy if possible, tables as Arrow."""

import io
import os

import numpy as np


def _is_sparse(X):
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def are_rows(X):
    """Whether these are rows of numbers in memory."""
    return _is_sparse(X) or type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub"


def is_plain(X):
    """Whether this is an array that the engine reads where it is."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and (X.dtype == np.float64 or X.dtype == np.float32)
        and X.flags.c_contiguous
        and X.dtype.isnative
        and X.size > 0
    )


def is_sound(X):
    """Whether the pointers of a sparse matrix lead to its values: SciPy follows them wherever they lead."""
    if X.ndim != 2 or X.format not in ("csr", "csc"):
        return True
    (n_lines, n_places), pointers, indices = X.shape if X.format == "csr" else X.shape[::-1], X.indptr, X.indices
    ends = pointers.shape == (n_lines + 1,) and pointers[0] == 0 and pointers[-1] == len(X.data) == len(indices)
    if not ends or (pointers[1:] < pointers[:-1]).any():
        return False
    # The engine looks at those of rows.
    return X.format == "csr" or not len(indices) or 0 <= indices.min() and indices.max() < n_places


def is_plain_sparse(X):
    """Whether this is a sparse matrix that the engine reads where it is."""
    return (
        _is_sparse(X)
        and X.format == "csr"
        and X.ndim == 2
        and (X.dtype == np.float64 or X.dtype == np.float32)
        and X.shape[0] > 0
        and X.shape[1] > 0
        and is_sound(X)
        and X.has_canonical_format
    )


def is_plain_column(y, n_rows):
    """Whether these are classes, one for each row."""
    return type(y) is np.ndarray and y.shape == (n_rows,) and y.dtype.kind in "iubU"


def classes_of(y):
    """The classes, and the number of each row's: what `np.unique` tells, in the memory of one column instead of five."""
    ordered = np.sort(y)
    classes = ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]
    del ordered
    codes = y == classes[1] if len(classes) == 2 else np.searchsorted(classes, y)
    return classes, codes.astype(np.uint32)


def is_text(classes):
    """Whether classes are called by words."""
    return classes.dtype.kind in "OUS"


def free_memory():
    """Available memory in bytes; plenty where the system does not report it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return 8 << 30


def is_small(paths):
    """Whether these are files that fit into memory several times over."""
    return all(os.path.isfile(path) for path in paths) and sum(map(os.path.getsize, paths)) < free_memory() // 8


def check_sparse(X):
    """Refuses a sparse matrix whose pointers leave its values; accepts anything else."""
    if _is_sparse(X) and not is_sound(X):
        raise ValueError("the sparse matrix is broken: its pointers do not run from 0 to the number of its values")


def lend(X, by_columns=False):
    """An array or a sparse matrix in a form that the engine reads where it is; one copy if it must be, unless it lies column
    by column and that will do."""
    if _is_sparse(X):
        check_sparse(X)
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
    return X if by_columns and X.flags.f_contiguous else np.ascontiguousarray(X)


def numbers_of(frame, names):
    """The numbers of a pandas table that has just these columns, where they lie; None of anything else."""
    if names is None or not hasattr(frame, "iloc") or getattr(frame, "ndim", 0) != 2 or frame.empty:
        return None
    kinds = set(frame.dtypes)
    if kinds not in ({np.dtype(np.float64)}, {np.dtype(np.float32)}) or list(frame.columns) != names.tolist():
        return None
    return frame.to_numpy()


def class_name(value):
    """The name of a class in the model's file: what it would be in a table."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def values_of(names):
    """Classes that a file spells, as numbers if all of them are."""
    try:
        numbers = np.array([float(name) for name in names])
    except ValueError:
        return np.array(names)
    return numbers.astype(np.int64) if np.all(numbers == np.floor(numbers)) else numbers


def rows(X):
    """An array of two axes; a sparse matrix as it is."""
    if _is_sparse(X):
        return X
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead")
    return X


def feature_names(X):
    """The names of a table's columns, if they are all text."""
    columns = getattr(X, "columns", None)
    names = None if columns is None else list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def is_path(data):
    """Whether these are names of files."""
    return isinstance(data, (str, os.PathLike)) or (
        isinstance(data, (list, tuple)) and bool(data) and all(isinstance(one, (str, os.PathLike)) for one in data)
    )


def is_file(data):
    """Whether these are names of files, or the bytes of one."""
    return is_path(data) or isinstance(data, (bytes, bytearray))


def source(data):
    """What the engine reads: files by name, the bytes of one, or a table where it is; and what to call it."""
    if is_path(data):
        return [os.fspath(one) for one in ([data] if isinstance(data, (str, os.PathLike)) else data)], None
    if isinstance(data, (bytes, bytearray)):
        return bytes(data), "data"
    if isinstance(data, np.ndarray) or _is_sparse(data):
        return _array(data)
    if hasattr(data, "iloc") and hasattr(data, "to_csv"):
        return _pandas(data)
    if hasattr(data, "__arrow_c_stream__"):
        return data, "table"
    raise TypeError(f"expected a path, a table or an array, not {type(data).__name__}")


def _pandas(frame):
    """A frame of pandas as Arrow, its index left out; as CSV where Arrow is not installed."""
    try:
        import pyarrow
    except ImportError:
        return frame.to_csv(index=False).encode(), "table.csv"
    return pyarrow.Table.from_pandas(frame, preserve_index=False), "table"


def _array(data):
    kept = io.BytesIO()
    if _is_sparse(data):
        import scipy.sparse

        check_sparse(data)
        scipy.sparse.save_npz(kept, data.tocsr())
        return kept.getvalue(), "array.npz"
    np.save(kept, data)
    return kept.getvalue(), "array.npy"


def write(path, text):
    """Writes text to a file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
