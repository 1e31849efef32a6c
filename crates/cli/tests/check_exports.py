"""Run what a model was exported to, and compare it with what `rosenblatt predict` says of the same table.

    python check_exports.py ENGINE FILE TABLE.csv PREDICTIONS.jsonl

ENGINE is sqlite, duckdb, c or node. Classes must be the same; scores and probabilities the same to 1e-9, as a share of the
largest score. Of a model that predicts numbers, the prediction is the one score. A row that `predict` refuses has no place
here.
"""

import csv
import json
import re
import subprocess
import sys

MISSING = {"", "NA", "N/A", "NaN", "null", "?"}


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    names = [f"column_{place + 1}" for place in range(len(rows[0]))]
    if not all(is_number(cell) or cell in MISSING for cell in rows[0]):
        names = rows.pop(0)
    columns = []
    for cells in zip(*rows):
        present = [cell for cell in cells if cell not in MISSING]
        kind = float if all(is_number(cell) for cell in present) else str
        columns.append([None if cell in MISSING else kind(cell) for cell in cells])
    return names, [list(row) for row in zip(*columns)], rows


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def by_sql(connection, query, names, rows, kinds):
    columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(names, kinds))
    connection.execute(f"CREATE TABLE your_table ({columns})")
    places = ", ".join("?" for _ in names)
    connection.executemany(f"INSERT INTO your_table VALUES ({places})", rows)
    found = connection.execute(query)
    heads = [column[0] for column in found.description]
    answers = []
    for row in found.fetchall():
        assert len(row) == len(heads)
        # The columns of the table itself come first.
        row = dict(zip(heads[len(names) :], row[len(names) :]))
        # A name that the table has, too, ends in a line.
        of = lambda word: [value for name, value in row.items() if name.rstrip("_").split(" ")[0] == word]
        answers.append((row.get("predicted_class"), of("score") + of("prediction"), of("probability")))
    return answers


def sqlite(path, names, rows, texts):
    import sqlite3

    connection = sqlite3.connect(":memory:")
    with open(path) as file:
        query = file.read()
    answers = by_sql(connection, query, names, rows, ["" for _ in names])
    # As the shell imports a CSV file: all text, what is missing as well.
    connection.execute("DROP TABLE your_table")
    assert by_sql(connection, query, names, texts, ["TEXT" for _ in names]) == answers
    return answers


def duckdb(path, names, rows, texts):
    import duckdb as engine

    kinds = ["VARCHAR" if any(isinstance(row[place], str) for row in rows) else "DOUBLE" for place in range(len(names))]
    with open(path) as file:
        return by_sql(engine.connect(), file.read(), names, rows, kinds)


def in_comment(name):
    # Pictures of control characters, and marks that cannot be seen.
    name = re.sub(r"[\0-\x08\x0b-\x1f]", lambda found: chr(0x2400 + ord(found[0])), name)
    name = re.sub("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]", "\ufffd", name)
    return name.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ").replace("\t", " ")


def c(path, names, rows, texts):
    with open(path) as file:
        source = file.read()
    start = source.index("typedef struct {")
    fields = [line for line in source[start : source.index("} rosenblatt_row;")].split("\n")[1:] if line.strip()]
    written = [in_comment(name) for name in names]
    places = [written.index(line[line.index("/* ") + 3 : line.rindex(" */")]) for line in fields]

    def literal(cell, is_text):
        if cell is None:
            return "NULL" if is_text else "NAN"
        # Two question marks may begin a trigraph.
        return json.dumps(cell, ensure_ascii=False).replace("?", "\\077") if is_text else repr(cell)

    texts = ["char" in line[: line.index("/*")] for line in fields]
    lines = ["    {" + ", ".join(literal(row[place], text) for place, text in zip(places, texts)) + "}," for row in rows]
    with open(path + ".main.c", "w") as file:
        file.write(f'#include "{path}"\n#include <stdio.h>\nstatic const rosenblatt_row rows[] = {{\n')
        file.write("\n".join(lines))
        is_number = "double prediction;" in source
        file.write(
            """
};
int main(void) {
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
        printf("%.17g\\n", rosenblatt_predict(&rows[row]).prediction);
    return 0;
}
"""
            if is_number
            else """
};
int main(void) {
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        rosenblatt_prediction found = rosenblatt_predict(&rows[row]);
        printf("%d", found.class_number);
        for (int k = 0; k < ROSENBLATT_SCORES; k++) printf(" %.17g", found.scores[k]);
        for (int k = 0; k < ROSENBLATT_CLASSES; k++) printf(" %.17g", found.probabilities[k]);
        printf("\\n");
        if (found.class_name != rosenblatt_classes[found.class_number]) return 1;
    }
    return 0;
}
"""
        )
    program = "./" + path + ".out"
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run(["cc", *strict, path + ".main.c", "-lm", "-o", program], check=True)
    # With the macros of the system, too.
    subprocess.run(["cc", "-std=gnu17", "-fsyntax-only", path], check=True)
    answers = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    if is_number:
        return [(None, [float(line)], []) for line in answers.splitlines()]
    line = source[source.index("rosenblatt_classes[] = {") :]
    # Bytes that are not plain are written in octal digits.
    line = re.sub(r"(\\[0-7]{3})+", lambda found: json.dumps(octal(found[0]))[1:-1], line)
    classes = json.loads("[" + line[line.index("{") + 1 : line.index("};")] + "]")
    n_classes = len(classes)
    found = []
    for line in answers.splitlines():
        number, *values = line.split()
        values = [float(value) for value in values]
        shares = values[-n_classes:]
        shares = [] if shares[0] != shares[0] else shares[1:] if n_classes == 2 else shares
        found.append((classes[int(number)], values[:-n_classes], shares))
    return found


def node(path, names, rows, texts):
    answers = by_node(path, names, rows)
    # As cells come from a file that another library read: all text.
    assert by_node(path, names, texts) == answers
    # What is not in a row is missing, whatever every object has by that name.
    bare = by_node(path, names, [[None] * len(names)])
    assert bare == by_node(path, [], [[]]), bare
    return answers


def by_node(path, names, rows):
    with open(path + ".rows.json", "w") as file:
        json.dump([dict(zip(names, row)) for row in rows], file)
    with open(path + ".main.mjs", "w") as file:
        file.write(
            f'import {{ predict }} from "./{path}";\nimport {{ readFileSync }} from "node:fs";\n'
            f'const rows = JSON.parse(readFileSync("{path}.rows.json"));\n'
            "console.log(JSON.stringify(rows.map((row) => predict(row))));\n"
        )
    answers = subprocess.run(["node", path + ".main.mjs"], check=True, capture_output=True, text=True).stdout
    found = []
    for row in json.loads(answers):
        if "prediction" in row:
            found.append((None, [row["prediction"]], []))
            continue
        shares = row["probabilities"] or []
        found.append((row["class"], row["scores"], shares[1:] if len(shares) == 2 else shares))
    return found


def names_in(line):
    # What cannot be seen is written by its number, as Rust does.
    line = re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: f"\\u{int(found[1], 16):04x}", line)
    return json.loads("[" + line + "]")


def octal(text):
    return bytes(int(digits, 8) for digits in text.split("\\")[1:]).decode()


def main(engine, path, table, predictions):
    names, rows, texts = read(table)
    answers = {"sqlite": sqlite, "duckdb": duckdb, "c": c, "node": node}[engine](path, names, rows, texts)
    with open(predictions) as file:
        expected = [json.loads(line) for line in file]
    if "prediction" in expected[0]:
        expected = [{"class": None, "scores": [row["prediction"]]} for row in expected]
    assert len(expected) == len(answers) == len(rows), (len(expected), len(answers), len(rows))
    # The head of every file names the classes in their order.
    with open(path) as file:
        head = next((line for line in file if ", classes " in line), None)
    assert (head is None) == (expected[0]["class"] is None)
    classes = names_in(head[head.index(", classes ") + 10 : head.rindex(".")]) if head else []
    # No comment may be ended.
    known = {name.replace("*/", "* /"): name for row in expected for name in row.get("probabilities") or {}}
    classes = [known.get(name, name) for name in classes]
    largest = max(abs(score) for row in expected for score in row["scores"])
    off = 0.0
    for number, (row, (name, scores, shares)) in enumerate(zip(expected, answers)):
        assert name == row["class"], (number, name, row)
        assert len(scores) == len(row["scores"])
        off = max([off, *(abs(a - b) / largest for a, b in zip(scores, row["scores"]))])
        wanted = row.get("probabilities") or {}
        wanted = [wanted[name] for name in classes if wanted][1 if len(classes) == 2 else 0 :]
        assert len(shares) == len(wanted), (number, shares, wanted)
        off = max([off, *(abs(a - b) for a, b in zip(shares, wanted))])
    assert off < 1e-9, off
    print(f"{engine}: {len(answers)} rows agree; they differ by at most {off:.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
