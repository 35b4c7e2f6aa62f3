"""`cpsched schema`: what is shipped and what is written fits, what is wrong does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from cpsched import load
from tests.cli.conftest import ROOT, Command


@pytest.fixture
def schema(cli: Command) -> Any:
    def of(what: str) -> Draft202012Validator:
        code, out, err = cli("schema", what)
        assert (code, err) == (0, "")
        found = json.loads(out)
        Draft202012Validator.check_schema(found)
        return Draft202012Validator(found)

    return of


def test_shipped_instances_fit(schema: Any) -> None:
    validator, fitting = schema("instance"), 0
    for path in sorted((ROOT / "instances").rglob("*.json")):
        data = json.loads(path.read_text())
        if isinstance(data, dict) and data.get("kind") == "Instance":
            validator.validate(data)
            fitting += 1
    assert fitting > 10


def test_a_normalised_instance_fits(schema: Any) -> None:
    validator = schema("instance")
    validator.validate(load(ROOT / "tests" / "fuzz" / "data" / "every-kind.yaml").to_dict())
    assert not validator.is_valid({"kind": "Instance", "node": []})
    assert not validator.is_valid({"kind": "Instance", "nodes": [{"name": "n", "replicas": -1}]})
    assert validator.is_valid({"kind": "Instance", "jobs": [{"name": "j", "tasks": [{"nodeSelector": {}}]}]})
    assert not validator.is_valid({"kind": "Instance", "jobs": [{"name": "j", "tasks": [{"nodeselector": {}}]}]})
    assert validator.is_valid({"kind": "Instance", "priorityClasses": {"high": 1}})
    assert not validator.is_valid({"kind": "Instance", "priorityClasses": {"high": "1"}})


def test_shipped_models_fit(schema: Any) -> None:
    validator = schema("model")
    models = sorted((ROOT / "models").glob("*.yaml"))
    assert models
    for path in models:
        validator.validate(yaml.safe_load(path.read_text()))
    assert not validator.is_valid({"name": "x", "scheduler": "volcano", "levels": ["nonsense"]})


def test_a_solution_fits(schema: Any, cli: Command, tiny: Path) -> None:
    validator = schema("solution")
    solution = json.loads(cli("solve", tiny, "--json").out)
    validator.validate(solution)
    assert not validator.is_valid({**solution, "status": "perfect"})


def test_it_goes_into_a_file(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    assert cli("schema", "model", "-o", file) == (0, "", "")
    assert file.read_text() == cli("schema", "model").out
