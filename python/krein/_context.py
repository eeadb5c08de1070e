"""Contexts of the library: threads, memory, messages, progress and Ctrl-C of a call.

A context serves one thread at a time. Contexts for short calls (predictions) wait in a pool, from
which a call takes one and to which it gives it back; what is made by a call and stays, a model, has
a context of its own, which lives as long.

A signal handler that raises (Ctrl-C) runs when the library calls back into Python. ctypes prints
and drops an exception out of a callback, and one that comes as a Python function begins cannot be
caught inside it. A generator is resumed inside of its `try`, so the callbacks are generators.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import os
import sys
import time
import warnings
import weakref
from typing import Any, Callable, Dict, Generator, List, Optional, Tuple

import numpy as np

from . import _interface as c
from . import _library
from .errors import ArgumentError, ArgumentTypeError, KreinWarning, keywords, of_status

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_POOL_SECONDS = 10.0  # a context knows the memory that was free when it was made
_POOL_SIZE = 16

_create = _library.library.krein_ctx_create
_destroy = _library.library.krein_ctx_destroy
_message = _library.library.krein_message


class _Bar:
    """Progress of a call on standard error, by tqdm where it is installed."""

    def __init__(self) -> None:
        self.what = ""
        self.bar: Any = None
        self.begun = False

    def show(self, what: str, done: float, total: float) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self.plain(what, done, total)
            return
        if what != self.what or self.bar is None:
            self.close()
            self.what = what
            self.bar = tqdm(total=total if total > 0 else None, desc=what, leave=False)
        self.bar.n = done
        self.bar.refresh()

    def plain(self, what: str, done: float, total: float) -> None:
        part = "%3.0f %%" % (100 * done / total) if total > 0 else "%.0f" % done
        sys.stderr.write("\r%-40s %s" % (what, part))
        sys.stderr.flush()
        self.begun = True

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        if self.begun:
            sys.stderr.write("\r%60s\r" % "")
        self.bar, self.begun, self.what = None, False, ""


def _caller() -> int:
    """The `stacklevel` of the first frame outside of this package, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


class Context:
    """A krein_ctx with its callbacks."""

    __slots__ = (
        "handle",
        "born",
        "options",
        "verbose",
        "stopped",
        "warned",
        "bar",
        "holders",
        "fit",
        "memory",
        "__weakref__",
    )

    def __init__(self, threads: int = 0, max_memory: int = 0, verbose: int = 0) -> None:
        self.handle = None
        self.holders = 1  # itself, and the models that were made on it
        self.verbose = verbose
        self.stopped: Optional[BaseException] = None
        self.warned: List[str] = []
        self.bar = _Bar() if verbose else None
        self.born = time.monotonic()
        self.fit = False  # see errors.keywords
        self.memory = False
        options = _library.sized(c.krein_ctx_options)
        options.threads = _library.threads(threads)
        options.max_memory = max_memory
        options.cancel = c.krein_cancel_fn(_start(_polls(self)))
        options.log = c.krein_log_fn(_arguments(_start(_messages(self))))
        if verbose:
            options.progress = c.krein_progress_fn(_arguments(_start(_steps(self))))
        self.options = options  # the callbacks live as long as the context
        handle = ctypes.c_void_p()
        status = _create(ctypes.byref(options), ctypes.byref(handle))
        if status != c.KREIN_OK:
            raise of_status(status, (_message(None) or b"").decode("utf-8", "replace"))
        self.handle = handle.value

    def hold(self) -> None:
        """For what must go before the context. In garbage with cycles it may be told later."""
        self.holders += 1

    def drop(self) -> None:
        self.holders -= 1
        if self.holders == 0 and self.handle is not None:
            _destroy(self.handle)
            self.handle = None

    def __del__(self) -> None:
        self.drop()

    def text(self, said: str) -> str:
        """What the library says, in Python's words."""
        return keywords(said, self.fit, self.memory)

    def message(self) -> str:
        return self.text((_message(self.handle) or b"").decode("utf-8", "replace"))

    def end(self, status: int) -> None:
        """After every call that returns a status: warnings, and the exception where it failed."""
        if status == c.KREIN_OK and not self.warned and self.stopped is None and self.bar is None:
            return
        if self.bar is not None:
            self.bar.close()
        said, self.warned = self.warned, []
        stopped, self.stopped = self.stopped, None
        if stopped is not None:
            raise stopped
        for text in said:
            warnings.warn(self.text(text), KreinWarning, stacklevel=_caller())
        if status != c.KREIN_OK:
            raise of_status(status, self.message())


# ---- callbacks -----------------------------------------------------------------------------------

_Callback = Generator[int, Any, None]


def _start(generator: _Callback) -> Callable[[Any], int]:
    next(generator)
    return generator.send


def _arguments(send: Callable[[Any], int]) -> Callable[..., int]:
    """A callable of several arguments, without a Python function, that sends one after the other
    (max asks for the key of each)."""
    return functools.partial(max, key=send)  # type: ignore[return-value]


def _keep(context: Context, problem: BaseException) -> None:
    if isinstance(problem, GeneratorExit):
        raise problem
    if context.stopped is None:
        context.stopped = problem


def _polls(context: Context) -> _Callback:
    """cancel(user): 1 once something was raised."""
    of: Any = weakref.ref(context)
    del context  # the callbacks must not keep it alive
    answer = 0
    while True:
        try:
            while True:
                yield answer
                answer = 0 if of().stopped is None else 1
        except BaseException as problem:
            _keep(of(), problem)
            answer = 1


def _messages(context: Context) -> _Callback:
    """log(user, level, text)."""
    of: Any = weakref.ref(context)
    del context  # the callbacks must not keep it alive
    while True:
        try:
            while True:
                while (yield 0) is not None:
                    pass  # after an exception: the user, NULL, begins the next message
                level = yield 0
                text = (yield 0).decode("utf-8", "replace")
                if level >= c.KREIN_LOG_WARNING:
                    of().warned.append(text)
                elif of().verbose + level > 1:
                    of().bar.close()
                    print("krein: " + of().text(text), file=sys.stderr)
        except BaseException as problem:
            _keep(of(), problem)


def _steps(context: Context) -> _Callback:
    """progress(user, what, done, total)."""
    of: Any = weakref.ref(context)
    del context  # the callbacks must not keep it alive
    while True:
        try:
            while True:
                while (yield 0) is not None:
                    pass
                what = (yield 0).decode("utf-8", "replace")
                done = yield 0
                total = yield 0
                of().bar.show(what, done, total)
        except BaseException as problem:
            _keep(of(), problem)


# ---- keywords ------------------------------------------------------------------------------------


def whole(value: Any) -> Optional[int]:
    """The whole number that a keyword is, or None where it is something else."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except Exception:  # whatever __index__ of the object raises
        return None


def threads_of(n_jobs: Optional[int]) -> int:
    """Threads of the keyword `n_jobs`: None and -1 all CPUs, -2 all but one, and so on."""
    if n_jobs is None:
        return 0
    count = whole(n_jobs)
    if not count:
        raise ArgumentError("`n_jobs` is None or a whole number other than 0, not %r" % (n_jobs,))
    if count > 0:
        return min(count, 4096)
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:
        cpus = os.cpu_count() or 1
    return max(1, cpus + 1 + count)


def level_of(verbose: Any) -> int:
    """The level of the keyword `verbose`: 0 says nothing."""
    if verbose is None or isinstance(verbose, (bool, np.bool_)):
        return int(bool(verbose))
    level = whole(verbose)
    if level is None or level < 0:
        raise ArgumentTypeError("`verbose` is a truth value or a level, not %r" % (verbose,))
    return min(level, 9)


_UNITS = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def bytes_of(max_memory: Any) -> int:
    """Bytes of the keyword `max_memory`: None, a number, or a text as "512M" or "4 GB"."""
    if max_memory is None:
        return 0
    try:
        if isinstance(max_memory, str):
            number = max_memory.strip().upper()
            unit = number.lstrip("0123456789. ")
            value = float(number[: len(number) - len(unit)])
            value *= _UNITS[unit[:1] if unit in ("", "B") or unit[1:] in ("", "B", "IB") else "?"]
        elif isinstance(max_memory, bool):
            raise TypeError
        else:
            value = float(max_memory)
        if not 0 < value < 2**63:
            raise ValueError
        return int(value)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ArgumentError(
            '`max_memory` is a number of bytes or a text as "512M", "4G", not %r' % (max_memory,)
        ) from None


# ---- the pool ------------------------------------------------------------------------------------

_pool: Dict[Tuple[int, int], List[Context]] = {}


def take(threads: int = 0, max_memory: int = 0) -> Context:
    """A context for a short call; give it back with `give`. (Lists are safe between threads.)"""
    waiting = _pool.get((threads, max_memory))
    while waiting:
        try:
            context = waiting.pop()
        except IndexError:
            break
        if time.monotonic() - context.born < _POOL_SECONDS:
            return context
    return Context(threads, max_memory)


def give(context: Context, threads: int = 0, max_memory: int = 0) -> None:
    waiting = _pool.setdefault((threads, max_memory), [])
    if len(waiting) < _POOL_SIZE:
        waiting.append(context)


def _forget() -> None:
    _pool.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
