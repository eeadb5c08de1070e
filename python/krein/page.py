"""Pages about models: what `Model.report` makes."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Dict

__all__ = ["Page"]


class Page:
    """A page about a model, and its numbers.

    In a notebook it shows itself. The page is one HTML file that asks for no other.

    Attributes
    ----------
    html : str
        The page.
    numbers : dict
        All numbers of it, as `krein report --json` prints them.
    seconds : float
        That it took.
    """

    def __init__(self, text: str, numbers: str, seconds: float) -> None:
        self.html = text
        self.numbers: Dict[str, Any] = json.loads(numbers)
        self.seconds = seconds

    def save(self, path: Any) -> None:
        """Writes the page to a file."""
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        """For a notebook: a frame of its own, so that styles do not meet."""
        return (
            '<iframe title="Report on a model" sandbox="allow-scripts" style="width:100%%;'
            'height:42rem;border:1px solid #ccc" srcdoc="%s"></iframe>' % html.escape(self.html)
        )

    def __repr__(self) -> str:
        return "Page(%d bytes, %s rows)" % (len(self.html.encode()), self.numbers.get("n"))
