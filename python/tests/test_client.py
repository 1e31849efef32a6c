"""The client, speaking to a real server."""

import os
import subprocess

import numpy as np
import pytest

import rosenblatt


@pytest.fixture
def address(tmp_path):
    rows = "legs,weight,label\n" + "4,3.5,cat\n2,0.1,bird\n4,5,cat\n2,0.2,bird\n" * 5
    (tmp_path / "pets.csv").write_text(rows)
    trained = rosenblatt.train(tmp_path / "pets.csv", algorithm="perceptron")
    # A named rule means no race, though it is the default rule.
    assert trained.race is None
    trained.model.save(tmp_path / "pets.model")
    (tmp_path / "messages.tsv").write_text("spam\tfree prize now\nham\tsee you at home\n" * 10)
    rosenblatt.train(tmp_path / "messages.tsv", algorithm="perceptron").model.save(tmp_path / "sms.model")
    words = [os.environ["ROSENBLATT"], "serve", str(tmp_path), "--address", "127.0.0.1:0"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    yield "http://" + line.split("http://")[1].split(",")[0]
    server.terminate()
    server.wait(30)


def test_a_model_is_asked_taught_kept_and_gone_back_to(address):
    with rosenblatt.Client(address) as client:
        assert [model["name"] for model in client.models()] == ["pets", "sms"]
        assert client.predict("pets", np.array([[4.0, 4.0], [2.0, 0.3]]), scores=True)[0]["class"] == "cat"
        with pytest.raises(rosenblatt.ServerError, match="never seen the class `fish`"):
            client.learn("pets", [[0.0, 9.0]], ["fish"])
        first = client.learn("pets", [[0.0, 9.0]], ["fish"], key="once", grow_classes=True)
        again = client.learn("pets", [[0.0, 9.0]], ["fish"], key="once", grow_classes=True)
        assert first["new-classes"] == ["fish"]
        assert (first["learned"], again["learned"], again["repeated"]) == (1, 1, True)
        assert client.evaluate("pets")["version"] == 1
        assert client.keep("pets") == 2
        assert list(rosenblatt.Model.from_bytes(client.download("pets")).classes) == ["bird", "cat", "fish"]
        assert client.roll_back("pets", 1) == 3
        assert client.describe("pets")["classes"] == ["bird", "cat"]
        assert client.learn("pets", [[0.0, 9.0]], ["fish"], key="once")["repeated"], "by another version, too"
        # A row alone is one row, and a text alone one text, not its letters.
        assert [found["class"] for found in client.predict("pets", {"legs": 4, "weight": 4})] == ["cat"]
        assert [found["class"] for found in client.predict("sms", "free prize")] == ["spam"]
        assert [found["class"] for found in client.predict("sms", ["free prize", "at home"])] == ["spam", "ham"]
        with pytest.raises(rosenblatt.ServerError) as refused:
            client.predict("pets", [[1.0]])
        assert (refused.value.status, refused.value.code) == (422, "bad-rows")
        with pytest.raises(rosenblatt.ServerError, match="no model of this name"):
            client.predict("dogs", [[1.0]])
    with pytest.raises(ValueError, match="http://HOST:PORT"):
        rosenblatt.Client("localhost:8080")
