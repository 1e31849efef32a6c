"""Writes audit.txt: how Vowpal Wabbit itself reads audit.vw.

pip install vowpalwabbit (9.11.9 was used), then: python generate.py > audit.txt
A line is the label and the weight, then a tab before every feature and a blank before its value. Features that
occur more than once are added, and those of value zero left out, as Vowpal Wabbit leaves them out.
"""

import pathlib
import re
import subprocess
import sys

import vowpalwabbit

TEXT = pathlib.Path(__file__).with_name("audit.vw")

if sys.argv[1:] == ["audit"]:
    # It prints two lines an example: the prediction with the tag, and the features.
    vowpalwabbit.Workspace(f"--audit --noconstant --quiet --learning_rate 0 -d {TEXT}").finish()
    sys.exit()

audit = subprocess.run([sys.executable, __file__, "audit"], capture_output=True, text=True, check=True)
workspace = vowpalwabbit.Workspace("--noconstant --quiet")
for line, found in zip(TEXT.read_text("utf-8").splitlines(), audit.stdout.split("\n")[1::2]):
    features = {}
    for part in filter(None, found.strip("\t").split("\t")):
        name, value = re.fullmatch(r"(.*):\d+:([^:]*):[^:]*", part).groups()
        features[name] = features.get(name, 0.0) + float(value)
    example = workspace.example(line)
    told = f"{example.get_simplelabel_label():g} {example.get_simplelabel_weight():g}"
    print(told + "".join(f"\t{name} {value:g}" for name, value in features.items()))
    workspace.finish_example(example)
