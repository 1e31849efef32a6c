"""Third-party clients against `rosenblatt serve`: Triton's, Prometheus' parser, a validator of OpenAPI.

`cargo xtask serve-clients` runs it in an environment of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import tritonclient.http as triton
from openapi_spec_validator import validate
from prometheus_client.parser import text_string_to_metric_families
from tritonclient.utils import InferenceServerException

ROOT = Path(__file__).parents[1]


def fetch(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()


def post(url, document):
    """The problem with which the server refuses a request."""
    request = urllib.request.Request(url, json.dumps(document).encode(), {"content-type": "application/json"})
    try:
        urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        return json.loads(error.read())
    raise AssertionError(f"{url} was not refused")


def reason(ask):
    """Why a client of Triton says that it was refused."""
    try:
        ask()
    except InferenceServerException as error:
        return error.message()
    raise AssertionError("nothing was refused")


def check_refusals(client, address):
    """What the server refuses, a client of Triton raises, with the server's own reason and its cure."""
    iris = client.get_model_metadata("iris")["inputs"][0]["name"]
    for model, name, values, outputs in [
        ("iris", iris, [1.0, 2.0], []),
        ("iris", iris, [1.0, 2.0, 3.0, 4.0], ["no such output"]),
        ("sms", "text", [1.0, 2.0], []),
        ("nothing", "rows", [1.0, 2.0], []),
    ]:
        shape = [1, len(values)]
        given = [{"name": name, "shape": shape, "datatype": "FP32", "data": values}]
        wanted = [triton.InferRequestedOutput(one, binary_data=False) for one in outputs]
        problem = post(f"http://{address}/v2/models/{model}/infer", {"inputs": given, "outputs": [{"name": one} for one in outputs]})
        tensor = triton.InferInput(name, shape, "FP32")
        tensor.set_data_from_numpy(np.array([values], np.float32), binary_data=False)
        message = reason(lambda: client.infer(model, [tensor], outputs=wanted))
        assert len(problem["detail"].split()) > 3 and problem["detail"] in message, (problem, message)
        assert problem.get("help", "") in message and problem["status"] in (400, 404, 422), (problem, message)
    assert "no model of this name" in reason(lambda: client.get_model_metadata("nothing"))
    assert "version" in reason(lambda: client.get_model_metadata("iris", "7"))


def main():
    program = os.environ["ROSENBLATT"]
    bundled = ROOT / "crates/data/bundled"
    with tempfile.TemporaryDirectory() as folder:
        for name, words in {
            "iris": [bundled / "iris.csv"],
            "sms": [bundled / "sms-spam.tsv", "--algorithm", "perceptron"],
        }.items():
            subprocess.run([program, "train", *words, "--quiet", "--model", f"{folder}/{name}.model"], check=True, stdout=subprocess.DEVNULL)
        words = [program, "serve", folder, "--address", "127.0.0.1:0"]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().split("http://")[1].split(",")[0]
            check(program, folder, address, bundled)
        finally:
            server.terminate()
            server.wait(30)


def check(program, folder, address, bundled):
    client = triton.InferenceServerClient(address)
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("iris")
    metadata = client.get_model_metadata("iris")
    rows = np.loadtxt(bundled / "iris.csv", delimiter=",", skiprows=1, usecols=range(4))
    expected = subprocess.run(
        [program, "predict", bundled / "iris.csv", "--model", f"{folder}/iris.model", "--quiet"],
        check=True, capture_output=True, text=True,
    ).stdout.split()
    for kind in ("FP32", "FP64"):
        for binary in (True, False):
            tensor = triton.InferInput(metadata["inputs"][0]["name"], list(rows.shape), kind)
            tensor.set_data_from_numpy(rows.astype(np.float32 if kind == "FP32" else np.float64), binary_data=binary)
            outputs = [triton.InferRequestedOutput(name, binary_data=binary) for name in ("class", "scores", "probabilities")]
            answer = client.infer("iris", [tensor], outputs=outputs)
            classes = [item.decode() if isinstance(item, bytes) else item for item in answer.as_numpy("class")]
            assert classes == expected, (kind, binary)
            assert np.allclose(answer.as_numpy("probabilities").sum(axis=1), 1)
            assert answer.as_numpy("scores").shape[0] == len(rows)
    text = triton.InferInput("text", [2], "BYTES")
    text.set_data_from_numpy(np.array([b"WIN a FREE prize, txt now", b"see you at home"], dtype=object))
    assert client.infer("sms", [text]).as_numpy("class").tolist() == ["spam", "ham"] or \
        client.infer("sms", [text]).as_numpy("class").tolist() == [b"spam", b"ham"]
    check_refusals(client, address)
    families = list(text_string_to_metric_families(fetch(f"http://{address}/metrics").decode()))
    counts = {sample.name: sample.value for family in families for sample in family.samples}
    assert counts["rosenblatt_rows_predicted_total"] >= 4 * len(rows), counts
    assert all(family.documentation and family.type != "unknown" for family in families)
    validate(json.loads(fetch(f"http://{address}/openapi.json")))
    print("tritonclient, prometheus_client and openapi-spec-validator agree with the server")


if __name__ == "__main__":
    sys.exit(main())
