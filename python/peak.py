"""By what share of X the peak of a process grows while it fits: `peak.py float64|float32|csr`, in a process of its own.

Everything counts, what the engine takes, too.
"""

import resource
import sys

import numpy as np
import scipy.sparse

import rosenblatt

kind = sys.argv[1]
rng = np.random.default_rng(0)
n, width = 100_000, 200
# Nothing is made that is larger than X, or its peak would hide what a fit takes.
if kind == "csr":
    indices = np.tile(np.arange(0, width, 2, dtype=np.int32), n)
    X = scipy.sparse.csr_matrix((rng.standard_normal(len(indices)), indices, np.arange(n + 1, dtype=np.int32) * (width // 2)), (n, width))
    X.has_canonical_format = True
else:
    X = rng.standard_normal((n, width), dtype=kind)
size = X.data.nbytes + (X.indices.nbytes if kind == "csr" else 0)
y = np.arange(n) % 2
rosenblatt.AveragedPerceptron(max_iter=1).fit(X[:100], y[:100])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rosenblatt.AveragedPerceptron(max_iter=1).fit(X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / size)
