"""Our default beside the linear defaults of others, on public data that packages carry.

accuracy.py PART BINARY DATA FOLDER SPLITS [SET...]

PART is `errors`, `fresh` (the same on sets that nothing was tried on before), `curves`, `numbers`, `coverage`, `speed`, `faces`,
`estimates`, `spread` or `importance`; `keep` writes the tables of `curves` and `numbers` into DATA, where another machine takes them from. DATA is a folder of real data that is no package's (may be missing), FOLDER is for files that come and go. One line of CSV per measurement.

Errors: every set is split SPLITS times into 80 % to learn from and 20 % fresh rows, as files in their raw form. Ours is
`rosenblatt train FILE --label label`, with no other option, then `evaluate`. Peers get what their users would give them:
categories one-hot, numbers standardised, text as tf-idf. Seconds are processor time from file to model: of
ours the whole process with all its threads, of peers reading and fitting without the time their packages take to load. What
peers did is kept in FOLDER/peers.csv, and not done again while it lies there.

Curves: ours with straight columns and as they come (curves where the race finds them better), on every table with two columns of
numbers; on a third of them also explainable boosting, with and without pairs, and histogram boosting. Error, area and
processor time, packages loaded before.

Numbers: root mean squared errors, as a share of what always predicting the mean gives, beside the linear learners of scikit-learn and
those of curves and trees.

Coverage: the share of fresh rows whose number lies in the interval of 90 %, split after split, on five of those tables.

Of these three parts as many learners are measured at once as ROSENBLATT_JOBS says (1); processor time does not change with it. What
takes long comes last, so that a run that is ended early has most of its lines.

Speed: seconds by the clock from file to model, of ours and of the peer with the least error there, each in a process of its own
and in turns, on the rows of one split of each set of many rows. Of the peer also without loading its packages.

Faces: each person against all others. Estimates: the interval beside the error on many fresh rows. Spread: how far the error of
small sets depends on the seed. Importance: whether columns that carry nothing rank below those that do.
"""
import csv
import json
import os
import re
import subprocess
import sys
import time
import traceback
import zlib
from functools import partial
from itertools import chain, combinations
from multiprocessing import Pool

# First of all: it says how many threads peers may have.
from accuracy_peers import CURVED, LEARNERS, NUMBER_PEERS, PEERS, fit_by_name, fit_curved, fit_numbers
import numpy as np
import pandas as pd
from accuracy_sets import all_sets, faces, fresh_sets, keep, kept, number_sets
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, train_test_split
from sklearn.preprocessing import StandardScaler

# Sets are cut to this many rows: the peers' turn on all splits would take hours.
MOST = 15_000
# Sets of more rows are timed, cut to this length, in several turns unless a peer takes long.
TIMED = range(10_000, 50_000)
TURNS = 5
# Where peers have taken this many seconds, a few splits do.
PATIENCE = 30
FEW_SPLITS = 3


def kind_of(x):
    if isinstance(x, pd.DataFrame):
        return "table"
    return "libsvm" if re.match(r"^\S+( \d+:\S+)+$", x[0]) else "text"


def write(x, y, kind, rows, path):
    if kind == "table":
        x.iloc[rows].assign(label=y[rows]).to_csv(path, index=False)
    elif kind == "text":
        pd.DataFrame({"label": y[rows], "text": x[rows]}).to_csv(path, index=False)
    else:
        with open(path, "w") as file:
            file.writelines(x[row] + "\n" for row in rows)


def peer(who, kind, train, test):
    start = time.process_time()
    wrong = fit_by_name(who, kind, train)
    seconds = time.process_time() - start
    return wrong(test), seconds


def of_children():
    times = os.times()
    return times.children_user + times.children_system


def run(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def ours(binary, kind, train, test, folder, *more):
    """Trains with the default and evaluates on fresh rows: the output of both, and the seconds of the training."""
    model = f"{folder}/our.model"
    words = [binary, "train", train, "--model", model, "--json", "--quiet", *more]
    words += [] if kind == "libsvm" else ["--label", "label"]
    start = of_children()
    trained = run(words)
    seconds = of_children() - start
    return trained, run([binary, "evaluate", test, "--model", model, "--json"]), seconds


def our_turn(binary, kind, train, test, folder, has_gaps):
    trained, judged, seconds = ours(binary, kind, train, test, folder, *(["--missing", "mean"] if has_gaps else []))
    interval = (trained["held-out"] or {"interval": ["", ""]})["interval"]
    spec = trained["spec"]
    winner = f"{spec['algorithm']} {json.dumps(spec['params'])} {spec['multiclass']}".replace(",", ";")
    return judged["error"], seconds, interval, winner


class Known:
    """What peers did before."""

    def __init__(self, folder, file="peers.csv", n_values=2):
        self.path = f"{folder}/{file}"
        self.lines = {}
        if os.path.exists(self.path):
            for line in csv.reader(open(self.path)):
                self.lines[tuple(line[:-n_values])] = line[-n_values:]

    def seconds(self, shape):
        return sum(float(line[-1]) for key, line in self.lines.items() if key[:4] == shape)

    def ask(self, key, turn):
        if key not in self.lines:
            self.lines[key] = [str(value) for value in turn()]
            with open(self.path, "a") as file:
                csv.writer(file).writerow([*key, *self.lines[key]])
        return [float(value) for value in self.lines[key]]


def common(x, y, most=MOST):
    """Without classes of fewer than ten rows, and at most `most` rows."""
    counts = pd.Series(y).value_counts()
    kept = np.flatnonzero(pd.Series(y).isin(counts[counts >= 10].index).values)
    kept = np.sort(np.random.RandomState(1).permutation(kept)[:most])
    return (x.iloc[kept].reset_index(drop=True) if isinstance(x, pd.DataFrame) else x[kept]), y[kept]


def wanted(name, only):
    return not only or any(re.fullmatch(word, name) for word in only)


def errors(sets, binary, folder, n_splits, only):
    print("set,rows,features,classes,split,who,error,seconds,low,high,what", flush=True)
    known, seen = Known(folder), set()
    for name, x, y in sets:
        # The most famous ones are in several packages.
        if name in seen or not wanted(name, only):
            continue
        seen.add(name)
        x, y = common(x, y)
        kind = kind_of(x)
        if len(set(y)) < 2:
            continue
        has_gaps = kind == "table" and bool(x.isna().any().any())
        shape = (name, str(len(y)), str(x.shape[1] if kind == "table" else 0), str(len(set(y))))
        splits = StratifiedShuffleSplit(n_splits, test_size=0.2, random_state=7)
        for split, (learned, fresh) in enumerate(splits.split(y, y)):
            if split >= FEW_SPLITS and known.seconds(shape) > PATIENCE:
                break
            ending = "svm" if kind == "libsvm" else "csv"
            train, test = f"{folder}/train.{ending}", f"{folder}/test.{ending}"
            write(x, y, kind, learned, train)
            write(x, y, kind, fresh, test)
            turns = {who: (lambda who=who: known.ask((*shape, str(split), who), lambda: peer(who, kind, train, test)))
                     for who in PEERS}
            if binary:
                turns["ours"] = lambda: our_turn(binary, kind, train, test, folder, has_gaps)
            for who, turn in turns.items():
                try:
                    error, seconds, *rest = turn()
                except Exception as failure:
                    print(f"{name} {split} {who}: {failure}", file=sys.stderr, flush=True)
                    continue
                (low, high), what = rest or (("", ""), "")
                print(",".join((*shape, str(split), who, f"{error},{seconds},{low},{high},{what}")), flush=True)


def curved_peer(who, train, test):
    start = time.process_time()
    judge = fit_curved(who, train)
    seconds = time.process_time() - start
    return *judge(test), seconds


def with_shape(binary, train, test, folder, has_gaps, shape):
    more = ["--missing", "mean"] if has_gaps else []
    trained, judged, seconds = ours(binary, "table", train, test, folder, "--shape", shape, *more)
    areas = [each["auc"] for each in judged["classes"] if each["auc"] is not None]
    return judged["error"], np.mean(areas), seconds, (trained["data"].get("shape") or "line").replace(",", ";")


# Every third table goes to learners of curves and trees, which take minutes for some; all do where much runs side by side.
PEERED = 3 if int(os.environ.get("ROSENBLATT_JOBS", "1")) < 8 else 1
# Tables with more classes, columns or rows wait for no peer: boosting learns a tree or curve for each of them.
MOST_CLASSES = 10
MOST_COLUMNS = 100


# As many learners at once. Each is a process of one thread.
JOBS = int(os.environ.get("ROSENBLATT_JOBS", "1"))


def cost(task):
    """Explainable boosting last, by the numbers it learns from and the curves it makes of them."""
    who, _, x, y, *_ = task
    n_classes = 1 if y.dtype.kind == "f" else len(set(y))
    return who.startswith("ebm"), len(x) * x.shape[1] * (n_classes if n_classes > 2 else 1)


def side_by_side(measure, tasks):
    """The line of `measure` for each task, the cheapest first; a task that fails is named and left out."""
    with Pool(JOBS) as pool:
        for line in pool.imap_unordered(partial(taken, measure), sorted(tasks, key=cost), chunksize=1):
            print(line, end="", flush=True)


def taken(measure, task):
    """A line, or none. Files of a task lie in a folder of its own."""
    who, name, x, y, split, binary, folder = task
    folder = f"{folder}/{name}-{split}-{who}"
    os.makedirs(folder, exist_ok=True)
    try:
        return measure(who, name, x, y, split, binary, folder) + "\n"
    except Exception:
        print(f"{name} {split} {who}: {traceback.format_exc(limit=-1)}", file=sys.stderr, flush=True)
        return ""


def curves_of(who, name, x, y, split, binary, folder):
    has_gaps = bool(x.isna().any().any())
    n_numbers = sum(column.dtype.kind in "iuf" for _, column in x.items())
    shape = (name, str(len(y)), str(x.shape[1]), str(len(set(y))))
    # A seed of its own for each split, so that any of them can be made alone.
    learned, fresh = list(StratifiedShuffleSplit(split + 1, test_size=0.2, random_state=7).split(y, y))[split]
    train, test = f"{folder}/train.csv", f"{folder}/test.csv"
    write(x, y, "table", learned, train)
    write(x, y, "table", fresh, test)
    if who in CURVED:
        known = Known(folder, "curved.csv", 3)
        error, area, seconds = known.ask((*shape, str(split), who), lambda: curved_peer(who, train, test))
        chosen = ""
    else:
        error, area, seconds, chosen = with_shape(binary, train, test, folder, has_gaps, who.removeprefix("ours-"))
    return ",".join((*shape, str(split), who, f"{error},{seconds},{area},{n_numbers},{chosen}"))


def curves(sets, binary, folder, n_splits, only):
    """Straight columns beside curves, and beside learners of curves and trees."""
    print("set,rows,features,classes,split,who,error,seconds,area,numbers,shape", flush=True)
    tasks, seen = [], set()
    for name, x, y in curved_sets(sets):
        if name not in seen and wanted(name, only):
            seen.add(name)
            learners = [f"ours-{way}" for way in ("line", "curves", "auto")] if binary else []
            learners += CURVED if zlib.crc32(name.encode()) % PEERED == 0 else []
            tasks += [(who, name, x, y, split, binary, folder) for split in range(n_splits) for who in learners]
    side_by_side(curves_of, tasks)


def curved_sets(sets):
    """The tables with two columns of numbers and few enough classes and columns."""
    for name, x, y in sets:
        if kind_of(x) != "table":
            continue
        x, y = common(x, y)
        n_numbers = sum(column.dtype.kind in "iuf" for _, column in x.items())
        if n_numbers >= 2 and 2 <= len(set(y)) <= MOST_CLASSES and x.shape[1] <= MOST_COLUMNS:
            yield name, x, y


def numbers_of(who, name, x, y, split, binary, folder):
    learned, fresh = list(ShuffleSplit(split + 1, test_size=0.2, random_state=7).split(y))[split]
    train, test = f"{folder}/train.csv", f"{folder}/test.csv"
    write(x, y, "table", learned, train)
    write(x, y, "table", fresh, test)
    of_mean = float(np.sqrt(np.mean((y[fresh] - y[learned].mean()) ** 2)))
    chosen = ""
    if who in NUMBER_PEERS:
        start = time.process_time()
        judge = fit_numbers(who, train)
        seconds = time.process_time() - start
        error = judge(test)
    else:
        more = ["--task", "regression", *(["--missing", "mean"] if x.isna().any().any() else []),
                *(["--shape", "line"] if who == "ours-line" else [])]
        trained, judged, seconds = ours(binary, "table", train, test, folder, *more)
        error, chosen = judged["rmse"]["value"], (trained["data"].get("shape") or "line").replace(",", ";")
    return ",".join((name, str(len(y)), str(x.shape[1]), "0", str(split), who, f"{error / of_mean},{seconds},,,{chosen}"))


def numbers(sets, binary, folder, n_splits, only):
    """Numbers to predict: ours as it comes and with straight columns, beside linear learners and those of curves and trees."""
    print("set,rows,features,classes,split,who,error,seconds,low,high,shape", flush=True)
    tasks = []
    for name, x, y in sets:
        if wanted(name, only):
            rows = np.sort(np.random.RandomState(1).permutation(len(y))[:MOST])
            x, y = x.iloc[rows].reset_index(drop=True), y[rows]
            learners = [*(["ours", "ours-line"] if binary else []), *NUMBER_PEERS]
            tasks += [(who, name, x, y, split, binary, folder) for split in range(n_splits) for who in learners]
    side_by_side(numbers_of, tasks)


# Tables of prices, wages and weights, of a few hundred to a few thousand rows.
COVERED = ("r-wooldridge-bwght", "r-mosaicData-SaratogaHouses", "r-Ecdat-Wages1", "r-openintro-births14", "r-modeldata-car-prices")
INTERVAL = 0.9


def coverage_of(_, name, x, y, split, binary, folder):
    learned, fresh = list(ShuffleSplit(split + 1, test_size=0.2, random_state=7).split(y))[split]
    train, test = f"{folder}/train.csv", f"{folder}/test.csv"
    write(x, y, "table", learned, train)
    write(x, y, "table", fresh, test)
    trained, _, _ = ours(binary, "table", train, test, folder, "--task", "regression",
                         *(["--missing", "mean"] if x.isna().any().any() else []))
    bounds = f"{folder}/bounds.csv"
    subprocess.run([binary, "predict", test, "--model", f"{folder}/our.model", "--interval", str(INTERVAL), "--output", bounds],
                   check=True, capture_output=True)
    bounds = pd.read_csv(bounds)
    inside = ((bounds.low <= y[fresh]) & (y[fresh] <= bounds.high)).mean()
    return f"{name},{len(y)},{split},{inside},{(bounds.high - bounds.low).median()},{(trained['data'].get('shape') or 'line').replace(',', ';')}"


def coverage(sets, binary, folder, n_splits, only):
    """The share of fresh rows whose number lies in its interval."""
    print("set,rows,split,inside,width,shape", flush=True)
    sets = [(name, x, y) for name, x, y in sets if name in COVERED and wanted(name, only)]
    side_by_side(coverage_of, [("ours", *each, split, binary, folder) for each in sets for split in range(n_splits)])


def speed(sets, binary, folder, only):
    print("set,rows,who,ours,peer,peer-loaded", flush=True)
    known = Known(folder)
    for name, x, y in sets:
        of_peers = {who: [float(line[0]) for key, line in known.lines.items() if (key[0], key[-1]) == (name, who)]
                    for who in PEERS}
        of_peers = {who: np.mean(errors) for who, errors in of_peers.items() if errors}
        if not wanted(name, only) or len(y) <= TIMED.start or not of_peers:
            continue
        x, y = common(x, y, TIMED.stop)
        kind = kind_of(x)
        train, model = f"{folder}/train.{'svm' if kind == 'libsvm' else 'csv'}", f"{folder}/our.model"
        learned, _ = train_test_split(np.arange(len(y)), test_size=0.2, random_state=7, stratify=y)
        write(x, y, kind, learned, train)
        who = min(of_peers, key=of_peers.get)
        has_gaps = kind == "table" and bool(x.isna().any().any())
        words = [binary, "train", train, "--model", model, "--quiet", *(["--missing", "mean"] if has_gaps else []),
                 *([] if kind == "libsvm" else ["--label", "label"])]
        peer_words = [sys.executable, f"{os.path.dirname(__file__)}/accuracy_peers.py", who, kind, train]
        for _ in range(TURNS):
            start = time.perf_counter()
            subprocess.run(words, check=True, capture_output=True)
            between = time.perf_counter()
            loaded = subprocess.run(peer_words, check=True, capture_output=True, text=True).stdout.strip()
            seconds = time.perf_counter() - between
            print(f"{name},{len(learned)},{who},{between - start},{seconds},{loaded}", flush=True)
            if seconds > PATIENCE:
                break


def recognised(binary, data, folder, n_splits, only):
    """Each person against all others, by ours and by scikit-learn's: recall and area on fresh pictures."""
    print("set,split,person,who,recall,area,error,is-warned", flush=True)
    for name, x, y in faces(data):
        if not wanted(name, only):
            continue
        splits = StratifiedShuffleSplit(n_splits, test_size=0.4, random_state=3)
        for split, (learned, fresh) in enumerate(splits.split(y, y)):
            train, test = f"{folder}/train.csv", f"{folder}/test.csv"
            write(x, y, "table", learned, train)
            write(x, y, "table", fresh, test)
            scale = StandardScaler().fit(x.values[learned].astype(float))
            scaled = scale.transform(x.values.astype(float))
            for person in sorted(set(y)):
                truth = y == person
                for who, learner in LEARNERS.items():
                    model = learner().fit(scaled[learned], truth[learned])
                    predicted = model.predict(scaled[fresh])
                    area = roc_auc_score(truth[fresh], model.decision_function(scaled[fresh]))
                    recall, error = predicted[truth[fresh]].mean(), (predicted != truth[fresh]).mean()
                    print(f"{name},{split},{person},{who},{recall},{area},{error},", flush=True)
                trained, judged, _ = ours(binary, "table", train, test, folder, "--positive", person)
                of_person = next(each for each in judged["classes"] if each["class"] == person)
                of_held = next(each for each in trained["held-out"]["classes"] if each["class"] == person)
                # A report warns where no held-out row was recognised, and where fewer than five could tell.
                is_warned = of_held["recall"] == 0 or of_held["rows"] < 5
                print(f"{name},{split},{person},ours,{of_person['recall']},{of_person['auc']},{judged['error']},{is_warned}",
                      flush=True)


# Rows to learn from, of sets that have many more.
ESTIMATED = {"banana": 500, "chess": 500, "contraceptive": 400, "german": 300, "magic": 500, "marketing": 800, "mushroom": 500,
             "optdigits": 800, "penbased": 800, "phoneme": 500, "ring": 500, "satimage": 800, "segment": 600, "sms-spam": 700,
             "spambase": 500, "splice": 500, "texture": 800, "tic-tac-toe": 300, "titanic": 500, "twonorm": 500}
# Small sets, of which one split tells little.
SMALL = ("pima", "sonar", "wine", "ionosphere")
N_SEEDS = 20
# How many other triples of columns are removed.
N_TRIPLES = 10
# Sets whose columns carry much, so that copies of them in another order carry less than the least useful of the best.
RANKED = ("australian", "german", "heart", "magic", "pima", "saheart", "segment", "wdbc", "wine", "wisconsin")


def estimates(binary, data, folder, n_splits, only):
    """The interval reported, the error on all rows that were not learned from, and that on those learned from."""
    print("set,rows,split,told,low,high,fresh-rows,error,training", flush=True)
    for name, x, y in all_sets(data):
        if name not in ESTIMATED or not wanted(name, only):
            continue
        kind = kind_of(x)
        splits = StratifiedShuffleSplit(n_splits, train_size=ESTIMATED[name], random_state=11)
        for split, (learned, fresh) in enumerate(splits.split(y, y)):
            train, test = f"{folder}/train.csv", f"{folder}/test.csv"
            write(x, y, kind, learned, train)
            write(x, y, kind, fresh, test)
            trained, judged, _ = ours(binary, kind, train, test, folder, "--seed", str(split))
            held = trained["held-out"]
            print(f"{name},{len(learned)},{split},{held['error']},{held['interval'][0]},{held['interval'][1]},"
                  f"{len(fresh)},{judged['error']},{trained['training']['error']}", flush=True)


def spread(binary, data, folder, only):
    """The error reported with every seed: by default, and by one split of a fifth of the rows."""
    print("set,seed,as,error,low,high", flush=True)
    for name, x, y in all_sets(data):
        if name in SMALL and wanted(name, only):
            table = f"{folder}/spread.csv"
            write(x, y, kind_of(x), range(len(y)), table)
            for seed in range(N_SEEDS):
                for way, more in (("default", ()), ("one split", ("--holdout", "0.2"))):
                    words = [binary, "train", table, "--label", "label", "--json", "--quiet", "--seed", str(seed), *more]
                    held = run(words)["held-out"]
                    print(f"{name},{seed},{way},{held['error']},{held['interval'][0]},{held['interval'][1]}", flush=True)


def importance(binary, data, folder, only):
    """Ranks of columns, a third of them copies in another order; and what removing three of them costs on fresh rows."""
    print("set,columns,useless,first-useless,useful-below,useless-claimed,top-three,worst-other-three,top-loss,worst-other-loss,triples",
          flush=True)
    for name, x, y in all_sets(data):
        if name not in RANKED or not wanted(name, only):
            continue
        x, y = common(x, y)
        random = np.random.RandomState(5)
        copied = list(random.permutation(x.columns)[:max(2, len(x.columns) // 3)])
        wide = x.assign(**{f"useless {column}": random.permutation(x[column].values) for column in copied})
        model, train, test = f"{folder}/ranked.model", f"{folder}/train.csv", f"{folder}/test.csv"
        splits = list(StratifiedShuffleSplit(5, train_size=0.6, random_state=3).split(y, y))
        learned = splits[0][0]
        write(wide, y, kind_of(wide), learned, train)
        train_words = [binary, "train", train, "--model", model, "--json", "--quiet", "--label", "label"]
        entries = run(train_words)["importance"]["columns"]
        ranked = [entry["column"] for entry in entries]
        useless = [place for place, column in enumerate(ranked) if column.startswith("useless ")]
        # A column is useful if the interval of what is lost without it is above zero.
        found = [place for place, entry in enumerate(entries) if entry["interval"][0] > 0]
        below = sum(place > useless[0] and place not in useless for place in found) if useless else 0
        claimed = sum(place in useless for place in found)

        def without(columns):
            """The error and the log loss of fresh rows, over the splits."""
            left = wide.drop(columns=list(columns))
            judged = []
            for learned, fresh in splits:
                write(left, y, kind_of(left), learned, train)
                write(left, y, kind_of(left), fresh, test)
                # The same model, without its estimate.
                run([*train_words, "--holdout", "0"])
                of_fresh = run([binary, "evaluate", test, "--model", model, "--json"])
                judged.append((of_fresh["error"], of_fresh["log-loss"]))
            return np.mean(judged, axis=0)

        others = [column for column in ranked[3:] if not column.startswith("useless ")]
        triples = list(combinations(others, 3))
        drawn = [triples[place] for place in random.permutation(len(triples))[:N_TRIPLES]]
        worst = np.max([without(triple) for triple in drawn], axis=0)
        top = without(ranked[:3])
        print(f"{name},{len(ranked)},{len(copied)},{useless[0] + 1 if useless else ''},{below},{claimed},"
              f"{top[0]},{worst[0]},{top[1]},{worst[1]},{len(drawn)}", flush=True)


def main(part, binary, data, folder, n_splits, *only):
    os.makedirs(folder, exist_ok=True)
    if part in ("errors", "fresh"):
        errors(all_sets(data) if part == "errors" else fresh_sets(), binary, folder, int(n_splits), only)
    elif part == "keep":
        keep(curved_sets(chain(all_sets("../shared/data"), fresh_sets())), data, "curves")
        keep(number_sets(), data, "numbers")
    elif part == "curves":
        sets = kept(data, part) if os.path.isdir(f"{data}/{part}") else chain(all_sets(data), fresh_sets())
        curves(sets, binary, folder, int(n_splits), only)
    elif part == "numbers":
        sets = kept(data, part) if os.path.isdir(f"{data}/{part}") else number_sets()
        numbers(sets, binary, folder, int(n_splits), only)
    elif part == "coverage":
        coverage(kept(data, "numbers") if os.path.isdir(f"{data}/numbers") else number_sets(), binary, folder, int(n_splits), only)
    elif part == "speed":
        speed(chain(all_sets(data), fresh_sets()), binary, folder, only)
    elif part == "faces":
        recognised(binary, data, folder, int(n_splits), only)
    elif part == "spread":
        spread(binary, data, folder, only)
    elif part == "importance":
        importance(binary, data, folder, only)
    else:
        estimates(binary, data, folder, int(n_splits), only)


if __name__ == "__main__":
    main(*sys.argv[1:])
