"""Pages about models: their numbers against scikit-learn's, and what a notebook is given."""

import html.parser
import json
import unittest

import numpy as np
from common import Case, krein, needs_program, needs_sklearn, program, write_csv


def rows(n, seed, classes=0):
    draw = np.random.RandomState(seed)
    X = draw.randn(n, 3).astype(np.float32)
    f = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * draw.randn(n)
    if classes == 0:
        return X, f
    return X, np.digitize(f, np.linspace(-1.2, 1.2, classes + 1)[1:-1])


class Page(html.parser.HTMLParser):
    """Tags that are open at the end, and everything that would be fetched."""

    EMPTY = {"meta", "link", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.fetched, self.ids, self.links, self.charts = [], [], [], [], 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag not in self.EMPTY:
            self.open.append(tag)
        for name in ("src", "srcset", "data", "action"):
            if name in given:
                self.fetched.append(given[name])
        if given.get("id"):
            self.ids.append(given["id"])
        if "href" in given and not given["href"].startswith("data:"):
            self.links.append(given["href"])
        self.charts += given.get("class") == "chart"

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()


class Numbers(Case):
    def model(self, classes, **keywords):
        X, y = rows(300, 1, classes)
        keywords = {"kernel": "gaussian(sigma=1.5)", "map": "exact", "lambda_": 1e-3, **keywords}
        if classes == 0:
            return krein.KernelRidge(**keywords).fit(X, y).model_
        return krein.KernelRidgeClassifier(probabilities=True, **keywords).fit(X, y).model_

    def check_page(self, page):
        self.assertLess(len(page.html.encode()), 1e6)
        seen = Page(page.html)
        self.assertEqual((seen.open, seen.fetched), ([], []))
        self.assertTrue(all(link[0] == "#" and link[1:] in seen.ids for link in seen.links))
        self.assertEqual(len(seen.ids), len(set(seen.ids)))
        self.assertGreater(seen.charts, 3)
        self.assertNotIn("://", page.html)

    @needs_sklearn
    def test_numbers(self):
        from sklearn.metrics import mean_absolute_error, r2_score

        model, (X, y) = self.model(0), rows(500, 2)
        page = model.report(X, y)
        self.check_page(page)
        found, f = page.numbers["metrics"], model.predict(X)
        self.assertAlmostEqual(found["mae"]["value"], mean_absolute_error(y, f), 9)
        self.assertAlmostEqual(found["r2"]["value"], r2_score(y, f), 9)
        out = page.numbers["outputs"][0]
        self.assertEqual(sum(out["density"]["counts"]), 500)
        self.assertEqual(sum(out["residuals"]["counts"]) + out["residuals"]["beyond"], 500)
        self.assertAlmostEqual(out["residuals"]["mean"], np.mean(y - f), 9)
        tenth = np.argsort(f)[450:]
        self.assertAlmostEqual(out["deciles"][9]["rmse"], np.sqrt(np.mean((y - f)[tenth] ** 2)), 9)
        names = [part["name"] for part in page.numbers["inputs"]]
        weak = page.numbers["inputs"][2]
        self.assertEqual(len(names), 3)
        self.assertLess(weak["importance"], page.numbers["inputs"][0]["importance"] / 5)

    @needs_sklearn
    def test_linear_baseline(self):
        from sklearn.linear_model import LinearRegression

        model, (X, y), train = self.model(0), rows(500, 2), rows(300, 1)
        page = model.report(X, y, train=train)
        linear = LinearRegression().fit(*train)
        rmse = np.sqrt(np.mean((linear.predict(X) - y) ** 2))
        self.assertAlmostEqual(page.numbers["metrics"]["rmse"]["linear"] / rmse, 1, 2)
        self.assertEqual(page.numbers["odd"]["duplicates"], 0)
        self.assertEqual(model.report(*train, train=train).numbers["odd"]["same_label"], 300)

    @needs_sklearn
    def test_two_classes(self):
        from sklearn.calibration import calibration_curve
        from sklearn.metrics import (average_precision_score, f1_score, log_loss, roc_auc_score,
                                     roc_curve)

        model, (X, y) = self.model(2), rows(600, 3, 2)
        page = model.report(X, y)
        self.check_page(page)
        found, p = page.numbers, model.predict_proba(X)
        self.assertAlmostEqual(found["metrics"]["auc"]["value"], roc_auc_score(y, p[:, 1]), 9)
        self.assertAlmostEqual(found["metrics"]["log_loss"]["value"], log_loss(y, p), 6)
        self.assertAlmostEqual(
            found["metrics"]["macro_f1"]["value"], f1_score(y, model.predict(X), average="macro"), 9
        )
        curve = found["curves"][0]
        self.assertAlmostEqual(curve["roc_area"], roc_auc_score(y, p[:, 1]), 9)
        self.assertAlmostEqual(
            curve["average_precision"], average_precision_score(y, p[:, 1]), 6
        )
        fpr, tpr, _ = roc_curve(y, p[:, 1], drop_intermediate=False)
        for a, b in zip(curve["fpr"], curve["tpr"]):  # some of its points
            self.assertLess(np.min(np.abs(fpr - a) + np.abs(tpr - b)), 1e-8)
        observed, predicted = calibration_curve(y, p[:, 1], n_bins=10)
        there = [k for k, n in enumerate(found["calibration"]["counts"]) if n]
        for k, a, b in zip(there, observed, predicted):
            self.assertAlmostEqual(found["calibration"]["observed"][k], a, 6)
            self.assertAlmostEqual(found["calibration"]["predicted"][k], b, 6)
        self.assertEqual(sum(found["calibration"]["counts"]), 600)

    @needs_sklearn
    def test_many_classes(self):
        from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

        model, (X, y) = self.model(5), rows(600, 3, 5)
        page = model.report(X, y)
        self.check_page(page)
        found, p = page.numbers, model.predict_proba(X)
        self.same(found["confusion"], confusion_matrix(y, model.predict(X)))
        for curve in found["curves"]:
            one = int(curve["class"])
            self.assertEqual(curve["rows"], np.sum(y == one))
            self.assertAlmostEqual(curve["roc_area"], roc_auc_score(y == one, p[:, one]), 5)
            self.assertAlmostEqual(
                curve["average_precision"], average_precision_score(y == one, p[:, one]), 5
            )
        self.assertAlmostEqual(
            found["metrics"]["auc"]["value"], roc_auc_score(y, p, multi_class="ovr"), 5
        )

    @needs_sklearn
    def test_silhouettes(self):
        from sklearn.metrics import silhouette_samples

        X = np.concatenate([rows(60, 4)[0] * 0.5, rows(40, 5)[0] * 0.5 + 4])
        fit = krein.KernelKMeans(2, kernel="gaussian(sigma=2)", map="exact", scale="none").fit(X)
        page = fit.model_.report(X)
        self.check_page(page)
        square = ((X[:, None, :].astype(float) - X[None, :, :]) ** 2).sum(2)
        distance = np.sqrt(np.maximum(0, 2 - 2 * np.exp(-square / 8)))
        np.fill_diagonal(distance, 0)
        each = silhouette_samples(distance, fit.labels_, metric="precomputed")
        found = page.numbers["clusters"]
        self.assertEqual(found["sizes"], [60, 40])
        self.assertAlmostEqual(found["silhouette"], each.mean(), 5)
        for k in range(2):
            self.assertAlmostEqual(found["silhouettes"][k], each[fit.labels_ == k].mean(), 5)

    def test_weights(self):
        """A row of weight 2 counts as two rows."""
        model, (X, y) = self.model(0), rows(100, 2)
        w = 1.0 + np.arange(100) % 2
        twice = np.repeat(np.arange(100), w.astype(int))
        one = model.report(X, y, sample_weight=w).numbers
        two = model.report(X[twice], y[twice]).numbers
        for key in ("rmse", "mae", "r2"):
            self.assertAlmostEqual(one["metrics"][key]["value"], two["metrics"][key]["value"], 9)
        self.assertAlmostEqual(
            one["metrics"]["rmse"]["constant"], two["metrics"]["rmse"]["constant"], 9
        )

    def test_interval_of_a_sample(self):
        """Of more rows than are kept the interval is narrowed to that of all."""
        model, (X, y) = self.model(0, map="orf(D=32)"), rows(60000, 2)
        found = model.report(X, y, rows=200).numbers
        self.assertEqual((found["n"], found["kept"], found["sampled"]), (60000, 50000, 200))
        size = np.abs(y - model.predict(X))
        unit = size.std() / np.sqrt(60000)
        self.assertAlmostEqual(found["metrics"]["mae"]["value"], size.mean(), 9)
        for side, sign in (("low", -1), ("high", 1)):
            off = (found["metrics"]["mae"][side] - size.mean()) / unit
            self.assertLess(abs(off - sign * 1.96), 0.6)

    def test_notebook(self):
        model, (X, y) = self.model(2), rows(80, 3, 2)
        page = model.report(X, y, title="A <title> & more")
        self.assertIn("A &lt;title&gt; &amp; more</h1>", page.html)
        frame = page._repr_html_()
        self.assertTrue(frame.startswith("<iframe ") and frame.endswith("</iframe>"))
        self.assertNotIn("<script", frame)
        page.save(self.path("a.html"))
        with open(self.path("a.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), page.html)
        self.assertIn("80 rows", repr(page))
        self.assertEqual(model.report(X, y, title="A <title> & more").html, page.html)

    def test_refused(self):
        model, (X, y) = self.model(0), rows(50, 3)
        with self.assertRaisesRegex(krein.KreinError, "training rows"):
            model.report(X, y, curve=True)
        with self.assertRaisesRegex(krein.KreinError, "whole number"):
            model.report(X, y, rows="many")
        with self.assertRaisesRegex(krein.KreinError, "rows"):
            model.report(X, y, rows=1)
        with self.assertRaises(krein.KreinError):
            model.report(X)
        with self.assertRaises(krein.KreinError):
            model.report(X[:, :2], y)

    @needs_program
    def test_program(self):
        """The program's page and numbers are those of the library."""
        X, y = rows(200, 3, 3)
        write_csv(self.path("t.csv"), y, X)
        model = self.model(3)
        model.save(self.path("m.krein"))
        printed = json.loads(
            program("report", self.path("m.krein"), self.path("t.csv"), "-o", self.path("p.html"),
                    "--json", "-q", "--title", "same")
        )
        page = krein.load(self.path("m.krein")).report(self.path("t.csv"), title="same")
        with open(self.path("p.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), page.html)
        for key, value in page.numbers.items():
            if key not in ("seconds",):
                self.assertEqual(printed[key], value, key)


if __name__ == "__main__":
    unittest.main()
