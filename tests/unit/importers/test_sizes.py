"""A small input that makes a large instance is refused before any of it is made."""

from __future__ import annotations

import pytest

from cpsched.errors import InputError
from cpsched.importers import compact, load
from cpsched.importers.sizes import MOST_MADE, MOST_TEXT
from cpsched.lab.generate import generate
from cpsched.parsing import parse_documents
from tests.judge import cluster, job, pending

LIMIT = f"; one instance has at most {MOST_MADE} of them, in at most {MOST_TEXT} characters"
HALF = MOST_MADE // 2
TALL = "x" * (MOST_TEXT // 1000)
PODS_AND_NODES = cluster(job("a", pending(replicas=HALF)), nodes=[{"name": "n", "replicas": HALF}])

TOO_MANY = {
    "ten jobs of a hundred thousand": (
        cluster(*(job(f"j{number}", pending(replicas=100_000)) for number in range(10))),
        "replicas make 1000000 nodes and pods",
    ),
    "many tasks of one job": (
        cluster(job("a", *(pending(replicas=1000) for _ in range(201)))),
        "replicas make 201000 nodes and pods",
    ),
    "nodes": (
        cluster(nodes=[{"name": f"n{number}", "replicas": 100_000} for number in range(3)]),
        "replicas make 300000 nodes and pods",
    ),
    "nodes and pods": (
        cluster(job("a", pending(replicas=HALF + 1)), nodes=[{"name": "n", "replicas": HALF}]),
        f"replicas make {MOST_MADE + 1} nodes and pods",
    ),
}
TOO_MUCH = {
    "a long label": cluster(job("a", pending(replicas=2000, labels={"a": TALL}))),
    "a long key": cluster(job("a", pending(replicas=2000, annotations={TALL: "a"}))),
    "many short values": cluster(job("a", pending(replicas=2000, tolerations=[{"key": "k"}] * 10_000))),
    "a long name": cluster(job(TALL, pending(replicas=2000))),
    "a long namespace": cluster(job("a", pending(replicas=2000), namespace=TALL)),
    "a node's labels": cluster(nodes=[{"name": "n", "replicas": 2000, "labels": {"a": TALL}}]),
}


@pytest.fixture
def nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*_: object) -> None:
        raise AssertionError("made before the limit was looked at")

    monkeypatch.setattr(compact, "_nodes", made)
    monkeypatch.setattr(compact, "_job", made)


@pytest.mark.usefixtures("nothing_is_made")
@pytest.mark.parametrize(("source", "made"), TOO_MANY.values(), ids=TOO_MANY.keys())
def test_too_many_replicas(source, made):
    """One limit for all nodes and pods that numbers make; the line has the number and the limit."""
    with pytest.raises(InputError) as caught:
        load.load(source)
    assert str(caught.value) == f"input: {made}{LIMIT}"


@pytest.mark.usefixtures("nothing_is_made")
@pytest.mark.parametrize("source", TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_replicas_that_carry_too_much(source):
    """Few replicas of something long are many bytes."""
    with pytest.raises(InputError, match=r"^input: replicas make 2000 nodes and pods in \d+ characters"):
        load.load(source)


@pytest.mark.usefixtures("nothing_is_made")
@pytest.mark.parametrize("replicas", [MOST_MADE + 1, 10**4000])
def test_one_number_beyond_the_limit(replicas):
    """However large, it is one line."""
    for source in (cluster(job("a", pending(replicas=replicas))), cluster(nodes=[{"name": "n", "replicas": replicas}])):
        with pytest.raises(InputError, match=str(MOST_MADE)) as caught:
            load.load(source)
        assert len(str(caught.value)) < 700


def test_what_is_allowed_is_counted_once():
    """Exactly the limit, and what says nothing about replicas, is no matter of this limit."""
    form = compact.parse(PODS_AND_NODES, "input")
    assert next(compact.expand(form, "input"))[0] == "node n-0"
    single = cluster(*(job(f"j{number}", pending()) for number in range(3)), *[job("a", pending(replicas=MOST_MADE))])
    assert next(compact.expand(compact.parse(single, "input"), "input"))[0] == "node n1"


def test_a_list_of_places_is_not_carried_by_every_replica():
    """It has an entry per replica, so it would count twice over."""
    names = [f"{'x' * 200}-{number}" for number in range(3000)]
    assert len(names) * sum(map(len, names)) > MOST_TEXT
    form = compact.parse(cluster(job("a", pending(replicas=3000, running=names))), "input")
    assert next(compact.expand(form, "input"))[0] == "node n1"


def test_a_family_makes_no_instance_that_cannot_be_read():
    """The parameters' ranges allow more pods together than one instance may have."""
    with pytest.raises(InputError, match=rf"^family gang-heavy: replicas make \d+ nodes and pods{LIMIT}$"):
        generate("gang-heavy", {"nodes": 1, "gangs": 5000, "smallest_gang": 1000, "largest_gang": 1000})


def test_yaml_aliases_of_a_long_text():
    """Values are counted with their length: a million references to one megabyte are a terabyte once written out."""
    text = f"a: &long {'x' * 10_000}\nb: [{'*long, ' * 60_000}]\n"
    with pytest.raises(InputError, match="YAML aliases expand to millions of values"):
        parse_documents(text.encode(), "a.yaml")
    assert parse_documents(text.replace("x" * 10_000, "x").encode(), "a.yaml")
