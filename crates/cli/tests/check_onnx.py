"""Compare what an ONNX runtime says of a table with what `rosenblatt predict` said.

    python check_onnx.py MODEL.onnx TABLE.csv PREDICTIONS.jsonl [MODEL.onnx TABLE.csv PREDICTIONS.jsonl ...]

The table's columns are numbers. They are found by name if the first line has the
names of the features, else the model's features are the first columns. Labels must be the same, scores and
probabilities the same to 1e-6, as a share of the largest score.
"""

import csv
import json
import sys

import numpy as np
import onnxruntime


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def main(model, table, predictions):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    features = json.loads(session.get_modelmeta().custom_metadata_map["features"])
    with open(table, newline="") as file:
        rows = list(csv.reader(file))
    places = range(len(features))
    if not all(is_number(cell) for cell in rows[0]):
        head = rows.pop(0)
        if set(features) <= set(head):
            places = [head.index(name) for name in features]
    values = np.array([[float(row[place]) for place in places] for row in rows])
    outputs = [output.name for output in session.get_outputs()]
    found = dict(zip(outputs, session.run(None, {"features": values})))
    with open(predictions) as file:
        expected = [json.loads(line) for line in file]
    assert len(expected) == len(values), (len(expected), len(values))
    if outputs == ["prediction"]:
        numbers = np.array([[row["prediction"]] for row in expected])
        off = np.abs(found["prediction"] - numbers).max() / np.abs(numbers).max()
        assert off < 1e-9, off
        print(f"predictions of {len(numbers)} rows agree; they differ by at most {off:.1e}")
        return
    labels = [row["class"] for row in expected]
    others = [row for row, label in enumerate(labels) if found["label"][row] != label]
    assert not others, f"{model}: {len(others)} labels differ, the first in row {others[0] + 1}"
    scores = np.array([row["scores"] for row in expected])
    off = np.abs(found["scores"] - scores).max() / max(1.0, np.abs(scores).max())
    assert off < 1e-6, off
    checked = f"labels and scores of {len(labels)} rows"
    if "probabilities" in found and "probabilities" in expected[0]:
        shares = np.array([list(row["probabilities"].values()) for row in expected])
        names = list(expected[0]["probabilities"])
        classes = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
        order = [names.index(name) for name in classes]
        off_shares = np.abs(found["probabilities"] - shares[:, order]).max()
        assert off_shares < 1e-6, off_shares
        checked = f"labels, scores and probabilities of {len(labels)} rows"
    print(f"{checked} agree; scores differ by at most {off:.1e}")


if __name__ == "__main__":
    for start in range(1, len(sys.argv), 3):
        main(*sys.argv[start : start + 3])
