"""A control plane for the tests of a module; what it runs is stopped afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.build import missing
from tests.live.plane import Plane


@pytest.fixture(scope="session", autouse=True)
def _is_built() -> None:
    if reasons := missing():
        pytest.fail(f"tests/live cannot run ({'; '.join(reasons)}): make live")


def _started(place: Path) -> Iterator[Plane]:
    plane = Plane(place)
    try:
        plane.start()
        yield plane
    finally:
        plane.stop()


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """Shared by the tests of a module."""
    yield from _started(tmp_path_factory.mktemp("plane"))


@pytest.fixture
def own_plane(tmp_path: Path) -> Iterator[Plane]:
    """For one test alone."""
    yield from _started(tmp_path)
