"""Krein: large-scale kernel machines."""
from ._interface import VERSION as __version__
from .errors import KreinError, KreinWarning
from .model import Model, load

__all__ = ["KreinError", "KreinWarning", "Model", "load", "__version__"]
