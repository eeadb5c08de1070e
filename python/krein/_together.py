"""Several processes that train one model (mpi4py), each with rows of its own.

All processes call `fit`. What goes wrong in one of them before the library is called (rows that are
no rows, a keyword that is wrong) would leave the others waiting for it: they meet before that call,
and where one has failed all raise an exception. From then on the library sees to it.
"""
from __future__ import annotations

from typing import Any, Optional, Type

import numpy as np

from . import _library
from .errors import ArgumentError, ArgumentTypeError, KreinError

_lib = _library.library


class Alone:
    """No other process."""

    on = False

    def __enter__(self) -> "Alone":
        return self

    def __exit__(self, kind: Any, problem: Optional[BaseException], trace: Any) -> None:
        pass

    def begin(self, context: Any) -> None:
        """All processes have their rows, and call the library together from now on."""

    def first(self, value: Any) -> Any:
        """What the first process has there, after `begin`."""
        return value

    def end(self, context: Any) -> None:
        """The processes have come back from the library."""

    def union(self, values: Optional[np.ndarray]) -> Optional[np.ndarray]:
        """The distinct values of all processes, sorted, after a training that succeeded."""
        return values


class Others(Alone):
    """The processes of a communicator, in one fit."""

    on = True

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.met = self.joined = False

    def meet(self, problem: Optional[BaseException]) -> None:
        self.met = True
        mine = None
        if problem is not None:
            kind: Type[BaseException] = type(problem)
            kind = kind if issubclass(kind, KreinError) else KreinError
            mine = (kind, str(problem) or repr(problem))
        told = self.comm.allgather(mine)
        if problem is not None:
            return  # it is being raised
        for process, failed in enumerate(told):
            if failed is not None:
                raise failed[0]("process %d: %s" % (process, failed[1]))

    def __exit__(self, kind: Any, problem: Optional[BaseException], trace: Any) -> None:
        if problem is not None and not self.met:
            self.meet(problem)

    def begin(self, context: Any) -> None:
        from mpi4py import MPI

        self.meet(None)
        context.end(_lib.krein_ctx_join(context.handle, MPI._addressof(self.comm)))
        self.joined = True

    def first(self, value: Any) -> Any:
        return self.comm.bcast(value, root=0)

    def end(self, context: Any) -> None:
        if self.joined:
            self.joined = False
            _lib.krein_ctx_leave(context.handle)

    def union(self, values: Optional[np.ndarray]) -> Optional[np.ndarray]:
        told = [part for part in self.comm.allgather(values) if part is not None and len(part)]
        return np.unique(np.concatenate(told)) if told else values


ALONE = Alone()


def of(comm: Any) -> Alone:
    """The processes of the keyword `comm`."""
    if comm is None:
        return ALONE
    if isinstance(comm, Alone):
        return comm
    try:
        from mpi4py import MPI
    except ImportError:
        raise ArgumentError("`comm` is a communicator of mpi4py, which is not installed") from None
    if not isinstance(comm, MPI.Comm):
        raise ArgumentTypeError("`comm` is a communicator of mpi4py, not %s" % type(comm).__name__)
    return Others(comm)
