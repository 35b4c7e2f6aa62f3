"""What levels read of a victim decides which victims are one class."""

from __future__ import annotations

import pytest

from cpsched.optimum.model.level_traits import LEVEL_TRAITS, LevelTraits, Reads
from cpsched.optimum.model.symmetry import build_classes
from tests.judge import cluster, job, pending, running, snapshot_of


def victim_classes() -> int:
    """Two jobs of one pod each on a node, alike in all but their names, which a third may evict."""
    old = [job(name, running(), priority=10, minMember=0) for name in ("one", "two")]
    snapshot = snapshot_of(cluster(*old, job("new", pending(2), priority=100), nodes=2))
    return len(build_classes(snapshot).victims)


def test_victims_of_several_jobs_are_one_class_where_no_level_reads_the_job() -> None:
    assert victim_classes() == 1


def test_a_level_that_reads_the_job_splits_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEVEL_TRAITS, "victim_count", LevelTraits(reads=frozenset({Reads.VICTIM_JOB})))
    assert victim_classes() == 2


def test_a_level_that_reads_minima_splits_no_class_without_minima(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEVEL_TRAITS, "victim_count", LevelTraits(reads=frozenset({Reads.VICTIM_JOB_MINIMUM})))
    assert victim_classes() == 1
