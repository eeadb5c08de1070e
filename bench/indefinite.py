#!/usr/bin/env python3
"""Errors of feature maps for indefinite kernels: table 2-1 of luo2022 again.

    bench/indefinite.py [--write] [--small]

Relative errors |K - Khat|_F / |K|_F on 1,000 rows, mean and standard deviation of 10 draws of the
features, by `krein approx`. The thesis counts s frequencies of each sign, cos and sin of each: 4 s
features, which is the D given here, to all maps. KREIN_DATA names the folder of the data sets;
--write replaces docs/results/indefinite.md."""

import json
import os
import subprocess
import sys
from pathlib import Path

from common import ROOT, cpu, program

SETS = {"letter": 16, "ijcnn1": 22, "usps": 256}
KERNELS = {
    "epanechnikov(a=3, m=1)": "epanechnikov(a=3, m=1)",
    "Delta-Gaussian": "gaussian(sigma=1) - gaussian(sigma=10)",
    "epanechnikov(a=2, m=3)": "epanechnikov(a=2, m=3)",
}
MAPS = {
    "grff(route=density)": "grff, exact law",
    "gorf(route=density)": "gorf, exact law",
    "grff": "grff",
    "gorf": "gorf",
    "srf": "srf",
    "digmm": "digmm",
    "maclaurin(law=geometric)": "maclaurin, as published",
    "maclaurin": "maclaurin",
    "tensorsketch": "tensorsketch",
}
# s = d/2, d, 2d as printed in luo2022
PRINTED = {
    ("epanechnikov(a=3, m=1)", "letter"): {"grff": (0.0859, 0.0547, 0.0469), "gorf": (0.0716, 0.0495, 0.0360)},
    ("epanechnikov(a=3, m=1)", "ijcnn1"): {"grff": (0.1159, 0.0907, 0.0794), "gorf": (0.1072, 0.0775, 0.0487)},
    ("epanechnikov(a=3, m=1)", "usps"): {"grff": (0.0270, 0.0213, 0.0160), "gorf": (0.0251, 0.0194, 0.0143)},
    ("Delta-Gaussian", "letter"): {"grff": (0.3918, 0.2736, 0.1887), "gorf": (0.3154, 0.1133, 0.0760)},
    ("Delta-Gaussian", "ijcnn1"): {"grff": (0.2924, 0.2171, 0.1504), "gorf": (0.2415, 0.1026, 0.0739)},
    ("Delta-Gaussian", "usps"): {"grff": (0.1005, 0.0690, 0.0500), "gorf": (0.0724, 0.0235, 0.0166)},
}


def measure(path, kernel, spec, features, small):
    """A list of (mean, sd) per number of features, or the reason why there is none."""
    command = [program(), "approx", path, "-k", kernel, "-m", spec, "--scale", "unit", "--features",
               ",".join(map(str, features)), "--rows", "200" if small else "1000",
               "--repeat", "2" if small else "10", "--json", "-q"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        return "the map refuses this kernel"
    return [(r["error_mean"], r["error_sd"]) for r in json.loads(done.stdout)["results"]]


def table(data, kernel, small, notes, checks):
    lines = ["| set | map | s = d/2 | s = d | s = 2d |", "| --- | --- | --- | --- | --- |"]
    for name, d in SETS.items():
        features = [2 * d, 4 * d, 8 * d]
        got = {}
        printed = PRINTED.get((kernel, name), {})
        for spec, label in MAPS.items():
            result = measure(data / f"{name}.train.csv.gz", KERNELS[kernel], spec, features, small)
            if isinstance(result, str):
                notes.add(f"{kernel}, {label}: {result}")
                lines.append(f"| {name} | {label} | - | - | - |")
                continue
            got[spec] = [mean for mean, _ in result]
            cells = " | ".join(f"{mean:.4f} ± {sd:.4f}" for mean, sd in result)
            lines.append(f"| {name} | {label} | {cells} |")
        for label, values in printed.items():
            lines.append(f"| {name} | *{label}, printed* | " + " | ".join(f"*{v:.4f}*" for v in values) + " |")
        for other in ("grff", "srf", "digmm"):
            if other in got and "gorf" in got:
                checks.append((f"{kernel}, {name}: gorf below {other}",
                               all(a < b for a, b in zip(got["gorf"], got[other]))))
        if printed and "gorf" in got:
            checks.append((f"{kernel}, {name}: gorf below what is printed at s = d",
                           got["gorf"][1] < printed["gorf"][1]))
    return lines


INTRO = """# Indefinite kernels: grff, gorf and others

Made by `bench/indefinite.py --write`{small} on {cpu}. Relative errors |K - Khat|_F / |K|_F on 1,000
rows, mean ± standard deviation of 10 draws of the features (`krein approx`). D = 4 s features for
every map: the thesis (luo2022, table 2-1) counts s frequencies of each sign, cos and sin of each.

**Rows.** The training files as they are (LIBSVM's scaling: letter and usps to [-1, 1]), each row
brought to length one (`--scale unit`). The thesis says that inputs are in [0, 1]^d and speaks of the
unit sphere; this scaling is the one that gives its figures: with the exact law of the
Delta-Gaussian both GRFF and GORF come out as printed, within the standard deviations, on all three
sets. Columns in [0, 1] brought to length one lie closer together: on letter grff's errors for
epanechnikov(a=3, m=1) are then a sixth of these. Columns in [0, 1] without unit length have about
the same errors of the exact law for the Delta-Gaussian, but epanechnikov is then not what is used.

**Maps.** "grff, exact law" and "gorf, exact law" draw radii from the spectral density, as the thesis
means to; grff and gorf choose between that and atoms fitted on the distances of the data by the
expected error. Rows in italics are printed in the thesis.
"""

OUTRO = """
## Notes

- On rows of length one epanechnikov(a, m=1) is (2/a^2)(a^2/2 - 1 + <x, y>): d + 1 features are exact
  (the map `explicit`), epanechnikov(a=2, m=3) is (1 + <x, y>)^3 / 8. They stand here because the
  thesis uses the first one.
- epanechnikov is cut to zero at |x - y| = a; its spectral measure has infinite mass in 16 or more
  dimensions, so there is no exact law to draw from. On [0, 2] it has one of small mass (atoms).
- srf cannot come near the Delta-Gaussian: a positive definite f has |f(z)| <= f(0), k(0) = 0 and
  k(2) = -0.84, so its error is at least half of the largest value.
- usps, Delta-Gaussian: the printed .0724, .0235, .0166 are what orthogonal blocks of their own for
  each sign give with the exact law ("gorf, exact law"): at s = d each sign has one full block, at
  s = d/2 half of one, hence the step between the two. The QR in R^2m of the thesis' text would not
  give them. They are no limit: with independent radii no choice of directions has a variance below
  |p|^2/s Var_r Omega_d(r z) for each sign, that of the mean over all directions, which is a
  relative error of .061 (letter), .045 (ijcnn1) and .0038 (usps) at z = 1.2 and s = d. Stratified
  radii and atoms are not bound by it.
- The Maclaurin series is the better way where the inner products are small and the series short:
  maclaurin and tensorsketch are below gorf on ijcnn1 for the Delta-Gaussian from s = d on, maclaurin
  for epanechnikov(a=2, m=3) on ijcnn1, and on usps at s = 2d.
- On letter at s = d gorf and srf are close for epanechnikov(a=3, m=1): over 100 draws .0359 and .0366,
  with standard errors .0003 and .0007.
- The foreseen error (`expected error` of `krein info`) is the formula's; it agreed with the
  measured one within some 15% in these runs.
"""


def main():
    small, write = "--small" in sys.argv, "--write" in sys.argv
    data = Path(os.environ.get("KREIN_DATA", ROOT.parent / "shared" / "data"))
    notes, checks = set(), []
    text = INTRO.format(small=" --small (which means nothing)" if small else "", cpu=cpu())
    for kernel in KERNELS:
        text += f"\n## {kernel}\n\n" + "\n".join(table(data, kernel, small, notes, checks)) + "\n"
        print(text if kernel == next(iter(KERNELS)) else text[text.rindex("\n## "):], flush=True)
    text += "\n## Targets\n\n" + "\n".join(f"- {what}: {'met' if ok else 'MISSED'}" for what, ok in checks) + "\n"
    if notes:
        text += "\n## Refused (-)\n\n" + "\n".join(f"- {n}" for n in sorted(notes)) + "\n"
    text += OUTRO
    print(text[text.index("\n## Targets"):])
    if write:
        (ROOT / "docs" / "results" / "indefinite.md").write_text(text)


if __name__ == "__main__":
    main()
