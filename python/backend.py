"""Builds the wheel and the source archive of the Python package (PEP 517, PEP 660).

The wheel has the modules of python/krein, libkrein and the shared libraries it links
(backend_libraries.py). One wheel serves every Python from 3.9 on, for the package loads libkrein by
ctypes. The library is built in build/wheel, or in the folder of the setting `build-dir`:

    pip install . --config-settings build-dir=FOLDER

The same tree, compiler and libraries give the same bytes. Nothing but the standard library is used.
`python3 python/backend.py [FOLDER]` builds the wheel without pip, into build/ or the folder.
"""

from __future__ import annotations

import ast
import base64
import csv
import gzip
import hashlib
import io
import os
import re
import shutil
import stat
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from backend_libraries import ROOT, build_library, make_bundle, need_sources, platform_tag, run

HERE = Path(__file__).resolve().parent


# ---- the hooks -------------------------------------------------------------


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = dist_info()
    folder = Path(metadata_directory, name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_bytes(metadata())
    return name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tree = build_tree(config_settings)
    build_library(tree)
    with tempfile.TemporaryDirectory() as scratch:
        lib = Path(scratch)
        licences = make_bundle(tree, lib)
        files = {f"krein/lib/{path.name}": path for path in lib.iterdir()}
        files.update(modules())
        return write_wheel(Path(wheel_directory), files, licences, platform_tag(lib))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The modules and the library stay in the checkout: python/krein and python/krein/lib."""
    tree = build_tree(config_settings)
    build_library(tree)
    lib = HERE / "krein" / "lib"
    shutil.rmtree(lib, ignore_errors=True)
    licences = make_bundle(tree, lib)
    path_file = {"krein.pth": f"{HERE}\n".encode()}
    return write_wheel(Path(wheel_directory), path_file, licences, platform_tag(lib))


def build_tree(config_settings):
    return Path((config_settings or {}).get("build-dir", ROOT / "build" / "wheel")).resolve()


def build_sdist(sdist_directory, config_settings=None):
    need_sources()
    base = f"krein-{version()}"
    target = Path(sdist_directory, base + ".tar.gz")
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=timestamp()) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in source_files():
            tar.add(ROOT / name, f"{base}/{name}", recursive=False, filter=anonymous)
        text = metadata()
        info = anonymous(tarfile.TarInfo(f"{base}/PKG-INFO"))
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
    return target.name


# ---- metadata ------------------------------------------------------------------


def version():
    header = (ROOT / "include" / "krein.h").read_text(encoding="utf-8")
    return re.search(r'^#define KREIN_VERSION_STRING "([^"]+)"', header, re.M).group(1)


def dist_info():
    need_sources()
    return f"krein-{version()}.dist-info"


def read_tables(path):
    """{table: {key: value}} of a TOML file with strings and lists of strings only, which Python
    reads as its own. (3.9 and 3.10 have no TOML in the standard library.)"""
    tables = {}
    text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
    for part in re.split(r"^\[", text, flags=re.M)[1:]:
        title, body = part.split("]\n", 1)
        pairs = re.findall(r"^([\w-]+)\s*=\s*(\".*\"|\[[^\]]*\])$", body, flags=re.M)
        tables[title] = {key: ast.literal_eval(value) for key, value in pairs}
    return tables


def metadata():
    tables = read_tables(HERE / "pyproject.toml")
    project = tables["project"]
    fields = [("Metadata-Version", "2.4"), ("Name", project["name"]), ("Version", version()),
              ("Summary", project["description"]), ("Keywords", ",".join(project["keywords"])),
              ("License-Expression", project["license"]), ("License-File", "LICENSE"),
              ("Requires-Python", project["requires-python"])]
    fields += [("Classifier", text) for text in project["classifiers"]]
    fields += [("Requires-Dist", text) for text in project["dependencies"]]
    for extra, packages in tables["project.optional-dependencies"].items():
        fields.append(("Provides-Extra", extra))
        fields += [("Requires-Dist", f"{package}; extra == '{extra}'") for package in packages]
    fields.append(("Description-Content-Type", "text/markdown"))
    head = "".join(f"{name}: {value}\n" for name, value in fields)
    return (head + "\n").encode() + (HERE / project["readme"]).read_bytes()


# ---- the files -----------------------------------------------------------------


def modules():
    paths = [path for path in (HERE / "krein").rglob("*")
             if path.suffix in (".py", ".pyi") or path.name == "py.typed"]
    return {path.relative_to(HERE).as_posix(): path for path in paths}


def write_wheel(directory, files, licences, platform):
    """files: {name in the wheel: path or bytes}. Returns the name of the wheel."""
    info = dist_info()
    tag = f"py3-none-{platform}"
    files = dict(sorted(files.items()))
    for name, text in sorted(licences.items()):
        files[f"{info}/licenses/{name}"] = text
    files[f"{info}/METADATA"] = metadata()
    files[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: krein\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}\n").encode()
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / f"krein-{version()}-{tag}.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.writerow((name, f"sha256={digest}", len(data)))
            add_to_zip(archive, name, data)
        rows.writerow((f"{info}/RECORD", "", ""))
        add_to_zip(archive, f"{info}/RECORD", record.getvalue().encode())
    return target.name


def add_to_zip(archive, name, data):
    entry = zipfile.ZipInfo(name, time.gmtime(timestamp())[:6])
    entry.create_system = 3  # Unix, for the modes
    entry.external_attr = (stat.S_IFREG | (0o755 if ".so" in name else 0o644)) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def source_files():
    """What git knows; in an unpacked source archive all files that are not built."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        names = run("git", "-C", ROOT, "ls-files", "-z").split("\0")
        return sorted(name for name in names if name and (ROOT / name).exists())
    names = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return sorted(str(name) for name in names if not is_built(name))


def is_built(name):
    top = name.parts[0]
    return (top in (".git", "PKG-INFO") or top.startswith("build") or "__pycache__" in name.parts
            or name.parts[:3] == ("python", "krein", "lib"))


def anonymous(info):
    """An entry of the source archive without owner and date; only the bit for executing is kept."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = timestamp()
    info.mode = 0o755 if info.mode & 0o100 else 0o644
    return info


def timestamp():
    """One date for all files, 2020-02-02 unless SOURCE_DATE_EPOCH says another: a date of the
    checkout would make two archives of the same files differ. A zip file begins in 1980."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", "1580601600")), 315532800)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build"
    print(folder / build_wheel(folder))
