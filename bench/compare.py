#!/usr/bin/python3
"""compare.py [--write] [--repeat R] [--results FILE] [--small] -- krein compare on five sets, with XGBoost beside it.

Six methods of krein, three learners with the kernel that train chooses and with the Gaussian one, and XGBoost through
--command: this script again, as `compare.py fit TRAIN TEST OUT`. With --results what was measured is kept in a file, and
the same command goes on from it. --write replaces the tables of docs/results/compare.md and its figure.
"""

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

import common

SETS = ["sonar", "glass", "heart", "ionosphere", "liver-disorders"]
LEARNERS = "krr; svm; logistic"
KERNELS = "default; gaussian"


def fit(train, test, out):
    """XGBoost as it comes; texts become numbers in the order in which they appear."""
    import numpy as np
    from xgboost import XGBClassifier

    def rows(path):
        with open(path, newline="") as f:
            return list(csv.reader(f))

    trained, tested = rows(train), rows(test)
    names = sorted({r[0] for r in trained})
    y = np.array([names.index(r[0]) for r in trained])
    codes = {}

    def number(j, cell):
        try:
            return float(cell) if cell else np.nan
        except ValueError:
            return codes.setdefault((j, cell), len(codes))

    def matrix(table, first):
        return np.array([[number(j, cell) for j, cell in enumerate(r[first:])] for r in table], dtype=float)

    model = XGBClassifier()
    model.fit(matrix(trained, 1), y)
    Path(out).write_text("".join(names[k] + "\n" for k in model.predict(matrix(tested, 0))))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--results")
    parser.add_argument("--small", action="store_true", help="two sets, two splits; means nothing")
    return parser.parse_args()


def main():
    asked = arguments()
    names = SETS[:2] if asked.small else SETS
    folder = common.folder()
    results = asked.results or str(folder / "results.jsonl")
    paths = [str(common.data() / f"{name}.csv.gz") for name in names]
    command = [common.program(), "compare", *paths, "--learners", LEARNERS, "--kernels", KERNELS, "-t", "classification",
               "--repeat", "2" if asked.small else str(asked.repeat), "--results", results, "-q",
               "--command", f"XGBoost: {sys.executable} {Path(__file__).resolve()} fit {{train}} {{test}} {{out}}"]
    figure = common.ROOT / "docs" / "results" / "compare.svg" if asked.write else folder / "compare.svg"
    found = json.loads(subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout)
    text = subprocess.run([*command, "--plot", str(figure)], check=True, capture_output=True, text=True).stdout
    matrix = subprocess.run([*command, "--table", "markdown"], check=True, capture_output=True, text=True).stdout
    failed = [r for r in found["results"] if r["failures"]]
    if failed:
        sys.exit(f"{failed[0]['method']} on {failed[0]['data']}: {failed[0]['failed']}")
    lines = text.splitlines()
    text = "\n".join(lines[:-1])  # without the time, which is none where results were kept
    common.publish({"machine": f"{common.cpu()}, {found['parallel']} trainings at a time.\n", "matrix": matrix,
                    "text": f"```text\n{text}\n```\n"}, "compare.md" if asked.write else None)


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "fit":
        fit(*sys.argv[2:])
    else:
        main()
