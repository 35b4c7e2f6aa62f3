"""The version, apart, so that no module has to import the package's public face to state it."""

from __future__ import annotations

__version__ = "0.2.0"
SOLVERS = ("ortools", "highspy")


def with_solvers() -> str:
    """The package, its solvers and Python, each with its version; no solver is imported for it."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    parts = [f"cpsched {__version__}"]
    for name in SOLVERS:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            parts.append(f"{name} missing")
    return ", ".join((*parts, f"Python {platform.python_version()}"))
