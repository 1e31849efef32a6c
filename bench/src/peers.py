"""The peers that are Python packages. `peers.py TASK WHO FILE...` does one thing and prints one line of JSON.

train WHO FILE MODEL       from a file to a model on disk
judge WHO MODEL FILE       the accuracy of that model on other rows
predict WHO MODEL FILE     classes for a file, written to MODEL.out
epochs WHO FILE            seconds of a steady pass in memory: eleven passes minus one, by ten
memory WHO FILE            seconds to predict all rows in memory, models made up
compare PREDICTIONS FILE   the share of predictions (VW's) that are the file's labels
"""
import json
import os
import sys
import time
import warnings

warnings.filterwarnings("ignore")


def load(path):
    """Rows and labels of a file, as a user of these packages would read it."""
    import numpy as np

    if path.endswith(".svm"):
        from sklearn.datasets import load_svmlight_file

        features = {"sparse": 47236, "dense-small": 28, "dense-wide": 10000, "multiclass": 784, "kernel": 20}
        name = os.path.basename(path)
        known = next(count for start, count in features.items() if name.startswith(start))
        x, y = load_svmlight_file(path, n_features=known, dtype=np.float32)
        # scikit-learn's own loader gives indices that its own learners refuse.
        x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
        return x, y
    if path.endswith(".csv"):
        import polars

        table = polars.read_csv(path)
        return table.drop("label").to_numpy().astype(np.float32), table["label"].to_numpy()
    if path.endswith(".npy"):
        return np.load(path), np.load(path.replace(".npy", ".labels.npy"))
    with open(path) as lines:
        next(lines)
        pairs = [line.rstrip("\n").split("\t") for line in lines]
    return [text for _, text in pairs], np.array([int(label) for label, _ in pairs])


def learner(who, passes=1):
    from sklearn.linear_model import Perceptron, SGDClassifier

    if who == "perceptron":
        return Perceptron(max_iter=passes, tol=None, shuffle=False)
    if who == "averaged":
        return SGDClassifier(
            loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None, average=True,
            max_iter=passes, tol=None, shuffle=False)
    if who == "text":
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import make_pipeline

        return make_pipeline(TfidfVectorizer(), learner("averaged"))
    if who == "svc":
        from sklearn.svm import SVC

        return SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0)
    if who == "fourier":
        from sklearn.kernel_approximation import RBFSampler
        from sklearn.pipeline import make_pipeline

        return make_pipeline(RBFSampler(gamma=0.05, n_components=1024, random_state=0), learner("averaged"))
    raise SystemExit(f"unknown peer {who}")


def mlpack_perceptron(x, y, test=None):
    import mlpack
    import numpy as np

    kept = {} if test is None else {"test": test.astype(float)}
    return mlpack.perceptron(training=x.astype(float), labels=np.asarray(y, dtype=np.int64), max_iterations=1, **kept)


def train(who, path, model):
    import joblib

    if who == "mlpack":
        x, y = load(path)
        mlpack_perceptron(x, y)
        with open(model, "w") as out:
            out.write(path)
        return {}
    if who == "river":
        return river(path, model)
    x, y = load(path)
    joblib.dump(learner(who).fit(x, y), model)
    return {}


def river(path, model):
    """One row at a time, the first 5,000: it would take hours otherwise."""
    import pickle

    from river import linear_model

    learned, n_rows = linear_model.Perceptron(), 0
    with open(path) as lines:
        next(lines)
        for line in lines:
            cells = line.split(",")
            learned.learn_one({j: float(cell) for j, cell in enumerate(cells[:-1])}, cells[-1].strip() == "1")
            n_rows += 1
            if n_rows == 5000:
                break
    with open(model, "wb") as out:
        pickle.dump(learned, out)
    return {"rows": n_rows}


def judge(who, model, path):
    import joblib
    import numpy as np

    x, y = load(path)
    if who == "mlpack":
        # Its models cannot be kept, so that it learns again.
        learned, labels = load(open(model).read())
        found = mlpack_perceptron(learned, labels, x)["predictions"]
        return {"accuracy": float(np.mean(np.ravel(found) == y))}
    if who == "river":
        import pickle

        learned = pickle.load(open(model, "rb"))
        found = [learned.predict_one(dict(enumerate(map(float, row)))) for row in x]
        return {"accuracy": float(np.mean([bool(a) == bool(b) for a, b in zip(found, y)]))}
    return {"accuracy": float(np.mean(joblib.load(model).predict(x) == y))}


def predict(_who, model, path):
    import joblib
    import numpy as np

    x, _ = load(path)
    np.savetxt(model + ".out", joblib.load(model).predict(x), fmt="%d")
    return {}


def epochs(who, path):
    x, y = load(path)
    best = {1: 1e9, 11: 1e9}
    for _ in range(3):
        for passes in (1, 11):
            start = time.perf_counter()
            if who == "mlpack":
                import mlpack
                import numpy as np

                mlpack.perceptron(training=x.astype(float), labels=np.asarray(y, dtype=np.int64), max_iterations=passes)
            else:
                learner(who, passes).fit(x, y)
            best[passes] = min(best[passes], time.perf_counter() - start)
    if best[11] <= best[1]:
        raise SystemExit("eleven passes took no longer than one: too few rows to tell")
    return {"seconds": (best[11] - best[1]) / 10}


def memory(_who, path):
    x, y = load(path)
    model = learner("perceptron").fit(x[: min(2000, len(y))], y[: min(2000, len(y))])
    best, begun = 1e9, time.perf_counter()
    while time.perf_counter() - begun < 1.0:
        start = time.perf_counter()
        model.predict(x)
        best = min(best, time.perf_counter() - start)
    return {"seconds": best}


def compare(predictions, path):
    with open(predictions) as found, open(path) as truth:
        pairs = [(float(a.split()[0]), float(b.split(" ", 1)[0])) for a, b in zip(found, truth)]
    two = all(label in (-1.0, 1.0) for _, label in pairs)
    right = sum((score > 0) == (label > 0) if two else score == label for score, label in pairs)
    return {"accuracy": right / len(pairs)}


if __name__ == "__main__":
    tasks = {"train": train, "judge": judge, "predict": predict, "epochs": epochs, "memory": memory, "compare": compare}
    print(json.dumps(tasks[sys.argv[1]](*sys.argv[2:])))
