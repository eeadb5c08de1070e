"""Images: arrays of three and four dimensions, bytes, the keyword `image`, networks."""

import os
import pickle
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, needs_sklearn  # noqa: E402

import krein  # noqa: E402


def stripes(n, seed, shape=(8, 8, 2)):
    """Stripes across or up, with a random phase and noise."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    row, column = np.meshgrid(np.arange(shape[0]), np.arange(shape[1]), indexing="ij")
    at = np.where(y[:, None, None] > 0, column, row)
    wave = np.sin(1.8 * at + rng.uniform(0, 6.3, (n, 1, 1)))[..., None]
    x = 110 + 20 * np.arange(shape[2]) + 60 * wave + rng.uniform(0, 30, (n,) + shape)
    return np.clip(x, 0, 255).astype(np.uint8), y


X, Y = stripes(200, 1)
T, V = stripes(100, 2)
ARCH = "convnet(2-6)"


def classifier(**keywords):
    return krein.NetClassifier(arch=ARCH, epochs=10, batch=20, **keywords)


class Images(Case):
    def test_learns(self):
        model = classifier().fit(X, Y)
        self.assertGreater(model.score(T, V), 0.9)
        p = model.predict_proba(T)
        self.assertEqual(p.shape, (100, 2))
        self.same(model.classes_[p.argmax(axis=1)], model.predict(T))
        self.assertEqual(model.n_features_in_, 128)
        self.assertIn("network", model.map_)

    def test_forms(self):
        wanted = classifier().fit(X, Y).decision_function(T)
        flat, other = X.reshape(200, -1), T.reshape(100, -1)
        for rows, new, image in (
            (X.astype(np.float32), T, None),
            (flat, other, "8x8x2"),
            (flat, T, (8, 8, 2)),
            (flat.astype(np.int64), other.astype(float), [8, 8, 2]),
            (np.asfortranarray(X), T, None),
            (X, other, "8x8x2"),
        ):
            self.same(classifier(image=image).fit(rows, Y).decision_function(new), wanted)

    def test_one_channel(self):
        x, y = stripes(80, 3, (8, 8, 1))
        a = krein.NetClassifier(arch="convnet(1-4)", epochs=2).fit(x[..., 0], y)
        b = krein.NetClassifier(arch="convnet(1-4)", epochs=2, image="8x8").fit(x, y)
        self.same(a.decision_function(x), b.decision_function(x))

    def test_file(self):
        path, labels = self.path("x.npy"), self.path("y.npy")
        np.save(path, X)
        np.save(labels, Y)
        model = krein.Model.load(self.trained(path))
        self.same(np.ravel(model.predict(T)), model.predict(T.reshape(100, -1)))

    def trained(self, path):
        out = self.path("m.krein")
        classifier().fit(X, Y).model_.save(out)
        return out

    def test_features_and_files(self):
        model = classifier().fit(X, Y)
        path = self.path("m.krein")
        model.model_.save(path)
        z = model.model_.transform(T)
        self.assertEqual(z.shape, (100, 24))
        again = krein.Model.load(path)
        self.same(again.transform(T), z)
        learned = 'learned(file="%s")' % path
        few = krein.KernelRidgeClassifier(map=learned).fit(T, V)
        self.assertGreater(few.score(X, Y), 0.9)
        few = krein.KernelRidgeClassifier(map=learned, metric="file=" + path).fit(T, V)
        self.same(few.model_.transform(T), z)  # scaled as there
        self.same(pickle.loads(pickle.dumps(model)).predict(T), model.predict(T))

    def test_numbers(self):
        y = X[:, :, :4].mean(axis=(1, 2, 3))
        model = krein.NetRegressor(arch=ARCH, epochs=30, batch=20).fit(X, y)
        self.assertGreater(model.score(X, y), 0.8)

    def test_other_learners(self):
        a = krein.SVC(kernel="gaussian(sigma=10)").fit(X, Y)
        b = krein.SVC(kernel="gaussian(sigma=10)", image="8x8x2").fit(X.reshape(200, -1), Y)
        self.same(a.decision_function(T), b.decision_function(T))

    def test_wrong(self):
        with self.assertRaisesRegex(krein.KreinError, "2 channels"):
            krein.NetClassifier(arch="convnet(3-4)").fit(X, Y)
        with self.assertRaisesRegex(krein.KreinError, "image=32x32x3"):
            classifier().fit(X.reshape(200, -1), Y)
        with self.assertRaisesRegex(krein.KreinError, "X has images of 8x8x2"):
            classifier(image="4x16x2").fit(X, Y)
        with self.assertRaisesRegex(krein.KreinError, "height x width x channels"):
            classifier(image="eight").fit(X.reshape(200, -1), Y)
        with self.assertRaisesRegex(krein.KreinError, "trained on 8x8x2"):
            classifier().fit(X, Y).predict(T.reshape(100, 4, 16, 2))
        with self.assertRaisesRegex(krein.KreinError, "maxpool"):
            krein.NetClassifier(arch="convnet(2-4-4-4)").fit(X, Y)

    @needs_sklearn
    def test_pipeline(self):
        from sklearn.model_selection import cross_val_score

        self.assertGreater(cross_val_score(classifier(), X, Y, cv=3).mean(), 0.9)


if __name__ == "__main__":
    unittest.main()
