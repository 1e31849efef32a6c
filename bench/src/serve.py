"""The peers of `cargo xtask bench serve`: scikit-learn behind FastAPI and uvicorn, and Vowpal Wabbit's daemon.

`serve.py train FOLDER` trains both on FOLDER/train.csv; `serve.py vw FOLDER PORT` is the daemon. uvicorn finds `app`.
"""

import os
import pickle
import sys

import numpy as np


def train(folder):
    from sklearn.linear_model import Perceptron

    rows = np.genfromtxt(f"{folder}/train.csv", delimiter=",", skip_header=1, dtype=str)
    x, y = rows[:, :-1].astype(float), rows[:, -1]
    with open(f"{folder}/sklearn.pickle", "wb") as out:
        pickle.dump(Perceptron().fit(x, y), out)
    with open(f"{folder}/train.vw", "w") as out:
        for row, label in zip(x, y):
            cells = " ".join(f"f{k}:{value}" for k, value in enumerate(row))
            out.write(f"{1 if label == 'yes' else -1} | {cells}\n")
    import vowpalwabbit

    vowpalwabbit.Workspace(f"-d {folder}/train.vw -f {folder}/vw.model --loss_function hinge --quiet").finish()


def daemon(folder, port):
    import vowpalwabbit

    words = f"--daemon --foreground --port {port} -t -i {folder}/vw.model --quiet --num_children 1"
    vowpalwabbit.Workspace(words).run_parser()


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    {"train": train, "vw": daemon}[what](*rest)
else:
    from fastapi import FastAPI

    with open(os.path.join(os.environ["BENCH_FOLDER"], "sklearn.pickle"), "rb") as source:
        model = pickle.load(source)
    app = FastAPI()

    # Not a plain `def`, which FastAPI would hand to a thread of its own: that is slower.
    @app.post("/predict")
    async def predict(rows: list[list[float]]):
        return {"predictions": model.predict(np.array(rows)).tolist()}
