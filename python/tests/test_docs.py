"""The examples of the documentation run, and print what it says; so does the notebook.

A block ```python of a page is run in the namespace of the blocks before it. A block ```output behind
it must be what it printed. Code cells of the notebook are run in order in one namespace, with the data
of KREIN_DATA (../shared/data beside the repository) where they are there.
"""

import contextlib
import io
import json
import os
import re
import unittest
import warnings

from common import ROOT, Case, krein, needs_sklearn

os.environ.setdefault("MPLBACKEND", "Agg")  # pictures of the notebook need no screen


def blocks(page):
    """(line, code, output or None) of a page."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        text = file.read()
    found = re.finditer(r"^```python\n(.*?)^```\n(?:```output\n(.*?)^```\n)?", text, re.M | re.S)
    return [(text[: m.start()].count("\n") + 2, m.group(1), m.group(2)) for m in found]


def run(code, where, line, names):
    """Runs code whose first line is that of a file; what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile("\n" * (line - 1) + code, where, "exec"), names)
    return printed.getvalue()


class Pages(Case):
    def page(self, name):
        names = {"__name__": "__main__"}
        found = blocks(name)
        self.assertTrue(found)
        for line, code, output in found:
            printed = run(code, name, line, names)
            if output is not None:
                with self.subTest(page=name, line=line):
                    self.assertEqual(printed, output)

    def test_python(self):
        self.page("README.md")
        self.page("docs/python.md")

    @needs_sklearn
    def test_from_scikit_learn(self):
        self.page("docs/from-scikit-learn.md")

    @needs_sklearn
    def test_lines_to_change(self):
        """The right column of the table runs."""
        X, y = krein.generate("friedman", 80, 5, random_state=1)
        names = dict(vars(krein), **vars(krein.kernels))
        names.update(X=X, Y=X[:5], y=y, n=80, a=0.1, C=1.0, e=0.1, D=20, k=2, sigma=2.0)
        with open(os.path.join(ROOT, "docs", "from-scikit-learn.md"), encoding="utf-8") as file:
            lines = re.findall(r"^\| .* \| `(.*\))` \|$", file.read(), re.M)
        self.assertGreater(len(lines), 14)
        for line in lines:
            with self.subTest(line=line):
                made = eval(line.replace("[...]", "['linear', 'gaussian']"), names)
                if hasattr(made, "fit"):
                    made.fit(X, y > 14 if hasattr(made, "decision_function") else y)

    def test_every_public_name_is_described(self):
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
            text = file.read()
        for name in krein.__all__:
            if name != "__version__":
                self.assertRegex(text, r"\b%s\b" % name)


class Notebook(Case):
    PATH = os.path.join(ROOT, "docs", "tutorial.ipynb")

    def cells(self, kind):
        with open(self.PATH, encoding="utf-8") as file:
            notebook = json.load(file)
        self.assertEqual(notebook["nbformat"], 4)
        return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]

    def run_all(self):
        names = {"__name__": "__main__"}
        printed = []
        for i, cell in enumerate(self.cells("code")):
            printed.append(run("".join(cell["source"]), "tutorial.ipynb cell %d" % i, 1, names))
        return names, "".join(printed)

    def with_data(self, folder):
        before = os.environ.get("KREIN_DATA")
        os.environ["KREIN_DATA"] = folder
        try:
            return self.run_all()
        finally:
            if before is None:
                del os.environ["KREIN_DATA"]
            else:
                os.environ["KREIN_DATA"] = before

    def test_real_data(self):
        folder = os.environ.get("KREIN_DATA") or os.path.join(ROOT, "..", "shared", "data")
        if not os.path.exists(os.path.join(folder, "cadata.csv.gz")):
            self.skipTest("no data sets in " + folder)
        names, printed = self.with_data(folder)
        self.assertIn("cadata", printed)

    def test_generated_data(self):
        names, printed = self.with_data(self.path("nothing"))
        self.assertIn("generated", printed)

    def test_form(self):
        cells = self.cells("code") + self.cells("markdown")
        self.assertEqual(len({cell["id"] for cell in cells}), len(cells))
        for cell in self.cells("code"):
            self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))


if __name__ == "__main__":
    unittest.main()
