"""Finds libkrein, loads it and declares its functions. `library` is the loaded one."""

from __future__ import annotations

import _ctypes
import ctypes
import glob
import os
from typing import Any, List, Type, TypeVar

import numpy  # noqa: F401  (its own BLAS is loaded before the settings below are made)

from . import _interface

OMP_PAUSE_HARD = 2  # of omp.h: threads and their memory are given back

_Struct = TypeVar("_Struct", bound=ctypes.Structure)


def _candidates() -> List[str]:
    """Where it may be: $KREIN_LIBRARY alone, else beside the package, else the system's."""
    named = os.environ.get("KREIN_LIBRARY")
    if named:
        return [named]
    here = os.path.dirname(os.path.abspath(__file__))
    beside = sorted(glob.glob(os.path.join(here, "lib", "libkrein*.so*")))
    major, minor = _interface.VERSION.split(".")[:2]
    return beside + ["libkrein.so.%s.%s" % (major, minor), "libkrein.so"]


class _Settings:
    """Environment variables that the libraries below libkrein read when they are loaded, and never
    again. What the user has set stays, and all are taken back afterwards."""

    def __init__(self) -> None:
        self.mine: List[str] = []

    def set(self, name: str, value: str) -> bool:
        if os.environ.get(name):
            return False
        os.environ[name] = value
        self.mine.append(name)
        return True

    def restore(self) -> None:
        for name in self.mine:
            os.environ.pop(name, None)


def _better_core(library: ctypes.CDLL) -> str:
    """The CPU that OpenBLAS should have taken this one for; empty where its choice is right."""
    better = ctypes.c_char_p()
    library.krein_blas_core.restype = ctypes.c_char_p
    library.krein_blas_core(ctypes.byref(better))
    return (better.value or b"").decode()


def _open(path: str) -> ctypes.CDLL:
    settings = _Settings()
    # The program makes the same settings: threads of OpenBLAS are never used, and threads of OpenMP
    # that spin while they wait take the CPU from those that work.
    settings.set("OPENBLAS_NUM_THREADS", "1")
    settings.set("OMP_WAIT_POLICY", "passive")
    try:
        library = ctypes.CDLL(path)
        better = _better_core(library)
        if better and settings.set("OPENBLAS_CORETYPE", better):
            # It chooses when it is loaded. Where something else holds the same OpenBLAS it stays,
            # and the library says in a warning what to do.
            _ctypes.dlclose(library._handle)  # type: ignore[attr-defined]
            library = ctypes.CDLL(path)
        return library
    finally:
        settings.restore()


def _declare(library: ctypes.CDLL) -> None:
    for name, (result, arguments) in _interface.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments


def _load() -> ctypes.CDLL:
    problems = []
    for path in _candidates():
        try:
            library = _open(path)
            _declare(library)
            return library
        except (OSError, AttributeError) as problem:
            problems.append("%s: %s" % (path, problem))
    raise ImportError(
        "krein: libkrein %s is not here; install the package with its library, or name it in the "
        "environment variable KREIN_LIBRARY\n  %s" % (_interface.VERSION, "\n  ".join(problems))
    )


def sized(struct: Type[_Struct]) -> _Struct:
    """A struct that holds nothing but its size."""
    made = struct()
    made.size = ctypes.sizeof(struct)
    return made


def options(struct: Type[_Struct]) -> _Struct:
    """A struct of options with the library's defaults."""
    made = struct()
    initialise = getattr(library, struct.__name__ + "_init_sized")
    initialise(ctypes.byref(made), ctypes.sizeof(struct))
    return made


library: Any = _load()


# ---- fork ----------------------------------------------------------------------------------------

# OpenMP's threads do not survive a fork, and a child that counts on them waits for ever. They are
# ended before it, and come back by themselves. Where that cannot be done the child has one thread.
_pause = getattr(library, "omp_pause_resource_all", None)
_paused = True
_alone = False


def _before_fork() -> None:
    global _paused
    _paused = _pause is not None and _pause(OMP_PAUSE_HARD) == 0


def _in_child() -> None:
    global _alone
    _alone = _alone or not _paused


def threads(asked: int) -> int:
    """How many threads a context gets that should have so many (0: those of the machine)."""
    return 1 if _alone else asked


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
