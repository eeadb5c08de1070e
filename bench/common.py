"""What peers.py and quality.py share: the program, a temporary folder, the machine in words."""

import atexit
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def program():
    """The krein to measure: $KREIN, or build/krein."""
    path = Path(os.environ.get("KREIN", ROOT / "build" / "krein"))
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there: build it, or name it in KREIN")
    return str(path)


def folder():
    """A temporary folder that goes when the program ends."""
    path = tempfile.mkdtemp(prefix="krein_bench.")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return Path(path)


def run(command, **environment):
    """Runs it; gives its standard output and the seconds of the whole process. A value of None
    takes a variable out of the environment."""
    env = {k: v for k, v in {**os.environ, **environment}.items() if v is not None}
    start = time.perf_counter()
    done = subprocess.run([str(c) for c in command], env=env, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"failed ({done.returncode}): {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout, seconds


def krein(*arguments, threads=None):
    """Runs krein with --json; gives the object, with the seconds of the process as "wall"."""
    command = [program(), *arguments, "--json", "-q"]
    if threads:
        command += ["-j", threads]
    text, seconds = run(command)
    return {**json.loads(text), "wall": seconds}


def cpu():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown CPU"


def load():
    return os.getloadavg()[0]


def machine():
    return f"{cpu()}, {len(os.sched_getaffinity(0))} CPUs, load before {load():.2f}"
