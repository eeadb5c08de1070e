#!/usr/bin/env python3
"""shots.py PAGE ... -- pictures of pages beside them: PAGE-light.png, -dark, -phone, -print and PAGE.pdf.

Says what pages.py finds wrong with each, and ends with status 1 where there is something.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages  # noqa: E402


def main(paths):
    why = pages.missing()
    if why:
        print("no pictures: %s is not here (scripts/deps.sh browser installs what is missing)" % why)
        return 0
    wrong = 0
    with pages.Browser() as browser:
        for path in paths:
            base = os.path.splitext(path)[0]
            browser.shot(path, base + "-light.png")
            browser.shot(path, base + "-dark.png", dark=True)
            browser.shot(path, base + "-phone.png", width=360)
            browser.shot(path, base + "-print.png", width=794, media="print")
            if path.endswith(".html"):
                browser.pdf(path, base + ".pdf")
            found = browser.problems(path)
            wrong += len(found)
            print("%s: %s" % (path, "as it should be" if not found else "%d problems" % len(found)))
            for problem in found:
                print("    " + problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
