#!/usr/bin/env python3
"""taken_objects.py BUILD ROOT FOLDER -- writes into FOLDER what scripts/taken-object.sh looks up: for
each source under ROOT/src that BUILD has compiled, and whose object holds no path of the checkout, the
command and the object."""

import json
import shlex
import sys
from pathlib import Path

build, root, folder = (Path(argument).resolve() for argument in sys.argv[1:])
for entry in json.loads((build / "compile_commands.json").read_text()):
    words = shlex.split(entry["command"])
    source, prefix = Path(entry["file"]), f"-I{root}/"
    target = Path(entry["directory"], words[words.index("-o") + 1])
    if root / "src" not in source.parents or not target.exists() or bytes(root) in target.read_bytes():
        continue
    kept, skip = [], False
    for word in words:
        if skip or word in ("-o", "-c"):
            skip = not skip
        elif not word.startswith(("-W", "-ffile-prefix-map=")):
            kept.append("-I" + word[len(prefix):] if word.startswith(prefix) else word)
    known = folder / source.relative_to(root)
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text(f"{' '.join(kept)}\n{target}\n")
