#!/usr/bin/env python3
"""Figures and reports in a real browser (pages.py says what is looked at).

First the checks themselves, on pages that are wrong in one way each; then what --plot of the commands draws, and what
`krein report` writes. KREIN is the program (build/krein). The last line is "N passed, N failed[, N skipped]".
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KREIN = os.environ.get("KREIN") or os.path.join(ROOT, "build", "krein")
passed = failed = skipped = 0


def check(name, good, why=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED: %s%s" % (name, ": " + why if why else ""))


def krein(*arguments, status=0):
    done = subprocess.run([KREIN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != status:
        check("krein " + " ".join(arguments), False, "exit status %d: %s" % (done.returncode, done.stderr.strip()[-400:]))
        return None
    return done.stdout


# ---- pages that are wrong in one way -----------------------------------------------------------------------------------

FIGURE = """<svg class="chart" viewBox="0 0 340 220" role="img" tabindex="0" aria-label="a line">
<path class="frame" fill="none" d="M48 26H328V182H48Z"/><path class="axis" d="M48 182H328"/><text class="tick" x="48" y="198">0</text><text class="tick" x="200" y="198">1</text>
<circle class="mark m0" cx="100" cy="100" r="3"/></svg>"""
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>t</title><link rel="icon" href="data:,"><style>
body{background:#fff;color:#111}svg text{fill:#333;font-size:12px}svg{width:100%%;max-width:30rem}
@media (prefers-color-scheme:dark){body{background:#111;color:#eee}svg text{fill:#ccc}summary,a{color:#adf}}
%s</style><body><h1>Title</h1><p><a href="#x">a link</a></p>
<figure>%s<details><summary>data</summary><table><tr><td>1</td></tr></table></details></figure>%s</body></html>"""
WRONG = [
    # what is wrong, the word that the problem begins with, style, figure, at the end of the page
    ("nothing", None, "", FIGURE, ""),
    ("a message", "console", "", FIGURE, "<script>console.log('here')</script>"),
    ("an error of a script", "console", "", FIGURE, "<script>nosuch()</script>"),
    ("an image from elsewhere", "requests", "", FIGURE, "<img alt='' src='http://example.invalid/a.png'>"),
    ("a font from elsewhere", "requests", "@font-face{font-family:f;src:url(f.woff)}p{font-family:f}", FIGURE, ""),
    ("no alternative", "alternative", "", FIGURE.replace('aria-label="a line"', ""), ""),
    ("no marks", "marks", "", FIGURE.replace('class="mark m0"', ""), ""),
    ("a mark beside the frame", "marks", "", FIGURE.replace('cx="100"', 'cx="20"'), ""),
    ("labels on each other", "labels", "", FIGURE.replace('x="200"', 'x="50"'), ""),
    ("a label cut off", "labels", "", FIGURE.replace('x="200"', 'x="336"').replace(">1<", ">1234567<"), ""),
    ("a label too small", "labels", "svg .tick{font-size:5px}", FIGURE, ""),
    ("too wide a page", "width", "", FIGURE, "<div style='width:2000px'>wide</div>"),
    ("ink on ink", "contrast", "@media (prefers-color-scheme:dark){p{color:#222}a{color:#111}}", FIGURE, ""),
    ("no table", "tables", "", "<svg", ""),
    ("a button that is left out", "keyboard", "", FIGURE, "<button tabindex='-1'>b</button>"),
    ("an order of its own", "keyboard", "", FIGURE, "<button tabindex='3'>b</button>"),
]


def wrong_pages(browser, folder):
    for what, begins, style, figure, end in WRONG:
        path = os.path.join(folder, "wrong.html")
        text = PAGE % (style, figure if figure != "<svg" else FIGURE, end)
        if begins == "tables":
            text = text.replace("<table><tr><td>1</td></tr></table>", "none")
        with open(path, "w") as f:
            f.write(text)
        found = browser.problems(path, [(360, True), (1280, False)])
        if begins is None:
            check("a page that is right", not found, "; ".join(found))
        else:
            check("a page with %s" % what, any(p.startswith(begins) for p in found), "; ".join(found) or "nothing was found")
            follows = "Failed to load resource" if begins == "requests" else begins  # the browser says that too
            others = [p for p in found if not p.startswith(begins) and follows not in p]
            check("a page with %s: nothing else" % what, not others, "; ".join(others))


# ---- figures -----------------------------------------------------------------------------------------------------------

def figures(browser, folder):
    at = lambda name: os.path.join(folder, name)  # noqa: E731
    krein("generate", "friedman", "-n", "520", "-o", at("numbers.csv"), "-q")
    krein("generate", "blobs", "-n", "600", "-o", at("blobs.csv"), "-q")
    krein("generate", "spiral", "-n", "500", "-o", at("spiral.csv"), "-q")
    odd = at("odd.csv")
    with open(at("blobs.csv")) as f, open(odd, "w") as g:  # names that are markup, and long
        for i, line in enumerate(f):
            label, rest = line.split(",", 1)
            g.write(line if i == 0 else '"<b>&amp; class %s of a long name that goes on and on",%s' % (label, rest))
    commands = [
        ("train", [at("numbers.csv"), "-o", at("m.krein")]),
        ("train-classes", [at("spiral.csv"), "-o", at("m.krein")]),
        ("train-gaussian", [at("numbers.csv"), "-k", "gaussian", "-o", at("m.krein")]),
        ("train-list", [at("numbers.csv"), "--kernels", "gaussian(sigma=1..8:4); laplacian(sigma=1..8:4)", "-o", at("m.krein")]),
        ("train-mkl", [at("numbers.csv"), "--learner", "mkl", "--kernels", "gaussian(sigma=1..8:4); linear", "-o", at("m.krein")]),
        ("select", [at("numbers.csv"), "--kernels", "gaussian(sigma=0.1..10:9); laplacian(sigma=0.1..10:9); linear",
                    "-c", "loo", "-c", "kta", "-c", "cv(k=3)"]),
        ("pca", [at("blobs.csv")]),
        ("pca-numbers", [at("numbers.csv")]),
        ("pca-odd", [odd]),
        ("cluster", [at("blobs.csv"), "-c", "3"]),
        ("cluster-many", [at("numbers.csv"), "-c", "25", "--label", "none"]),
        ("approx", [at("numbers.csv"), "-m", "rff", "-m", "orf", "--features", "8,32,128", "--repeat", "2"]),
    ]
    for name, arguments in commands:
        out = at(name + ".svg")
        if krein(name.split("-")[0], *arguments, "-q", "--plot", out) is None:
            continue
        found = browser.problems(out)
        check("figure %s" % name, not found, "; ".join(found[:6]))


# ---- reports -----------------------------------------------------------------------------------------------------------

def reports(browser, folder):
    global skipped
    at = lambda name: os.path.join(folder, name)  # noqa: E731
    if subprocess.run([KREIN, "help", "report"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        print("skipped: reports: this program has no command `report`")
        skipped += 1
        return
    krein("generate", "blobs", "-n", "900", "-o", at("many.csv"), "-q")
    cases = [
        ("numbers", at("numbers.csv"), ["train", at("numbers.csv")]),
        ("two classes", at("spiral.csv"), ["train", at("spiral.csv"), "--probabilities"]),
        ("many classes", at("many.csv"), ["train", at("many.csv"), "-k", "gaussian(sigma=2)", "--probabilities"]),
        ("markup in names", at("odd.csv"), ["train", at("odd.csv"), "-k", "gaussian(sigma=2)"]),
        ("clusters", at("blobs.csv"), ["cluster", at("blobs.csv"), "-c", "3"]),
        ("components", at("blobs.csv"), ["pca", at("blobs.csv")]),
    ]
    for name, data, make in cases:
        model, page = at("model.krein"), at(name.replace(" ", "-") + ".html")
        where = ["-o", model] if make[0] == "train" else ["--model", model]
        if krein(*make, *where, "-q") is None or krein("report", model, data, "-o", page, "-q") is None:
            continue
        check("report of %s: size" % name, os.path.getsize(page) < 1000000, "%d bytes" % os.path.getsize(page))
        found = browser.problems(page)
        check("report of %s" % name, not found, "\n    ".join([""] + found[:20]))


def main():
    why = pages.missing()
    if why:
        print("skipped: browser: %s is not here (scripts/deps.sh browser installs what is missing)" % why)
        print("0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            browser = pages.Browser().__enter__()
        except Exception as problem:  # chromium is there and does not start, as in some containers
            print("skipped: browser: chromium does not start: %s" % str(problem).splitlines()[0][:200])
            print("0 passed, 0 failed, 1 skipped")
            return 0
        try:
            for part in (wrong_pages, figures, reports):
                try:
                    part(browser, folder)
                except Exception as problem:
                    check(part.__name__, False, "%s: %s" % (type(problem).__name__, str(problem)[:400]))
        finally:
            browser.__exit__()
    print("%d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
