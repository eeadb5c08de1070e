"""Kernels as objects that combine with +, - and * and print as specs.

Every kernel of the library is a function here, whose keywords are its options. What comes out goes
wherever a kernel is asked for; the text of it does as well.

>>> from krein.kernels import gaussian, laplacian, linear
>>> 0.5 * gaussian(sigma=2) + laplacian() * linear()
0.5*gaussian(sigma=2) + laplacian*linear
>>> gaussian(sigma=1) - 0.25 * gaussian(sigma=4)
gaussian(sigma=1) - 0.25*gaussian(sigma=4)
"""

from __future__ import annotations

import inspect
import keyword
import math
import os
from typing import Any, Callable, Dict, List

import numpy as np

from . import _context, _library, _rows
from ._tables import TABLES, Method, Option
from .errors import ArgumentError, ArgumentTypeError

__all__ = ["Kernel"]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _number(value: Any) -> str:
    """Digits that read back as the same number, as the library prints them."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ArgumentError("a number of a kernel is finite, not %r" % (value,))
    if number == round(number) and abs(number) < 1e15:
        return "%d" % number
    return repr(number)


class Kernel:
    """A kernel, or an expression of kernels.

    Kernels are added, subtracted and multiplied, with each other and with texts of kernels, and are
    multiplied and divided by numbers. ``str()`` of a kernel is its spec. Kernels are equal where
    their specs are.

    Parameters
    ----------
    spec : str
        Kernel expression, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". The library checks it.

    Examples
    --------
    >>> from krein.kernels import Kernel, linear
    >>> Kernel("gaussian(sigma=2) + laplacian") * linear()
    (gaussian(sigma=2) + laplacian)*linear
    >>> 3 * Kernel("gaussian") == Kernel("3*gaussian")
    True
    """

    # What is printed: the factor, then the body, in parentheses where it is a sum. The library keeps
    # expressions in the same form.
    __slots__ = ("_factor", "_body", "_sum")
    __array_ufunc__ = None  # a NumPy number times a kernel is a kernel

    def __init__(self, spec: Any) -> None:
        text = str(spec).strip()
        check(text)
        self._factor, self._body, self._sum = 1.0, text, not _is_leaf(text)

    @staticmethod
    def _made(factor: float, body: str, is_sum: bool) -> "Kernel":
        kernel = object.__new__(Kernel)
        if not math.isfinite(factor):
            raise ArgumentError("a factor of the kernel is too large")
        kernel._factor, kernel._body, kernel._sum = factor, body, is_sum
        return kernel

    @staticmethod
    def _of(other: Any) -> "Kernel":
        return other if isinstance(other, Kernel) else Kernel(other)

    def _inside(self) -> str:
        """The body as a factor of a product."""
        return "(%s)" % self._body if self._sum else self._body

    def _printed(self, factor: float) -> str:
        return self._inside() if factor == 1 else "%s*%s" % (_number(factor), self._inside())

    def __str__(self) -> str:
        return self._body if self._factor == 1 else self._printed(self._factor)

    __repr__ = __str__

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, str):
            return str(self) == other
        return isinstance(other, Kernel) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> Any:
        return Kernel._made, (self._factor, self._body, self._sum)

    def check(self) -> "Kernel":
        """Asks the library whether the kernel is right.

        Returns
        -------
        self

        Raises
        ------
        krein.KreinError
            What is wrong, where, and the way out.
        """
        check(str(self))
        return self

    # ---- combinations ----

    def _plus(self, other: "Kernel", sign: float) -> "Kernel":
        factor = sign * other._factor
        if other._sum and factor == 1:
            joined = " + " + other._body
        else:
            joined = (" - " if factor < 0 else " + ") + other._printed(abs(factor))
        return Kernel._made(1.0, str(self) + joined, True)

    def __add__(self, other: Any) -> "Kernel":
        if _is_number(other) and other == 0:  # sum([...]) begins with it
            return self
        if not isinstance(other, (Kernel, str)):
            return _no_kernel(other)
        return self._plus(Kernel._of(other), 1.0)

    def __radd__(self, other: Any) -> "Kernel":
        if _is_number(other) and other == 0:
            return self
        if not isinstance(other, str):
            return _no_kernel(other)
        return Kernel._of(other)._plus(self, 1.0)

    def __sub__(self, other: Any) -> "Kernel":
        if not isinstance(other, (Kernel, str)):
            return _no_kernel(other)
        return self._plus(Kernel._of(other), -1.0)

    def __rsub__(self, other: Any) -> "Kernel":
        if not isinstance(other, str):
            return _no_kernel(other)
        return Kernel._of(other)._plus(self, -1.0)

    def __mul__(self, other: Any) -> "Kernel":
        if _is_number(other):
            return Kernel._made(self._factor * float(other), self._body, self._sum)
        if not isinstance(other, (Kernel, str)):
            return NotImplemented
        right = Kernel._of(other)
        body = self._inside() + "*" + right._inside()
        return Kernel._made(self._factor * right._factor, body, False)

    def __rmul__(self, other: Any) -> "Kernel":
        if isinstance(other, str):
            return Kernel._of(other) * self
        return self.__mul__(other)

    def __truediv__(self, other: Any) -> "Kernel":
        if not _is_number(other):
            return NotImplemented
        if other == 0:
            raise ZeroDivisionError("a kernel divided by zero")
        return self * (1.0 / float(other))

    def __neg__(self) -> "Kernel":
        return self * -1

    def __pos__(self) -> "Kernel":
        return self


def _no_kernel(other: Any) -> Any:
    if _is_number(other):
        raise ArgumentTypeError(
            "a number alone is not a kernel; write number*kernel, not kernel + %r" % (other,)
        )
    return NotImplemented


def _is_leaf(text: str) -> bool:
    """Whether a correct expression is one kernel: a name, or a name and one pair of parentheses.
    (Names of files may hold some as well; such a kernel then is printed in parentheses.)"""
    name, _, rest = text.partition("(")
    inside = rest[:-1] if rest.endswith(")") else rest
    return (
        name.strip().isidentifier()
        and not any(c in inside for c in "()+*")
        and (not rest or rest.endswith(")"))
    )


def check(kernel: Any) -> None:
    """Asks the library whether a kernel expression is right, and raises what is wrong with it.

    Parameters
    ----------
    kernel : str or Kernel

    Examples
    --------
    >>> from krein import kernels
    >>> kernels.check("gaussian(sigma=2) + 0.5*linear")
    """
    context = _context.take()
    try:
        text = _rows.text(str(kernel), "kernel")
        context.end(_library.library.krein_check_kernel(context.handle, text))
    finally:
        _context.give(context)


# ---- one function a kernel -------------------------------------------------------------------------


def _value(kernel: Method, option: Option, value: Any) -> str:
    if option.type == "text":
        text = os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)
        if '"' in text or "\0" in text:
            raise ArgumentError("%s: `%s` cannot have a quote inside" % (kernel.name, option.name))
        return '"%s"' % text
    if isinstance(value, str):  # a range for a list of kernels, as "0.1..10:20", or a word
        return value.strip()
    if isinstance(value, (bool, np.bool_)) and option.type == "yes|no":
        return "yes" if value else "no"
    if not _is_number(value):
        raise ArgumentTypeError("%s: `%s` is a number, not %r" % (kernel.name, option.name, value))
    return _number(value)


def _keyword(option: Option) -> str:
    return option.name + "_" if keyword.iskeyword(option.name) else option.name


def _doc(method: Method, options: Dict[str, Option]) -> str:
    lines = ["The kernel %s." % method.summary, ""]
    if method.details:
        lines += [method.details, ""]
    if options:
        lines += ["Parameters", "----------"]
        for name, option in options.items():
            kind = {"number": "float", "integer": "int", "text": "str"}.get(
                option.type, "{%s}" % ", ".join('"%s"' % word for word in option.type.split("|"))
            )
            lines.append("%s : %s, optional" % (name, kind))
            given = "default %s" % option.default if option.default else ""
            within = "in %s" % option.range if option.range else ""
            notes = "; ".join(part for part in (option.help, within, given) if part)
            lines.append("    %s." % (notes[:1].upper() + notes[1:]))
            if not option.default and option.type == "number":
                lines.append("    Chosen from the data when None.")
        lines.append("")
    lines += ["Returns", "-------", "Kernel", ""]
    return "\n".join(lines)


def _function(method: Method, name: str) -> Callable[..., Kernel]:
    options = {_keyword(option): option for option in method.options}

    def make(**given: Any) -> Kernel:
        for key in given:
            if key not in options:
                known = ", ".join(options) if options else "none"
                raise ArgumentTypeError("%s() has no keyword `%s`; it has: %s" % (name, key, known))
        parts = [
            "%s=%s" % (option.name, _value(method, option, given[key]))
            for key, option in options.items()
            if given.get(key) is not None
        ]
        body = "%s(%s)" % (method.name, ", ".join(parts)) if parts else method.name
        return Kernel._made(1.0, body, False)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = _doc(method, options)
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None) for key in options]
    )
    return make


for _method in TABLES["kernels"].values():
    for _name in filter(None, (_method.name, _method.alias)):
        globals()[_name] = _function(_method, _name)
        __all__.append(_name)


def __getattr__(name: str) -> Callable[..., Kernel]:
    raise AttributeError(
        "there is no kernel %s; there are %s" % (name, ", ".join(sorted(TABLES["kernels"])))
    )


def __dir__() -> List[str]:
    return sorted(__all__ + ["check"])
