"""A peer on sentences: seconds of processor for attributes, training and tagging, and what it gets right, on one line.

python sequence.py WHO EPOCHS TRAIN TEST [TEMPLATE]

WHO is `ap`, `pa` or `lbfgs` (CRFsuite), `vw` (Vowpal Wabbit's `--search`) or `nltk` (its perceptron tagger, on words). The template is
CRF++'s, with our functions of cells; attributes are made here, in Python, as the peers' own scripts do. Files called
`.crfsuite` have attributes. Prints seconds for attributes, seconds of training, tokens tagged a second, accuracy, F1 and labels
that may not follow each other.
"""

import re
import sys
import tempfile
import time

who, epochs, train, test = sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]
has_attributes = train.endswith(".crfsuite")
looks = []
for line in open(sys.argv[5]) if len(sys.argv) > 5 else []:
    if line.startswith("U"):
        cells = re.findall(r"%(\w+)\[(-?\d+),(\d+)(?:,(\d+))?\]", line)
        looks.append((line.split(":")[0], [(name, int(a), int(b), int(n or 0)) for name, a, b, n in cells]))


def shape(word):
    return "".join("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isnumeric() else c for c in word)


FUNCTIONS = {
    "x": lambda word, n: word,
    "lower": lambda word, n: word.lower(),
    "shape": lambda word, n: shape(word),
    "prefix": lambda word, n: word[:n].lower() if len(word) >= n else None,
    "suffix": lambda word, n: word[-n:].lower() if len(word) >= n else None,
}


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


def labels(tokens):
    return [token[0 if has_attributes else -1] for token in tokens]


def attributes(tokens):
    if has_attributes:
        return [token[1:] for token in tokens]
    n = len(tokens)
    out = []
    for t in range(n):
        row = []
        for name, cells in looks:
            words = []
            for function, offset, column, letters in cells:
                at = t + offset
                edge = f"_B{at}" if at < 0 else f"_B+{at - n + 1}" if at >= n else None
                words.append(edge or FUNCTIONS[function](tokens[at][column], letters))
            if None not in words:
                row.append(name + "=" + "/".join(words))
        out.append(row)
    return out


def spans(labels):
    found, open_at = set(), None
    for at, label in enumerate([*labels, "O"]):
        kind, _, of = label.partition("-")
        if open_at is not None and not (kind == "I" and of == open_at[1]):
            found.add((open_at[0], at, open_at[1]))
            open_at = None
        if kind == "B" or kind == "I" and open_at is None:
            open_at = (at, of)
    return found


def broken(labels):
    pairs = zip(["O", *labels], labels)
    return sum(label[:2] == "I-" and before[2:] != label[2:] for before, label in pairs)


room = tempfile.mkdtemp()
start = time.process_time()
if who == "vw":
    import vowpalwabbit

    names = sorted({label for tokens in sentences(train) for label in labels(tokens)})
    numbers = {name: number for number, name in enumerate(names, 1)}

    def write(path, to):
        with open(to, "w") as out:
            for tokens in sentences(path):
                for label, row in zip(labels(tokens), attributes(tokens)):
                    safe = " ".join(one.replace(":", "_COLON_").replace("|", "_PIPE_") for one in row)
                    out.write(f"{numbers.get(label, 1)} |w {safe}\n")
                out.write("\n")

    write(train, f"{room}/train")
    made = time.process_time()
    asked = f"--search {len(names)} --search_task sequence --search_history_length 2 -b 24 --quiet"
    model = vowpalwabbit.Workspace(f"-d {room}/train {asked} --passes {epochs} -k -c --holdout_off -f {room}/model")
    model.run_parser()
    model.finish()
    trained = time.process_time()
    write(test, f"{room}/test")
    before = time.process_time()
    model = vowpalwabbit.Workspace(f"-t -i {room}/model -d {room}/test -p {room}/out --quiet")
    model.run_parser()
    model.finish()
    found_all = [[names[int(word) - 1] for word in line.split()] for line in open(f"{room}/out") if line.strip()]
    after = time.process_time()
elif who == "nltk":
    from nltk.tag.perceptron import PerceptronTagger

    rows = [[(token[0], token[-1]) for token in tokens] for tokens in sentences(train)]
    made = time.process_time()
    tagger = PerceptronTagger(load=False)
    tagger.train(rows, nr_iter=epochs)
    trained = before = time.process_time()
    found_all = [[label for _, label in tagger.tag([token[0] for token in tokens])] for tokens in sentences(test)]
    after = time.process_time()
else:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm=who, verbose=False)
    for tokens in sentences(train):
        trainer.append(attributes(tokens), labels(tokens))
    made = time.process_time()
    trainer.set_params({"max_iterations": epochs})
    trainer.train(f"{room}/model")
    trained = time.process_time()
    tagger = pycrfsuite.Tagger()
    tagger.open(f"{room}/model")
    before = time.process_time()
    found_all = [tagger.tag(attributes(tokens)) for tokens in sentences(test)]
    after = time.process_time()
gold = found = right = n_tokens = n_right = invalid = 0
for tokens, tagged in zip(sentences(test), found_all):
    n_tokens += len(tokens)
    n_right += sum(one == other for one, other in zip(labels(tokens), tagged))
    there, here = spans(labels(tokens)), spans(tagged)
    gold, found, right = gold + len(there), found + len(here), right + len(there & here)
    invalid += broken(tagged)
print(made - start, trained - made, n_tokens / (after - before), n_right / n_tokens, 2 * right / max(1, gold + found), invalid)
