"""mpi_rows.py -- estimators with comm=: each process has rows of its own, all get one model.

Run by tests/mpi/python.sh under mpirun, on 1 to 4 processes. Every process can make all rows, and
fits them alone as well; what comes out must be the same. Prints what went wrong; the first process
says how many checks passed.
"""
import pickle
import sys

import numpy as np
import scipy.sparse
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
if size > 2:  # the classes do without; it takes longer to load than all of this
    sys.modules["sklearn"] = None

import krein  # noqa: E402

passed, failed = 0, 0

N = 900
rng = np.random.RandomState(3)
X = rng.rand(N, 4) * 4
y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.randn(N)
classes = np.where(X[:, 0] > 2, "up", "down").astype(object)
classes[-40:] = "last"  # of the last process alone
weights = rng.randint(1, 4, N) * 0.5
FIXED = dict(kernel="gaussian(sigma=2)", features=48, lambda_=1e-2, n_jobs=1)


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED: rank %d of %d: %s" % (rank, size, what), flush=True)


def cuts(deal):
    """Where the rows of the processes end: as many each, more to the later, none on one."""
    if deal == "even":
        return [N * r // size for r in range(size + 1)]
    if deal == "uphill":
        return [N * r * (r + 1) // (size * (size + 1)) for r in range(size + 1)]
    empty = 0 if deal == "not first" else size - 1
    if size == 1:
        return [0, N]
    ends = [N * r // (size - 1) for r in range(size)]
    return ends[: empty + 1] + [ends[empty]] + ends[empty + 1 :]


def mine(values, deal="even"):
    ends = cuts(deal)
    part = slice(ends[rank], ends[rank + 1])
    return values.iloc[part] if hasattr(values, "iloc") else values[part]


def same(model, what):
    """All processes have the same bytes."""
    check(len(set(comm.allgather(model.model_.to_bytes()))) == 1, what + ": the same model on all")


def close(a, b, what, most=2e-5):
    gap = np.abs(a - b).max() / np.abs(b).max()
    check(gap < most, "%s: %g from one process" % (what, gap))


def raises(kind, part, function, what):
    """All processes raise, and none waits."""
    try:
        function()
        text = None
    except Exception as problem:
        text = str(problem) if isinstance(problem, kind) else repr(problem)
    check(text is not None and part in text, "%s: %r" % (what, text))


# ---- the same as one process ---------------------------------------------------------------------


def regression():
    for deal in ("even", "uphill", "not first", "not last"):
        for dtype in (np.float64, np.float32):
            one = krein.Regressor(**FIXED).fit(X.astype(dtype), y, weights)
            many = krein.Regressor(comm=comm, **FIXED)
            many.fit(mine(X.astype(dtype), deal), mine(y, deal), mine(weights, deal))
            close(many.predict(X), one.predict(X), "dense, " + deal)
            same(many, "dense, " + deal)
            check(many.report_.n == one.report_.n, "dense, %s: rows" % deal)
    check(many.n_features_in_ == 4, "n_features_in_")
    own = many.predict(mine(X))
    close(own, mine(one.predict(X)), "predictions of its own rows")


def targets():
    both = np.column_stack([y, np.cos(X[:, 2])])
    one = krein.KernelRidge(**FIXED).fit(X, both)
    many = krein.KernelRidge(comm=comm, **FIXED).fit(mine(X, "uphill"), mine(both, "uphill"))
    close(many.predict(X), one.predict(X), "two targets")
    same(many, "two targets")


def chosen():
    """Kernel, metric and regularisation are chosen by all, from the seed of the first."""
    few = slice(0, 300)
    made = dict(effort=0.1, features=48, n_jobs=1)
    one = krein.Regressor(random_state=5, **made).fit(X[few], y[few])
    many = krein.Regressor(random_state=5 if rank == 0 else 6 + rank, comm=comm, **made)
    many.fit(np.array_split(X[few], size)[rank], np.array_split(y[few], size)[rank])
    check(many.kernel_ == one.kernel_, "the same kernel: %s, %s" % (many.kernel_, one.kernel_))
    close(many.predict(X), one.predict(X), "chosen", 1e-3)
    same(many, "chosen")


def sparse():
    table = scipy.sparse.random(N, 30, 0.2, format="csr", random_state=4)
    label = (np.asarray(table.sum(axis=1)).ravel() > 3).astype(int) + 3
    label[-20:] = 9
    one = krein.Classifier(learner="krr", **FIXED).fit(table, label)
    for deal in ("uphill", "not first"):
        many = krein.Classifier(learner="krr", comm=comm, **FIXED)
        many.fit(mine(table, deal), mine(label, deal))
        close(many.decision_function(table), one.decision_function(table), "sparse, " + deal)
        check(np.array_equal(many.classes_, [3, 4, 9]), "sparse: classes")
        check(many.classes_.dtype == one.classes_.dtype, "sparse: type of classes")
        same(many, "sparse, " + deal)


def texts():
    for deal in ("even", "not last"):
        one = krein.KernelRidgeClassifier(**FIXED).fit(X, classes)
        many = krein.KernelRidgeClassifier(comm=comm, **FIXED)
        many.fit(mine(X, deal), mine(classes, deal))
        close(many.decision_function(X), one.decision_function(X), "text classes")
        check(list(many.classes_) == ["down", "last", "up"], "text classes: classes_")
        check(np.mean(many.predict(X) == one.predict(X)) > 0.999, "text classes: predictions")
        same(many, "text classes")


def frames():
    try:
        import pandas
    except ImportError:
        return
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    frame.loc[5::9, "a"] = np.nan
    word = np.array(["red", "green", "blue", "late", "last"], dtype=object)
    frame["colour"] = word[(np.arange(N) * 7 % (1 + 5 * np.arange(N) // N))]
    frame.loc[3::17, "colour"] = None
    frame["size"] = pandas.Categorical(np.where(X[:, 2] > 1, "large", "small"))
    frame["day"] = pandas.to_datetime("2026-01-01") + pandas.to_timedelta(np.arange(N) // 3, "D")
    for deal in ("uphill", "not first"):
        one = krein.Regressor(**FIXED).fit(frame, y)
        many = krein.Regressor(comm=comm, **FIXED).fit(mine(frame, deal), mine(y, deal))
        close(many.predict(frame), one.predict(frame), "frame, " + deal)
        check(list(many.feature_names_in_) == list(frame.columns), "frame: names")
        same(many, "frame, " + deal)
    frame["y"] = y  # the labels in a column
    many = krein.Regressor(comm=comm, **FIXED).fit(mine(frame), "y")
    frame = frame.drop(columns="y")
    close(many.predict(frame), one.predict(frame), "label column")
    other = mine(frame)
    if rank == size - 1:
        other = other.rename(columns={"b": "c"})
    if size > 1:
        raises(
            krein.KreinError,
            'named "c"',
            lambda: krein.Regressor(comm=comm, **FIXED).fit(other, mine(y)),
            "another name",
        )


def blocks():
    def deal_out(own, deal):
        rows, label = (mine(X, deal), mine(y, deal)) if own else (X, y)
        return lambda: ((rows[i : i + 70], label[i : i + 70]) for i in range(0, len(rows), 70))

    one = krein.Regressor(**FIXED).fit(deal_out(False, ""))
    for deal in ("uphill", "not last"):
        many = krein.Regressor(comm=comm, **FIXED).fit(deal_out(True, deal))
        close(many.predict(X), one.predict(X), "blocks, " + deal)
        same(many, "blocks, " + deal)


def groups():
    own = np.arange(N) // 20
    made = dict(FIXED, lambda_=None)
    one = krein.Regressor(**made).fit(X, y, groups=own)
    many = krein.Regressor(comm=comm, **made).fit(mine(X), mine(y), groups=mine(own))
    check(many.report_.folds == one.report_.folds, "groups: folds")
    close(many.predict(X), one.predict(X), "groups", 1e-3)
    same(many, "groups")


def halves():
    """Another communicator than all, and two fits at the same time."""
    half = comm.Split(rank % 2, rank)
    part = slice(half.Get_rank(), None, half.Get_size())
    many = krein.Regressor(comm=half, **FIXED).fit(X[part], y[part])
    check(len(set(half.allgather(many.model_.to_bytes()))) == 1, "halves: the same model")
    check(many.report_.n == N, "halves: rows")
    half.Free()


# ---- what goes wrong -----------------------------------------------------------------------------


def wrong():
    last = rank == size - 1
    some = krein.Regressor(comm=comm, **FIXED)
    if size > 1:
        rows = mine(X)[:, : 3 if last else 4]
        raises(ValueError, "3 columns", lambda: some.fit(rows, mine(y)), "wrong columns")
        whose = "process %d" % (size - 1)
        raises(ValueError, whose, lambda: some.fit(rows, mine(y)), "which process")
        label = mine(y) if last else np.column_stack([mine(y), mine(y)])
        raises(ValueError, "2 targets", lambda: some.fit(mine(X), label), "wrong labels")
        weight = None if last else mine(weights)
        raises(ValueError, "weights", lambda: some.fit(mine(X), mine(y), weight), "weights on some")
        machine = krein.SVC(comm=comm)
        raises(ValueError, "one process", lambda: machine.fit(mine(X), mine(classes)), "svm")
    # One process alone fails before the library is called: the others learn of it.
    rows = mine(X)[:, 0] if last else mine(X)
    raises(ValueError, "Expected 2D array", lambda: some.fit(rows, mine(y)), "no table")
    label = mine(y)[:-1] if last else mine(y)
    raises(ValueError, "inconsistent", lambda: some.fit(mine(X), label), "too few labels")
    bad = krein.Regressor(comm=comm, **dict(FIXED, features="many" if last else 48))
    raises(TypeError, "`features`", lambda: bad.fit(mine(X), mine(y)), "a wrong keyword")
    rows = mine(X).copy()
    if last:
        rows[4, 1] = np.inf
    raises(ValueError, "row 4", lambda: some.fit(rows, mine(y)), "an infinite number")

    def breaks():
        yield mine(X)[:50], mine(y)[:50]
        if last:
            raise KeyError("no more")
        yield mine(X)[50:90], mine(y)[50:90]

    try:
        some.fit(lambda: breaks())
        check(False, "a source that breaks")
    except KeyError:
        check(last, "a source that breaks: its own exception")
    except krein.KreinError as problem:
        check(not last, "a source that breaks: %s" % problem)
    ones = np.ones(len(mine(X)), dtype=int)
    machine = krein.Classifier(comm=comm, learner="krr", **FIXED)
    raises(ValueError, "one class", lambda: machine.fit(mine(X), ones), "one class")
    raises(TypeError, "mpi4py", lambda: krein.Regressor(comm=3).fit(X, y), "no communicator")
    some.fit(mine(X), mine(y))  # and it goes on
    same(some, "after failures")
    again = pickle.loads(pickle.dumps(some))
    check(np.array_equal(again.predict(X), some.predict(X)), "pickled")
    check(again.comm is None, "pickled without the communicator")


for case in (regression, targets, chosen, sparse, texts, frames, blocks, groups, halves, wrong):
    case()
told = comm.allgather((passed, failed))
if rank == 0 and not any(lost for _, lost in told):
    print("all good on %d, %d checks" % (size, passed))
sys.exit(1 if failed else 0)
