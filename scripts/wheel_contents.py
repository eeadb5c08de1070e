#!/usr/bin/env python3
"""wheel_contents.py WHEEL ROOT -- looks into a wheel that the checkout ROOT built.

Checks the names, the RECORD, the tag, the metadata, the libraries (what they link, where they look
for it), the licences, and that no path of this machine is in it. Says what is wrong and ends with
status 1.

wheel_contents.py --without-mpi WHEEL takes libkrein_mpi.so out of the wheel: auditwheel counts the
MPI that it is for as missing.
"""

import base64
import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

OUTSIDE = r"(ld-linux-[\w-]+|lib(c|m|z|gcc_s|stdc\+\+|pthread|dl|rt))\.so\.\d+"


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def output(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout


def names(files, info):
    package = r"krein/([\w/]+\.pyi?|py\.typed|lib/lib[\w-]+\.so[\d.]*)"
    for name in files:
        if not re.fullmatch(rf"{package}|{re.escape(info)}/.+", name):
            yield f"{name} does not belong in the wheel"
    for name in ["krein/__init__.py", "krein/py.typed", "krein/lib/libkrein.so", f"{info}/METADATA",
                 f"{info}/licenses/LICENSE"]:
        if name not in files:
            yield f"{name} is missing"


def record(files, info):
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(files[f"{info}/RECORD"].decode()))}
    if set(rows) != set(files):
        yield f"RECORD and files differ in {sorted(set(rows) ^ set(files))}"
    for name, data in files.items():
        expected = [f"sha256={digest(data)}", str(len(data))]
        if rows.get(name) != (["", ""] if name == f"{info}/RECORD" else expected):
            yield f"RECORD is wrong for {name}"


def tag(wheel, files, info, folder):
    """The newest glibc by objdump's symbols; the build goes by readelf's version sections."""
    symbols = output("objdump", "-T", *libraries(folder))
    minor = max(int(m) for m in re.findall(r"\*UND\*.*GLIBC_2\.(\d+)", symbols))
    expected = f"py3-none-manylinux_2_{minor}_{os.uname().machine}"
    if not wheel.name.endswith(f"-{expected}.whl"):
        yield f"the symbols ask for {expected}"
    if f"\nTag: {expected}\n" not in files[f"{info}/WHEEL"].decode():
        yield f"WHEEL does not have the tag {expected}"


def metadata(files, info, root):
    try:
        import tomllib
    except ImportError:  # before 3.11
        return
    sys.path.insert(0, str(root / "python"))
    import backend

    document = tomllib.loads((root / "python" / "pyproject.toml").read_text())
    tables = backend.read_tables(root / "python" / "pyproject.toml")
    project = dict(document["project"])
    extras = project.pop("optional-dependencies")
    if tables["project"] != project or tables["project.optional-dependencies"] != extras:
        yield "read_tables of backend.py reads pyproject.toml otherwise than tomllib"
    lines = files[f"{info}/METADATA"].decode().split("\n\n")[0].split("\n")
    for line in ["Name: krein", f"Version: {backend.version()}", "Requires-Python: >=3.9",
                 "Requires-Dist: numpy", "Requires-Dist: scipy", "Provides-Extra: sklearn",
                 "Requires-Dist: scikit-learn; extra == 'sklearn'"]:
        if line not in lines:
            yield f"METADATA has no line {line}"


def libraries(folder):
    return sorted((folder / "krein" / "lib").iterdir())


def links(folder):
    here = {path.name for path in libraries(folder)}
    for path in libraries(folder):
        dynamic = output("readelf", "-dW", path)
        if re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", dynamic) != ["$ORIGIN"]:
            yield f"{path.name} has another RPATH than $ORIGIN"
        if "krein" not in path.name and f"soname: [{path.name}]" not in dynamic:
            yield f"{path.name} has another soname"
        if path.name == "libkrein_mpi.so":  # MPI is the system's
            continue
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
            if name not in here and not re.fullmatch(OUTSIDE, name):
                yield f"{path.name} needs {name}, which is not in the wheel"
        if "not found" in output("ldd", path):
            yield f"the loader does not find all that {path.name} needs"


def licences(files, info, folder):
    table = files[f"{info}/licenses/THIRD-PARTY"].decode()
    for path in libraries(folder):
        if "krein" not in path.name and f"krein/lib/{path.name}\n" not in table:
            yield f"no licence of {path.name}"
    texts = re.findall(r"; text: (\S+)\n", table)
    if len(texts) != table.count("\n    "):
        yield "a licence without its text"
    for name in texts + (["GPL-3"] if "GPL-3.0" in table else []):
        if f"{info}/licenses/{name}" not in files:
            yield f"the text {name} is missing"
    for line in table.split("\n"):
        if re.search(r"\bGPL-", line) and "WITH GCC-exception" not in line:
            yield f"GPL without the exception: {line.strip()}"


def paths(files, root):
    for place in {str(root), str(Path.home())} - {"/"}:
        for name, data in files.items():
            if re.search(re.escape(place.encode()) + rb"(/|\0|\s|$)", data):
                yield f"{name} holds the path {place}"


def without_mpi(wheel):
    with zipfile.ZipFile(wheel) as archive:
        files = {entry: archive.read(entry) for entry in archive.infolist()
                 if "krein_mpi" not in entry.filename}
    with zipfile.ZipFile(wheel, "w") as archive:
        for entry, data in files.items():
            if entry.filename.endswith("RECORD"):
                data = b"".join(line for line in data.splitlines(True) if b"krein_mpi" not in line)
            archive.writestr(entry, data)


def main():
    if sys.argv[1] == "--without-mpi":
        return without_mpi(Path(sys.argv[2]))
    wheel, root = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        archive.extractall(folder)
        files = {name: archive.read(name) for name in archive.namelist()}
        info = next(name.split("/")[0] for name in files if ".dist-info/" in name)
        wrong = [*names(files, info), *record(files, info), *tag(wheel, files, info, folder),
                 *metadata(files, info, root), *links(folder), *licences(files, info, folder),
                 *paths(files, root)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
