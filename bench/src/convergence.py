"""Whether the solvers of the Python package converge with their defaults on public tables.

    python bench/src/convergence.py [SETS] [FOLDER]

Takes the first SETS (50) tables that `accuracy_sets.py` finds and that have numbers or categories for columns, standardised,
and counts fits that end in a `ConvergenceWarning`. FOLDER holds real data that no package carries.
"""
import itertools
import sys
import warnings

import numpy as np
import pandas as pd
from accuracy_sets import all_sets
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import rosenblatt

SOLVERS = (rosenblatt.LogisticRegression, rosenblatt.SparseLogisticRegression, rosenblatt.LinearSVM)
#: Rows of a large table that are taken.
MOST_ROWS = 2_000


def numbers(table):
    """Columns of numbers with their means in the gaps, and a column for every category; standardised."""
    kept = [name for name in table if table[name].dtype.kind in "iufb" or table[name].nunique() <= 30]
    table = table[kept]
    names = [name for name in kept if table[name].dtype.kind not in "iufb"]
    table = pd.get_dummies(table, columns=names, dtype=float).astype(float)
    return StandardScaler().fit_transform(table.fillna(table.mean()).fillna(0.0))


def tables(folder):
    for name, rows, labels in all_sets(folder):
        if not isinstance(rows, pd.DataFrame):
            continue
        counts = pd.Series(labels).value_counts()
        taken = np.flatnonzero(np.isin(labels, counts.index[counts >= 2]))
        taken = np.random.default_rng(0).permutation(taken)[:MOST_ROWS]
        X, y = numbers(rows.iloc[taken]), np.asarray(labels)[taken]
        if X.shape[1] and len(np.unique(y)) > 1:
            yield name, X, y


def main(n_sets, folder):
    n_warned = n_fits = most = 0
    for name, X, y in itertools.islice(tables(folder), n_sets):
        for solver in SOLVERS:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always", ConvergenceWarning)
                epochs = solver().fit(X, y).n_iter_
            warned = sum(issubclass(one.category, ConvergenceWarning) for one in seen)
            n_warned, n_fits, most = n_warned + warned, n_fits + 1, max(most, epochs)
            print(f"{name:24} {X.shape[0]:6} x {X.shape[1]:4} {solver.__name__:26} {epochs:5} epochs{' WARNED' * warned}", flush=True)
    print(f"{n_warned} of {n_fits} fits on {n_fits // len(SOLVERS)} tables did not converge; the longest took {most} epochs")
    return n_warned


if __name__ == "__main__":
    words = sys.argv[1:] + ["50", ""][len(sys.argv) - 1:]
    sys.exit(main(int(words[0]), words[1]) > 0)
