"""Large-scale kernel machines."""
import ctypes
import os

_library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "lib", "libkrein.so"))
_library.krein_version.restype = ctypes.c_char_p

__version__ = _library.krein_version().decode()
