from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from cpsched.errors import InputError
from cpsched.policy import LEVEL_KEYS, RULE_KEYS, SENSES, Level, Model, load_model, model_names

VICTIMS = ["victim_max_priority", "victim_priority_sum", "victim_count", "victim_start_time"]
NEAR = ["topology_tier_max", "topology_tier_sum", "hypernodes_used"]
LEVELS = {
    "volcano": [
        "jobs_admitted",
        "gangs_broken",
        *VICTIMS,
        "queue_deficit",
        "tasks_bound",
        "tasks_placed",
        *NEAR,
        "nodes_used",
    ],
    "volcano-fair": [
        "queue_deficit",
        "jobs_admitted",
        "gangs_broken",
        *VICTIMS,
        "tasks_bound",
        "tasks_placed",
        *NEAR,
        "nodes_used",
    ],
    "kube": ["jobs_admitted", "pdb_violations", *VICTIMS, "tasks_bound"],
    "volcano-near": [
        "jobs_admitted",
        "gangs_broken",
        *VICTIMS,
        "topology_tier_max",
        "topology_tier_sum",
        "queue_deficit",
        "tasks_bound",
        "tasks_placed",
        "hypernodes_used",
        "nodes_used",
    ],
    "throughput": ["jobs_admitted", "tasks_placed", *NEAR, "nodes_used"],
}


def model(**fields: Any) -> Model:
    return load_model({"name": "m", "scheduler": "volcano", "levels": ["tasks_bound"], **fields}, file="m.yaml")


def refusal(**fields: Any) -> str:
    with pytest.raises(InputError) as caught:
        model(**fields)
    assert str(caught.value).startswith("m.yaml: ")
    return str(caught.value)


def test_five_models_are_shipped() -> None:
    assert set(model_names()) == set(LEVELS)


@pytest.mark.parametrize("name", LEVELS)
def test_a_shipped_model_has_its_levels_in_order_and_says_when_to_use_it(name: str) -> None:
    shipped = load_model(name)
    assert [level.key for level in shipped.levels] == LEVELS[name]
    assert shipped.name == name
    assert len(shipped.description) > 40


@pytest.mark.parametrize("name", LEVELS)
def test_only_throughput_does_not_settle_victims_between_admissions(name: str) -> None:
    admission = load_model(name).level("jobs_admitted")
    assert admission is not None
    assert admission.victims_between == (name != "throughput")


@pytest.mark.parametrize("name", LEVELS)
def test_a_shipped_model_names_every_rule(name: str) -> None:
    assert tuple(load_model(name).rules.model_dump()) == RULE_KEYS
    assert len(load_model(name).rules.model_fields_set) == len(RULE_KEYS)


@pytest.mark.parametrize("name", LEVELS)
def test_a_model_survives_its_own_dump(name: str) -> None:
    shipped = load_model(name)
    assert load_model(shipped.model_dump(mode="json")) == shipped


def test_rules_of_optimum_are_all_there() -> None:
    assert set(RULE_KEYS) == {
        *(
            "assignment",
            "capacity",
            "filters",
            "nodegroup",
            "cards",
            "numa",
            "usage",
            "topology.job",
            "topology.subgroup",
            "gang",
            "queue",
            "deserved",
            "eviction",
            "eviction.scope",
            "charge",
        ),
        *(
            "protect.gang",
            "protect.conformance",
            "protect.pdb",
            "protect.cooldown",
            "protect.guarantee",
            "enqueue",
            "actions",
        ),
    }


def test_every_level_has_a_sense() -> None:
    names = [name for key in LEVEL_KEYS for name in Level(key=key).names]
    assert sorted(names) == sorted(SENSES)
    assert {name for name in names if SENSES[name] == "max"} == {
        *("jobs_admitted", "victim_start_time", "tasks_bound", "tasks_placed", "resources_placed")
    }
    assert Level(key="queue_deficit").names == ("queue_deficit_max", "queue_deficit_total")


def test_on_and_off_may_be_yaml_booleans_or_texts() -> None:
    rules = {"eviction": False, "charge": "off", "protect.pdb": False, "protect.conformance": True, "gang": "on"}
    read = model(rules=rules).rules
    assert (read.eviction, read.charge, read.protect_pdb) == ("off", "off", "off")
    assert (read.protect_conformance, read.gang) == ("on", "on")


def test_the_defaults_leave_it_to_the_configuration() -> None:
    rules = model().rules
    assert (rules.protect_gang, rules.protect_conformance, rules.protect_pdb) == ("auto", "auto", "auto")
    assert (rules.eviction, rules.eviction_scope, rules.charge) == ("on", "domain", "on")
    assert (model().jobs, model().kube_version, model().conf) == ("podgroups", "1.36", None)


def test_a_release_may_be_written_as_a_number() -> None:
    assert model(kube_version="1.36") == model(kube_version=1.36)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"levels": []}, "m.yaml: levels: [] does not fit"),
        (
            {"levels": ["job_admitted"]},
            "levels[0]: unknown level job_admitted; did you mean jobs_admitted? known: gangs",
        ),
        ({"levels": ["tasks_bound", "tasks_bound"]}, "the level tasks_bound stands twice"),
        ({"levels": [{"victim_count": {"victims_between": True}}]}, "victims_between belongs to jobs_admitted"),
        ({"levels": [{"jobs_admitted": {"victims_btween": True}}]}, "unknown field victims_btween"),
        ({"levels": [{"jobs_admitted": {}, "tasks_bound": {}}]}, "a level is a key, or a mapping of one key"),
        ({"levels": [{"jobs_admitted": {"key": "tasks_bound"}}]}, "key is not an option"),
        ({"levels": [7]}, "a level is a key"),
        (
            {"rules": {"protect.gangs": "keep"}},
            "rules: unknown field protect.gangs; did you mean protect.gang? known: a",
        ),
        ({"rules": {"protect_gang": "keep"}}, "rules: unknown field protect_gang"),
        ({"rules": {"capacity": False}}, "rules.capacity: \"off\" does not fit; it should be 'on'"),
        ({"rules": {"eviction.scope": "zone"}}, "should be 'node', 'domain' or 'cluster'"),
        ({"rules": {"protect.pdb": "soft"}}, "protect.pdb is soft, which needs the level pdb_violations"),
        (
            {"rules": {"protect.pdb": "off"}, "levels": ["pdb_violations"]},
            "the level pdb_violations needs protect.pdb to be",
        ),
        (
            {"rules": {"deserved": "off"}, "levels": ["queue_deficit"]},
            "the level queue_deficit needs the rule deserved",
        ),
        ({"scheduler": "mesos"}, "should be 'volcano' or 'kube'"),
        ({"kube_version": "1.30"}, "should be '1.36' or 'head'"),
        ({"level": []}, "unknown field level; did you mean levels?"),
        ({"name": ""}, "m.yaml: name: "),
    ],
)
def test_a_wrong_model_is_stated_in_one_line(fields: dict[str, Any], text: str) -> None:
    message = refusal(**fields)
    assert text in message
    assert "\n" not in message


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="scheduler: is missing"):
        load_model({"name": "m", "levels": ["tasks_bound"]})


def test_a_model_is_a_mapping() -> None:
    with pytest.raises(InputError, match="is not a model; write name, scheduler and levels"):
        load_model(["volcano"])  # type: ignore[arg-type]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        load_model("volcan")
    assert str(caught.value) == (
        'unknown model "volcan"; did you mean volcano? known: kube, throughput, volcano, volcano-fair, volcano-near'
    )


def test_shipped_models_are_found_from_anywhere(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_model("volcano").name == "volcano"


def test_a_model_is_frozen() -> None:
    with pytest.raises(ValidationError):
        model().name = "other"  # type: ignore[misc]


def test_the_schema_explains_every_field() -> None:
    schema = Model.model_json_schema()
    rules = schema["$defs"]["Rules"]["properties"]
    assert set(rules) == set(RULE_KEYS)
    assert all(field.get("description") for field in [*rules.values(), *schema["properties"].values()])
    assert schema["additionalProperties"] is False
    assert schema["properties"]["levels"]["items"]["anyOf"][0]["enum"] == list(LEVEL_KEYS)
