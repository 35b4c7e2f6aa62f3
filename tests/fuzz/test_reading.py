"""Ten thousand spoiled files: each one loads, or is refused in one line; nothing else happens."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from cpsched.errors import InputError
from cpsched.importers.load import load
from cpsched.objects import KINDS
from tests.fuzz.mutations import BOMBS, mutated_bytes, mutated_value, written
from tests.fuzz.seeds import DATA, SEEDS, Seed

CHUNK = 100


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name)
def test_the_seed_itself_loads(seed: Seed, tmp_path: Path) -> None:
    path = tmp_path / f"seed{seed.suffix}"
    path.write_bytes(seed.text)
    seed.read(path, False)


def test_the_seeds_hold_every_kind_that_is_read() -> None:
    found = {type(item) for item in load(DATA / "every-kind.yaml").objects}
    assert found == set(KINDS.values())


def test_there_are_ten_thousand_inputs() -> None:
    assert sum(seed.chunks for seed in SEEDS) * CHUNK >= 10_000


@pytest.mark.parametrize(
    ("seed", "chunk"),
    [pytest.param(seed, chunk, id=f"{seed.name}-{chunk}") for seed in SEEDS for chunk in range(seed.chunks)],
)
def test_a_spoiled_file_loads_or_is_refused_in_one_line(seed: Seed, chunk: int, tmp_path: Path) -> None:
    value, ends = seed.value, Counter[str]()
    for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        random = Random(f"{seed.name} {number}")
        if random.random() < 0.35:
            suffix, data = seed.suffix, mutated_bytes(random, seed.text)
        else:
            suffix, data = written(random, mutated_value(random, value))
        path = tmp_path / f"spoiled{suffix}"
        path.write_bytes(data)
        try:
            ends[_end(seed, path, lenient=random.random() < 0.3)] += 1
        except Exception as error:
            error.add_note(f"input {number} of seed {seed.name}")
            raise
    assert ends["loaded"] > 0
    assert ends["refused"] > 0


@pytest.mark.parametrize(
    "part", [{"nodes": [{"name": "n", "replicas": 2**31}]}, {"jobs": [{"name": "j", "tasks": [{"replicas": 2**31}]}]}]
)
def test_replicas_are_no_bomb(part: dict[str, object]) -> None:
    with pytest.raises(InputError, match="200000"):
        load({"apiVersion": "cpsched/v1", "kind": "Instance", **part})


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01"])
def test_a_time_that_could_not_be_written_again_is_refused(moment: str) -> None:
    with pytest.raises(InputError, match="is not a time that exists"):
        load({"apiVersion": "cpsched/v1", "kind": "Instance", "now": moment})


@pytest.mark.parametrize("bomb", range(len(BOMBS)))
@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name)
def test_a_bomb_is_refused(seed: Seed, bomb: int, tmp_path: Path) -> None:
    path = tmp_path / "bomb.yaml"
    path.write_text(BOMBS[bomb])
    assert _end(seed, path, lenient=False) == "refused"


def _end(seed: Seed, path: Path, lenient: bool) -> str:
    try:
        seed.read(path, lenient)
    except InputError as error:
        line = str(error)
        assert line == line.strip()
        assert line.isprintable()
        assert len(line) < 2000
        return "refused"
    return "loaded"
