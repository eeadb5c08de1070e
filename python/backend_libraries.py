"""The libraries of the wheel: libkrein, and the shared libraries that it links.

    build_library   CMake builds libkrein: Release, without flags for one kind of machine
    make_bundle     copies it to a folder, with the libraries that not every Linux with glibc has.
                    Their names get a hash, so that a library of the same name that is loaded
                    already does not take their place; they find each other by RPATH $ORIGIN.
                    MPI is left to the system. A library that LICENCES does not know is refused.
    platform_tag    manylinux_2_N, where 2.N is the newest glibc that one of them asks for
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOC = Path("/usr/share/doc")
COMMON_LICENCES = Path("/usr/share/common-licenses")

# What every Linux with glibc has, of the list that manylinux allows: stays outside.
SYSTEM = {"libc", "libm", "libmvec", "libdl", "librt", "libpthread", "libgcc_s", "libstdc++",
          "libz", "ld-linux-x86-64", "ld-linux-aarch64"}

# What may be in the wheel: its licence, and the texts that Debian's copyright file refers to. The
# runtime exception of gcc's libraries permits them beside code of any licence; libquadmath is
# LGPL, and a file of its own that can be replaced.
LICENCES = {
    "libopenblas": ("BSD-3-Clause", []),
    "libxxhash": ("BSD-2-Clause", []),
    "libgomp": ("GPL-3.0-or-later WITH GCC-exception-3.1", ["GPL-3"]),
    "libgfortran": ("GPL-3.0-or-later WITH GCC-exception-3.1", ["GPL-3"]),
    "libquadmath": ("LGPL-2.1-or-later", ["LGPL-2.1"]),
    "libomp": ("Apache-2.0 WITH LLVM-exception", ["Apache-2.0"]),
}
COMPILED_IN = {"librandom123-dev": "BSD-3-Clause"}  # headers only


# ---- running, and what is missing ---------------------------------------------------


def stop(message):
    raise SystemExit(f"krein: {message}")


def run(*command, env=None):
    """Runs it and returns its output; stops with the end of the output where it fails."""
    command = [str(word) for word in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env=env)
    if done.returncode != 0:
        end = "\n".join(done.stdout.splitlines()[-40:])
        stop(f"`{' '.join(command[:2])}` failed with status {done.returncode}:\n{end}")
    return done.stdout


def need_sources():
    if not (ROOT / "CMakeLists.txt").exists() or not (ROOT / "include" / "krein.h").exists():
        stop(f"the C sources are not in {ROOT}: the wheel is built in a whole checkout, or from "
             "the source archive of Krein; pip before 21.3 copies the folder python alone, use "
             "`pip install .` at the root")


def need_tools():
    """scripts/deps.sh has the list of what the build needs, and the command that installs it."""
    done = subprocess.run(["bash", str(ROOT / "scripts" / "deps.sh"), "wheel"], text=True,
                          capture_output=True, env=dict(os.environ, KREIN_NO_INSTALL="1"))
    if done.returncode != 0:
        stop("the build needs packages of the system\n" + done.stderr.rstrip())


# ---- building -----------------------------------------------------------------------


def build_library(tree):
    """Builds libkrein in the folder `tree`."""
    need_sources()
    need_tools()
    forget_other_checkout(tree)
    # The wheel is for all machines of the architecture, whatever flags this one's user likes.
    dropped = {"CFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DESTDIR"}
    env = {name: value for name, value in os.environ.items() if name not in dropped}
    run("cmake", "-S", ROOT, "-B", tree, "-DCMAKE_BUILD_TYPE=Release", "-DKREIN_TESTS=OFF",
        "-DCMAKE_INSTALL_PREFIX=/usr/local",
        f"-DCMAKE_C_FLAGS=-ffile-prefix-map={ROOT}=. -ffile-prefix-map={tree}=.", env=env)
    run("cmake", "--build", tree, "-j", len(os.sched_getaffinity(0)), "--target", "libraries",
        env=env)


def forget_other_checkout(tree):
    """A build that was copied with its checkout: CMake would refuse it."""
    cache = tree / "CMakeCache.txt"
    if cache.exists() and f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\n" not in cache.read_text():
        cache.unlink()
        shutil.rmtree(tree / "CMakeFiles", ignore_errors=True)


# ---- copying ------------------------------------------------------------------------


def make_bundle(tree, folder):
    """Copies libkrein and what goes with it from the build to `folder`, and makes the libraries
    find each other. Returns the licence texts, {name: bytes}."""
    folder.mkdir(exist_ok=True)
    krein, mpi = tree / "libkrein.so", tree / "libkrein_mpi.so"
    linked = linked_libraries(krein)
    carried = {soname: path for soname, path in linked.items() if stem(soname) not in SYSTEM}
    check_licences(carried)
    renamed = {soname: hashed_name(soname, path) for soname, path in carried.items()}
    for path in [krein, mpi] if mpi.exists() else [krein]:
        place(path, folder / path.name, renamed)
    for soname, path in carried.items():
        place(path, folder / renamed[soname], renamed)
        run("patchelf", "--set-soname", renamed[soname], folder / renamed[soname])
    return licence_texts(carried, renamed)


def linked_libraries(library):
    """The libraries that the loader finds for this one: {soname: path}."""
    text = run("ldd", library)
    lost = re.findall(r"(\S+) => not found", text)
    if lost:
        stop(f"the loader does not find {', '.join(lost)}, which {library.name} needs; "
             "LD_LIBRARY_PATH can name the folder")
    return {soname: Path(path).resolve() for soname, path in re.findall(r"(\S+) => (/\S+)", text)}


def stem(soname):
    return soname.split(".so")[0]


def hashed_name(soname, path):
    head, tail = soname.split(".so", 1)
    return f"{head}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}.so{tail}"


def place(source, target, renamed):
    """A change a call: patchelf 0.14 mixes up the strings of several."""
    shutil.copyfile(source, target)
    run("strip", "--strip-unneeded", target)
    for soname in run("patchelf", "--print-needed", target).split():
        if soname in renamed:
            run("patchelf", "--replace-needed", soname, renamed[soname], target)
    run("patchelf", "--set-rpath", "$ORIGIN", target)


def platform_tag(folder):
    """By the versioned symbols of glibc that the libraries need."""
    text = run("readelf", "-VW", *sorted(folder.iterdir()))
    minors = [int(minor) for minor in re.findall(r"\bGLIBC_2\.(\d+)", text)]
    if "GLIBC_ABI_DT_RELR" in text:
        minors.append(36)
    if not minors:
        stop("the libraries ask for no glibc; wheels of Krein are for Linux with glibc")
    return f"manylinux_2_{max(minors)}_{os.uname().machine}"


# ---- licences -----------------------------------------------------------------------


def check_licences(carried):
    unknown = sorted(soname for soname in carried if stem(soname) not in LICENCES)
    if unknown:
        stop(f"libkrein links {', '.join(unknown)}; LICENCES of python/backend_libraries.py does "
             "not say whether the wheel may carry it")


def licence_texts(carried, renamed):
    """{name: bytes}: the texts, and THIRD-PARTY, which says what is under which."""
    texts = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    rows = []  # what, package, licence
    for soname, path in sorted(carried.items()):
        licence, common = LICENCES[stem(soname)]
        rows.append((f"krein/lib/{renamed[soname]}", package_of(path), licence))
        for name in common:
            add_text(texts, name, COMMON_LICENCES / name)
    for package, licence in COMPILED_IN.items():
        rows.append(("compiled into libkrein.so", package, licence))
    lines = ["Code of others in this wheel. Each text is in the file of that name here.\n"]
    for what, package, licence in rows:
        doc = (DOC / package).resolve()
        if add_text(texts, doc.name, doc / "copyright"):
            lines.append(f"{what}\n    {licence}; {source_of(package)}; text: {doc.name}\n")
        else:
            print(f"krein: no licence text of {what} found: this wheel is for this machine only",
                  file=sys.stderr)
            lines.append(f"{what}\n    {licence}\n")
    texts["THIRD-PARTY"] = "\n".join(lines).encode()
    return texts


def add_text(texts, name, path):
    if path.is_file():
        texts[name] = path.read_bytes()
    return path.is_file()


def package_of(path):
    """Debian's package of a file, or ''."""
    if not shutil.which("dpkg"):
        return ""
    # A file may be recorded under /lib, which is a link to /usr/lib now.
    for name in (str(path), str(path).replace("/usr/lib/", "/lib/", 1)):
        found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    return ""


def source_of(package):
    names = run("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}\n", package)
    return "source: Debian's " + names.splitlines()[0]
