"""Weights of several kernels, the slow and obvious way: numpy on the kernels' matrices.

Every method takes a list of matrices K_m on the same rows and what is known of the rows, and gives
weights u >= 0 that sum to one (all zero where no kernel is left). `unit` makes the kernels' mean
diagonal one; the weights that krein reports belong to kernels scaled so.

    average                 1/M
    alignment               u_m ~ <K_m, YY'> / |K_m|_F, not below 0
    centered                alignf: min |sum v_m HK_mH - T|_F over v >= 0; T = sum of yy' over the
                            columns of HY brought to length one
    easymkl                 g = argmin (1 - lam) g'Y (sum K) Y g + lam g'g, on each side of the
                            labels g >= 0, sum 1; u_m ~ g'Y K_m Y g
    pwmk                    u_m ~ acc_m - delta min acc
    lp                      ridge regression on sum theta_m K_m, |theta|_p <= M^(1/p - 1): the mean of
                            the kernels is on the boundary
    conv                    lp on K_m / r_m, r_m the tail's share of the trace; the factors have mean 1
    smsd, ufo               FORMULAS of the multi-class hinge: see Mirror

Y is codes(y): a column of +-1 for two classes, one for each class of several, numbers less their
mean. Nothing here shares code or order of computation with the library. Run as a program it
checks itself against the reference values of its formulas.
"""
import numpy as np
from scipy.optimize import minimize, nnls


def unit(K):
    return K / np.mean(np.diag(K))


def shares(v):
    v = np.maximum(np.asarray(v, dtype=float), 0)
    return v / v.sum() if v.sum() > 0 else v


def codes(y):
    y = np.asarray(y)
    if y.dtype.kind == "f":
        return (y - y.mean()).reshape(len(y), -1)
    names = np.unique(y)
    return np.column_stack([np.where(y == c, 1.0, -1.0) for c in (names[1:] if len(names) == 2 else names)])


def centre(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


# ---- heuristics ---------------------------------------------------------------------------------


def average(Ks):
    return np.full(len(Ks), 1 / len(Ks))


def alignment(Ks, Y):
    T = Y @ Y.T
    return shares([np.sum(K * T) / np.linalg.norm(K) for K in Ks])


def pwmk(accuracies, delta=0.5):
    a = np.asarray(accuracies, dtype=float)
    return shares(a - delta * a.min())


# ---- centred alignment --------------------------------------------------------------------------


def centered(Ks, Y):
    """As non-negative least squares over the entries of the matrices."""
    A = np.column_stack([centre(K).ravel() for K in Ks])
    y = Y - Y.mean(0)
    y /= np.linalg.norm(y, axis=0)
    v, _ = nnls(A, (y @ y.T).ravel(), maxiter=100 * len(Ks))
    return shares(v)


# ---- EasyMKL ------------------------------------------------------------------------------------


def simplex(v):
    """The nearest point with v >= 0, sum 1."""
    u = np.sort(v)[::-1]
    excess = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
    return np.maximum(v - excess[np.nonzero(u > excess)[0][-1]], 0)


def both_simplices(g, side):
    out = np.empty_like(g)
    for s in (True, False):
        out[side == s] = simplex(g[side == s])
    return out


def margin_points(K, sign, lam, rounds=200000, tol=1e-13):
    """g of EasyMKL by accelerated projected gradients with restarts."""
    Q = (1 - lam) * sign[:, None] * K * sign + lam * np.eye(len(K))
    step, side = 0.5 / np.linalg.eigvalsh(Q)[-1], sign > 0
    g = both_simplices(np.zeros(len(K)), side)
    h, t = g, 1.0
    for _ in range(rounds):
        new = both_simplices(h - step * 2 * (Q @ h), side)
        if np.max(np.abs(new - g)) < tol and t > 1:
            break
        if (h - new) @ (new - g) > 0:
            h, t = new, 1.0  # it has gone too far
        else:
            later = (1 + np.sqrt(1 + 4 * t * t)) / 2
            h, t = new + (t - 1) / later * (new - g), later
        g = new
    return g, g @ Q @ g


def easymkl(Ks, Y, lam=0.1):
    """Several classes: the mean of the weights of the problems one against the rest."""
    total = np.zeros(len(Ks))
    for sign in np.sign(Y).T:
        g, _ = margin_points(sum(Ks), sign, lam)
        total += shares([(g * sign) @ K @ (g * sign) for K in Ks])
    return shares(total)


# ---- p-norm -------------------------------------------------------------------------------------


def ridge_value(theta, Ks, Y, penalty):
    """min over f of |y - f|^2 + penalty |f|^2, times 1 / penalty, and its gradient in theta."""
    a = np.linalg.solve(np.tensordot(theta, Ks, 1) + penalty * np.eye(len(Y)), Y)
    return np.sum(Y * a), np.array([-np.sum(a * (K @ a)) for K in Ks])


def lp(Ks, Y, penalty, p=2.0, centring=True, rounds=5000, tol=1e-13):
    """theta_m ~ |f_m|^(2/(p+1)), |f_m|^2 = theta_m^2 a'K_m a, until it stands still; penalty = n lambda.
    With an intercept kernels and targets are centred."""
    if centring:
        Ks, Y = [centre(K) for K in Ks], Y - Y.mean(0)
    M, Ks = len(Ks), np.asarray(Ks)
    theta, radius = np.full(M, 1 / M), M ** (1 / p - 1)
    for _ in range(rounds):
        _, slope = ridge_value(theta, Ks, Y, penalty)
        new = np.maximum(theta**2 * -slope, 0) ** (1 / (p + 1))
        new *= radius / np.sum(new**p) ** (1 / p)
        if np.max(np.abs(new - theta)) < tol:
            break
        theta = new
    return shares(theta)


def lp_direct(Ks, Y, penalty, p=2.0, centring=True):
    """The same minimum by a generic solver: the value is convex in theta."""
    if centring:
        Ks, Y = [centre(K) for K in Ks], Y - Y.mean(0)
    M, Ks = len(Ks), np.asarray(Ks)
    ball = {"type": "ineq", "fun": lambda v: M ** (1 - p) - np.sum(v**p), "jac": lambda v: -p * v ** (p - 1)}
    best = minimize(ridge_value, np.full(M, 1 / M), args=(Ks, Y, penalty), jac=True, method="SLSQP", constraints=ball,
                    bounds=[(0, 1)] * M, options={"ftol": 1e-15, "maxiter": 1000})
    return shares(best.x)


# ---- tails of the spectrum ----------------------------------------------------------------------


def tail(K, theta):
    return max(0.0, np.trace(K) - np.sum(np.linalg.eigvalsh(K)[::-1][:theta]))


def conv(Ks, Y, penalty, theta, p=2.0, centring=True):
    factor = np.array([np.trace(K) / tail(K, theta) for K in Ks])
    factor /= factor.mean()
    return shares(lp([K * f for K, f in zip(Ks, factor)], Y, penalty, p, centring) * factor)


# ---- mirror descent of the multi-class hinge ----------------------------------------------------


class Mirror:
    """mean hinge + alpha/2 |W|_{2,p}^2 + beta sum r_m |W_m|, p = q / (q - 1), q = max(2, 2 ln M); a step a
    sample. UFO: r = 1; SMSD: r the tails."""

    def __init__(self, Ks, labels, alpha, beta, r):
        self.K, self.y = np.asarray(Ks), np.asarray(labels)
        M, n = self.K.shape[:2]
        self.classes = int(self.y.max()) + 1
        self.alpha, self.beta, self.r = alpha, beta, np.asarray(r, dtype=float)
        self.q = max(2.0, 2 * np.log(M))
        self.P = np.zeros((M, n, self.classes))
        self.B = np.zeros((n, self.classes))
        self.square, self.mu, self.c, self.t = np.zeros(M), np.ones(M), np.zeros(M), 0

    def step(self, i):
        self.t += 1
        f = self.mu @ self.P[:, i]
        y = self.y[i]
        rival = int(np.argmax(np.where(np.arange(self.classes) == y, -np.inf, f)))
        if f[y] - f[rival] < 1:
            self.square += 2 * (self.P[:, i, y] - self.P[:, i, rival]) + 2 * self.K[:, i, i]
            self.B[i, y] += 1
            self.B[i, rival] -= 1
            self.P[:, :, y] += self.K[:, i]
            self.P[:, :, rival] -= self.K[:, i]
        a = np.sqrt(np.maximum(self.square, 0))
        self.c = primal(a, self.r, self.alpha, self.beta, self.t, self.q)
        self.mu = np.divide(self.c, a, out=np.zeros_like(a), where=a > 0)

    def run(self, order):
        for i in order:
            self.step(i)
        return self

    def objective(self):
        f = np.tensordot(self.mu, self.P, 1)
        n, p = len(f), self.q / (self.q - 1)
        own = f[np.arange(n), self.y]
        f[np.arange(n), self.y] = -np.inf
        loss = np.mean(np.maximum(0, 1 - own + f.max(1)))
        return loss + self.alpha / 2 * np.sum(self.c**p) ** (2 / p) + self.beta * self.r @ self.c, loss


def primal(a, r, alpha, beta, t, q):
    """c >= 0 that minimises (t beta r - a)'c + t alpha / 2 |c|_p^2."""
    v = np.maximum(0, a - t * beta * r)
    norm = np.sum(v**q) ** (1 / q)
    return v ** (q - 1) / (t * alpha * norm ** (q - 2)) if norm > 0 else v


def smsd(Ks, labels, alpha, beta, theta, orders):
    return Mirror(Ks, labels, alpha, beta, [tail(K, theta) for K in Ks]).run(orders)


def ufo(Ks, labels, alpha, beta, orders):
    return Mirror(Ks, labels, alpha, beta, np.ones(len(Ks))).run(orders)


# ---- against the reference values ---------------------------------------------------------------


def reference():
    """The kernels and classes that the reference values belong to."""
    i, j = np.indices((9, 2))
    X = np.sin(1.7 * i + 0.9 * j + 0.3 * i * j + 0.1)
    X[:, 0] += np.arange(9) % 3
    G = X @ X.T
    distances = np.diag(G)[:, None] + np.diag(G) - 2 * G
    return [np.exp(-distances / 2), G, (1 + G) ** 2], np.arange(9) % 3


def check_itself(close):
    """close(name, got, wanted, tolerance)"""
    a, r = np.array([1, 0.6, 2, 0.2]), np.array([0.5, 1, 0.1, 2])
    close("primal, q = 2", primal(a, r, 0.7, 0.3, 1, 2), [1.2142857143, 0.4285714286, 2.8142857143, 0], 1e-9)
    close("primal, q = 3", primal(a, r, 0.7, 0.3, 1, 3), [0.510053973, 0.063536135, 2.7397487388, 0], 1e-9)
    Ks, y = reference()
    close("tails", [tail(K, 2) for K in Ks], [2.902118060748, 0, 13.011589641515], 1e-11)
    m = smsd(Ks, y, 0.05, 0.01, 2, list(range(9)) * 3)
    close("smsd: mu", m.mu, [0.501833151154, 0.614023197406, 0.552920641279], 1e-10)
    close("smsd: objective", m.objective(), [3.308122650372, 0], 1e-10)
    sign = np.where(y == 0, 1.0, -1.0)
    for lam, weights, optimum in ((0.8, [0.12571160226, 0.264340470955, 0.609947926785], 1.546430881538),
                                  (0.3, [0.182681532377, 0.190496837935, 0.626821629687], 1.220093987273)):
        close("easymkl, lambda = %g" % lam, easymkl(Ks, sign[:, None], lam), weights, 1e-9)
        close("easymkl: optimum", margin_points(sum(Ks), sign, lam)[1], optimum, 1e-10)
    close("pwmk", pwmk([0.8, 0.7, 0.9], 0.5), [0.3333333333, 0.2592592593, 0.4074074074], 1e-9)
    scaled, Y = [unit(K) for K in Ks], codes(y)
    for p in (1.0, 1.5, 2.0, 4.0):
        close("lp, p = %g" % p, lp(scaled, Y, 0.3, p), lp_direct(scaled, Y, 0.3, p), 1e-4)


if __name__ == "__main__":
    def close(name, got, want, tol):
        off = np.max(np.abs(np.asarray(got) - np.asarray(want)))
        print("%-24s %s off by %.1e" % (name, "ok    " if off <= tol else "WRONG ", off))

    check_itself(close)
