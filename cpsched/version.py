"""The version, apart, so that no module has to import the package's public face to state it."""

from __future__ import annotations

__version__ = "0.1.0"
