"""Krein: large-scale kernel machines."""
from . import estimators as _estimators
from . import functions as _functions
from . import kernels
from . import transformers as _transformers
from ._interface import VERSION as __version__
from .errors import KreinError, KreinWarning
from .estimators import *  # noqa: F401,F403
from .functions import *  # noqa: F401,F403
from .model import Model, load
from .page import Page
from .transformers import *  # noqa: F401,F403

__all__ = ["KreinError", "KreinWarning", "Model", "Page", "load", "kernels", "__version__"]
__all__ += _estimators.__all__ + _transformers.__all__ + _functions.__all__
