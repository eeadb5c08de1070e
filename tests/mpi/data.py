# data.py KIND FILE [ROWS] -- data sets of the tests on several processes; the same every time.
#
#   mixed      numbers, words (some quoted, with delimiters and line ends), missing cells, weights,
#              groups; three classes, one of them in the last rows alone
#   partly     a label in every third row; y = "" elsewhere
#   bare       the inputs of partly, other rows
#   sparse     LIBSVM with comments; the largest index in the last rows
#   arrays     FILE.npy, FILE_y.npy, FILE_y.txt (numbers), FILE_c.txt (words)
#   late       missing cells in each of the first 1,920 rows
#   idle       weights 0 in the first 1,920 rows
#   heavy      y is a function of the logarithm of a
#   gap        a column without values from row 1,920 on
import math, random, struct, sys


def mixed(f, n):
    words = ["red", "green", "blue", "dark red", "x,y", 'a "q"\nb']
    f.write("id,colour,size,w,g,y,age\n")
    for i in range(n):
        c = random.choice(words[: 2 + 6 * i // n])
        s, a = random.gauss(0, 1), random.gauss(50, 10)
        y = "yes" if len(c) + 2 * s + (a - 50) / 5 > 5 else "no"
        if i > n - n // 9 and i % 10 == 0:
            y = "may\nbe"
        q = lambda t: '"%s"' % t.replace('"', '""') if set(t) & set(',"\n') else t
        size = "" if i % 97 == 0 else "%.4f" % s
        f.write("r%d,%s,%s,%s,%d,%s,%.3f\n" % (i, q(c), size, random.choice([1, 2, 0.5]), i % 37, q(y), a))


def inputs():
    return [random.gauss(0, 1) for _ in range(4)]


def target(x):
    return math.sin(x[0]) + x[1] * x[2] + 0.3 * abs(x[3]) + random.gauss(0, 0.1)


def cells(f, n, label):
    f.write("y,a,b,c,d\n")
    for i in range(n):
        x = inputs()
        f.write("%s,%s\n" % (label(i, target(x)), ",".join("%.4f" % v for v in x)))


def partly(f, n):
    cells(f, n, lambda i, y: "%.4f" % y if i % 3 == 0 else "")


def bare(f, n):
    f.write("a,b,c,d\n")
    for _ in range(n):
        f.write(",".join("%.4f" % v for v in inputs()) + "\n")


def sparse(f, n):
    f.write("# nothing yet\n")
    for i in range(n):
        some = sorted(random.sample(range(1, 61 if i > n - 50 else 41), 6))
        values = [random.gauss(0, 1) for _ in some]
        y = sum(v for j, v in zip(some, values) if j % 3) > 0
        f.write("%d %s%s\n" % (2 * y - 1, " ".join("%d:%.3f" % p for p in zip(some, values)),
                               " # odd" if i % 5 == 0 else ""))
        if i % 100 == 0:
            f.write("\n# and on\n")


def npy(name, shape, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<%df" % len(values), *values))


def arrays(name, n):
    x = [inputs() for _ in range(n)]
    y = [target(row) for row in x]
    npy(name + ".npy", (n, 4), [v for row in x for v in row])
    npy(name + "_y.npy", (n,), y)
    open(name + "_y.txt", "w").write("".join("%.6g\n" % v for v in y))
    words = ["low" if v < -1 else "high" if v > 1 else "mid" for v in y]
    words[-3:] = ["last"] * 3
    open(name + "_c.txt", "w").write("".join(w + "\n" for w in words))


def late(f, n):
    f.write("y,a,b\n")
    for i in range(n):
        x = inputs()
        f.write("%.4f,%s,%.4f\n" % (target(x), "" if i < 1920 else "%.4f" % x[0], x[1]))


def idle(f, n):
    f.write("y,a,b,w\n")
    for i in range(n):
        x = inputs()
        f.write("%.4f,%.4f,%.4f,%d\n" % (target(x), x[0], x[1], i >= 1920))


def heavy(f, n):
    f.write("y,a,b\n")
    for _ in range(n):
        x = inputs()
        f.write("%.4f,%.6g,%.4f\n" % (math.sin(2 * x[0]) + 0.1 * x[1], math.exp(2 * x[0]), x[1]))


def gap(f, n):
    f.write("y,a,b\n")
    for i in range(n):
        x = inputs()
        f.write("%.4f,%.4f,%s\n" % (target(x), x[0], "%.4f" % x[1] if i < 1920 else ""))


kind, name = sys.argv[1:3]
rows = int(sys.argv[3]) if len(sys.argv) > 3 else 4500
random.seed(7)
if kind == "arrays":
    arrays(name, rows)
else:
    with open(name, "w", newline="") as file:
        globals()[kind](file, rows)
