# same.py A B TOLERANCE [each] -- two files of lines with words and numbers say the same.
#
# Words are equal. Numbers differ by at most TOLERANCE times the largest number in that place of
# any line of A; with "each", times the number itself.
import re, sys

NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\d|\d)?\.?\d+(?:[eE][-+]?\d+)?$")


def cells(line):
    # a comma between digits of one number is printed in tables, between cells in files
    parts = line.split(",") if re.search(r"\S,\S", line) and "  " not in line else line.split()
    for cell in parts:
        text = cell.strip()
        yield float(text.replace(",", "")) if NUMBER.match(text) else text


def main():
    a, b = (open(name).read().split("\n") for name in sys.argv[1:3])
    tolerance, each = float(sys.argv[3]), sys.argv[4:] == ["each"]
    assert len(a) == len(b), "%d lines, %d lines" % (len(a), len(b))
    assert len(a) > 1, "there is nothing"
    rows = [(list(cells(x)), list(cells(y))) for x, y in zip(a, b)]
    largest = {}
    for row, _ in rows:
        for k, v in enumerate(row):
            if isinstance(v, float):
                largest[k] = max(largest.get(k, 0), abs(v))
    worst = (0, "")
    for n, (x, y) in enumerate(rows):
        assert len(x) == len(y), "line %d: %r, %r" % (n + 1, a[n], b[n])
        for k, (u, v) in enumerate(zip(x, y)):
            if not (isinstance(u, float) and isinstance(v, float)):
                assert u == v, "line %d: %r, %r" % (n + 1, a[n], b[n])
                continue
            part = abs(u - v) / ((abs(u) if each else largest[k]) or 1)
            if part > worst[0]:
                worst = (part, "line %d: %r, %r" % (n + 1, a[n], b[n]))
    assert worst[0] <= tolerance, "%.2g apart, %s" % worst
    print("%.2g" % worst[0])


main()
