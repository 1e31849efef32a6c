"""The package beside scikit-learn, in one process, in turns; minima count.

    python -P bench.py FOLDER [REPEATS]

Writes `raw.json` and `summary.md` to FOLDER. `cargo xtask bench python` builds what it needs first.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.linear_model import Perceptron, SGDClassifier

import rosenblatt

PLAIN = {"early_stopping": False, "stop_when_clean": False}


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def both_times(repeats, **ways):
    """The least processor time of each way, and the least of the clock, all taking turns."""
    least = {name: [float("inf")] * 2 for name in ways}
    for _ in range(repeats):
        for name, work in ways.items():
            processor, clock = time.process_time(), time.perf_counter()
            work()
            took = time.process_time() - processor, time.perf_counter() - clock
            least[name] = list(map(min, least[name], took))
    return [{name: times[kind] for name, times in least.items()} for kind in (0, 1)]


def in_turns(repeats, **ways):
    """The least seconds of each way, all taking turns."""
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(repeats):
        for name, work in ways.items():
            least[name] = min(least[name], seconds(work))
    return least


def epochs(repeats, few, many, **makers):
    """Seconds of an epoch that is neither the first nor the last: what more epochs take more."""
    ways = {}
    for name, fit in makers.items():
        ways[name, "few"] = lambda fit=fit: fit(few)
        ways[name, "many"] = lambda fit=fit: fit(many)
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(repeats):
        for name, work in ways.items():
            least[name] = min(least[name], seconds(work))
    return {name: (least[name, "many"] - least[name, "few"]) / (many - few) for name in makers}


def labels(X, rng, n_classes=2, noise=0.1):
    """Classes that hyperplanes know most of."""
    scores = np.asarray(X @ rng.normal(size=(X.shape[1], max(1, n_classes if n_classes > 2 else 1))))
    y = scores.argmax(1) if n_classes > 2 else (scores.ravel() > np.median(scores)).astype(int)
    wrong = rng.random(len(y)) < noise
    y[wrong] = rng.integers(0, n_classes, wrong.sum())
    return y


def words(n_rows, rng):
    """Sparse rows: few features are frequent and many are rare, as words are."""
    features = np.sort((47_000 * rng.random((n_rows, 90)) ** 3).astype(np.int32), axis=1)
    is_new = np.diff(features, axis=1, prepend=-1) > 0
    indptr = np.concatenate([[0], np.cumsum(is_new.sum(1))]).astype(np.int32)
    return scipy.sparse.csr_matrix((rng.random(indptr[-1]).round(4) + 1e-4, features[is_new], indptr), (n_rows, 47_000))


def theirs(X, y):
    return lambda n: Perceptron(tol=None, max_iter=n, random_state=0).fit(X, y)


def ours(X, y, named=rosenblatt.Perceptron, **more):
    return lambda n: named(max_iter=n, **PLAIN, **more).fit(X, y)


def memory(kind):
    """By what share of X the peak of a process grows while it fits."""
    words = [sys.executable, "-P", Path(__file__).with_name("peak.py"), kind]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def imports(repeats):
    """Milliseconds of an import, and of one that something is asked of, beyond those of an empty Python."""
    run = lambda code: lambda: subprocess.run([sys.executable, "-c", code], check=True)
    least = in_turns(3 * repeats, ours=run("import rosenblatt"), asked=run("import rosenblatt; rosenblatt.train"),
                     numpy=run("import numpy"), nothing=run("pass"))
    return {name: 1000 * (least[name] - least["nothing"]) for name in ("ours", "asked", "numpy")}


def measured(repeats):
    rng = np.random.default_rng(0)
    rows = []

    def line(what, target, reached, met, detail):
        rows.append({"what": what, "target": target, "reached": reached, "met": bool(met), **detail})
        print(rows[-1], flush=True)

    def ratio(what, least, target, unit=1e3, name="ms"):
        gain = least["theirs"] / least["ours"]
        detail = {f"{who} {name}": round(value * unit, 4) for who, value in least.items()}
        line(what, f">= {target}x", f"{gain:.2f}x", gain >= target, detail)

    def processor(what, target, **ways):
        """By processor time, which counts, with the clock beside it."""
        least, clock = both_times(3 * repeats, **ways)
        gain = least["theirs"] / least["ours"]
        detail = {f"{who} ms": round(1e3 * value, 3) for who, value in least.items()}
        detail["by the clock"] = f"{clock['theirs'] / clock['ours']:.2f}x"
        line(what, f">= {target}x", f"{gain:.2f}x", gain >= target, detail)

    for kind, noise in (("clean rows", 0.0), ("noisy rows", 0.3)):
        import pandas

        X = rng.normal(size=(40_000, 28))
        y, frame = labels(X, rng, noise=noise), pandas.DataFrame(X, columns=[f"c{place}" for place in range(28)])
        fitted, known = ours(frame, y)(3), theirs(frame, y)(3)
        processor(f"predict, pandas, 28 features, {kind}", 1.5, ours=lambda: fitted.predict(frame), theirs=lambda: known.predict(frame))
        for width, n_rows in ((784, 10_000), (100, 20_000)):
            X = rng.normal(size=(n_rows, width))
            if width == 784:
                X = rng.integers(0, 255, size=X.shape) * (rng.random(X.shape) < 0.2) / 255
            y = labels(X, rng, 10, noise)
            fitted, known = ours(X, y)(3), theirs(X, y)(3)
            processor(f"predict, ten classes, {width} features, {kind}", 1.5, ours=lambda: fitted.predict(X), theirs=lambda: known.predict(X))
        X = words(30_000, rng)
        y = labels(X, rng, noise=noise)
        processor(f"fit, sparse, 3 epochs, {kind}", 1.5, ours=lambda: ours(X, y)(3), theirs=lambda: theirs(X, y)(3))

    small = rng.normal(size=(100_000, 28))
    y = labels(small, rng)
    least = epochs(repeats, 2, 12, ours=ours(small, y), theirs=theirs(small, y),
                   averaged=ours(small, y, rosenblatt.AveragedPerceptron))
    ratio("epoch, dense, 28 features", {name: least[name] for name in ("ours", "theirs")}, 1.5)
    share = least["averaged"] / least["ours"]
    line("averaged beside plain, dense, 28 features", "<= 1.4x", f"{share:.2f}x", share <= 1.4,
         {"averaged ms": round(1e3 * least["averaged"], 4)})
    fitted, known = ours(small, y)(2), theirs(small, y)(2)
    ratio("predict, dense, 28 features",
          in_turns(5 * repeats, ours=lambda: fitted.predict(small), theirs=lambda: known.predict(small)), 1.5)

    one, nothing = small[:1], (lambda X: X)
    many = lambda work: lambda: [work(one) for _ in range(2_000)]
    least = in_turns(3 * repeats, ours=many(fitted.predict), theirs=many(known.predict), call=many(nothing))
    least = {name: value / 2_000 for name, value in least.items()}
    ratio("predict, one row", {name: least[name] for name in ("ours", "theirs")}, 10, 1e6, "us")
    above = 1e6 * (least["ours"] - least["call"])
    line("predict, one row, above a call", "<= 10 us", f"{above:.1f} us", above <= 10, {})

    X, hundred = small[:100].copy(), y[:100].copy()
    repeat = lambda work: lambda: [work(5) for _ in range(100)]
    least = in_turns(3 * repeats, ours=repeat(ours(X, hundred)), theirs=repeat(theirs(X, hundred)))
    ratio("fit, 100 rows, 5 epochs", {name: value / 100 for name, value in least.items()}, 3, 1e6, "us")
    del small

    wide = rng.normal(size=(4_000, 10_000))
    y = labels(wide, rng)
    ratio("epoch, dense, 10,000 features", epochs(repeats, 2, 8, ours=ours(wide, y), theirs=theirs(wide, y)), 2.5)
    fitted, known = ours(wide, y)(1), theirs(wide, y)(1)
    ratio("predict, dense, 10,000 features",
          in_turns(repeats, ours=lambda: fitted.predict(wide), theirs=lambda: known.predict(wide)), 1.5)
    del wide

    text = words(100_000, rng)
    y = labels(text, rng)
    least = epochs(repeats, 1, 5, ours=ours(text, y), theirs=theirs(text, y),
                   averaged=ours(text, y, rosenblatt.AveragedPerceptron))
    ratio("epoch, sparse, 85 of 47,000 features", {name: least[name] for name in ("ours", "theirs")}, 1.3)
    share = least["averaged"] / least["ours"]
    line("averaged beside plain, sparse", "<= 1.4x", f"{share:.2f}x", share <= 1.4,
         {"averaged ms": round(1e3 * least["averaged"], 4)})
    fitted, known = ours(text, y)(1), theirs(text, y)(1)
    ratio("predict, sparse",
          in_turns(repeats, ours=lambda: fitted.predict(text), theirs=lambda: known.predict(text)), 1.5)

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.svm")
        dump_svmlight_file(text, y, path, zero_based=False)

        def by_parts():
            X, y = load_svmlight_file(path)
            # It gives indices that its own estimators refuse.
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
            SGDClassifier(loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None, average=True, tol=None,
                          max_iter=1, random_state=0).fit(X, y)

        by_name = lambda: rosenblatt.AveragedPerceptron(max_iter=1, **PLAIN).fit(path)
        ratio('fit("file.svm"), one epoch', in_turns(repeats, ours=by_name, theirs=by_parts), 40)
    del text

    digits = rng.integers(0, 255, size=(10_000, 784)) * (rng.random((10_000, 784)) < 0.2) / 255
    y = labels(digits, rng, 10)
    ratio("epoch, ten classes, 784 features", epochs(repeats, 1, 5, ours=ours(digits, y), theirs=theirs(digits, y)), 4)
    dense = rng.normal(size=(20_000, 100))
    y = labels(dense, rng, 10)
    ratio("epoch, ten classes, 100 features", epochs(repeats, 1, 5, ours=ours(dense, y), theirs=theirs(dense, y)), 4)

    for kind in ("float64", "float32", "csr"):
        grown = 100 * memory(kind)
        line(f"peak memory of a fit, {kind}", "< 5 % of X", f"{grown:.1f} %", grown < 5, {})
    least = imports(repeats)
    line("import without scikit-learn", "< 100 ms", f"{least['ours']:.0f} ms", least["ours"] < 100,
         {"with numpy, when first used ms": round(least["asked"]), "numpy alone ms": round(least["numpy"])})
    return rows


if __name__ == "__main__":
    folder, repeats = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    import sklearn

    rows = measured(repeats)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "raw.json").write_text(json.dumps(rows, indent=1) + "\n")
    details = lambda row: ", ".join(f"{name} {value}" for name, value in row.items() if name not in ("what", "target", "reached", "met"))
    table = ["| what | target | reached | | measured |", "|---|---|---|---|---|"]
    table += [f"| {row['what']} | {row['target']} | {row['reached']} | {'met' if row['met'] else 'missed'} | {details(row)} |" for row in rows]
    head = f"Python {sys.version.split()[0]}, numpy {np.__version__}, scikit-learn {sklearn.__version__}; minima of {repeats} turns; load {os.getloadavg()[0]:.1f}\n\n"
    (folder / "summary.md").write_text(head + "\n".join(table) + "\n")
    print("\n".join(table))
    sys.exit(any(not row["met"] for row in rows))
