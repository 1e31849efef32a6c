"""CRFsuite on a file of columns: seconds of processor for attributes, training and tagging, and F1, on one line.

python sequence.py ALGORITHM EPOCHS TRAIN TEST TEMPLATE

The template is CRF++'s; attributes are made here, in Python, as CRFsuite's own scripts do.
"""

import re
import sys
import tempfile
import time

import pycrfsuite

algorithm, epochs, train, test, template = sys.argv[1], int(sys.argv[2]), *sys.argv[3:6]
looks = []
for line in open(template):
    if line.startswith("U"):
        cells = [(int(a), int(b)) for a, b in re.findall(r"%x\[(-?\d+),(\d+)\]", line)]
        looks.append((line.split(":")[0], cells))


def sentences(path):
    found = []
    for line in open(path, encoding="utf-8"):
        cells = line.split()
        if cells:
            found.append(cells)
        elif found:
            yield found
            found = []
    if found:
        yield found


def attributes(tokens):
    n = len(tokens)
    out = []
    for t in range(n):
        row = []
        for name, cells in looks:
            words = []
            for offset, column in cells:
                at = t + offset
                words.append(f"_B{at}" if at < 0 else f"_B+{at - n + 1}" if at >= n else tokens[at][column])
            row.append(name + "=" + "/".join(words))
        out.append(row)
    return out


def spans(labels):
    found, open_at = set(), None
    for at, label in enumerate(labels + ["O"]):
        kind, _, of = label.partition("-")
        if open_at is not None and not (kind == "I" and of == open_at[1]):
            found.add((open_at[0], at, open_at[1]))
            open_at = None
        if kind == "B" or kind == "I" and open_at is None:
            open_at = (at, of)
    return found


start = time.process_time()
trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
for tokens in sentences(train):
    trainer.append(attributes(tokens), [token[-1] for token in tokens])
made = time.process_time()
trainer.set_params({"max_iterations": epochs})
model = tempfile.NamedTemporaryFile(suffix=".crfsuite").name
trainer.train(model)
trained = time.process_time()
tagger = pycrfsuite.Tagger()
tagger.open(model)
before = time.process_time()
gold = found = right = tokens_seen = 0
for tokens in sentences(test):
    labels = tagger.tag(attributes(tokens))
    tokens_seen += len(tokens)
    there, told = spans([token[-1] for token in tokens]), spans(labels)
    gold, found, right = gold + len(there), found + len(told), right + len(there & told)
after = time.process_time()
f1 = 2 * right / max(1, gold + found)
print(made - start, trained - made, tokens_seen / (after - before), f1)
