"""Certificates: written by solve, checked by verify; whatever is changed in one is found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import cpsched
from cpsched.certificate import Certificate, verified
from cpsched.importers.policy import load_policy
from tests.cli.conftest import ROOT, Command

Raw = dict[str, Any]
Change = Callable[[Raw], None]


@pytest.fixture
def written(cli: Command, tiny: Path, tmp_path: Path) -> Path:
    file = tmp_path / "certificate.json"
    assert cli("solve", tiny, "--certificate", file).code == 0
    return file


def level(content: Raw, name: str) -> Raw:
    found: Raw = next(one for one in content["levels"] if one["name"] == name)
    return found


def rewrite(file: Path, change: Change, *, seal: bool = True) -> None:
    """Change the file as a forger would: the checksum is made to fit."""
    content = json.loads(file.read_text())
    change(content)
    if seal:
        content = Certificate.parse(content).sealed().to_dict()
    file.write_text(json.dumps(content))


def test_a_true_certificate_is_verified_level_by_level(cli: Command, tiny: Path, written: Path) -> None:
    code, out, err = cli("verify", written, tiny)
    rows = [line.split() for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert ["jobs_admitted[1000]", "1", "1", "all-placed", "verified"] in rows
    assert ["gangs_broken", "0", "0", "zero", "verified"] in rows
    assert ["victim_max_priority", "100", "100", "victims-needed", "verified"] in rows
    assert ["tasks_bound", "0", "0", "counting", "verified"] in rows
    assert out.endswith("Optimal: every bound was computed again, no solver has to be believed.\n")
    assert cli("verify", written, tiny, "--strict").code == 0
    verdict = json.loads(cli("verify", written, tiny, "--json").out)
    assert verdict["optimal"]
    assert all(one["verified"] and one["computed"] == one["value"] for one in verdict["levels"])


def test_schema_describes_what_is_written(cli: Command, written: Path) -> None:
    schema = json.loads(cli("schema", "certificate").out)
    jsonschema.Draft202012Validator(schema).validate(json.loads(written.read_text()))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate({"kind": "Certificate"})


def no_victim(content: Raw) -> None:
    content["decision"]["evictions"] = []


def other_node(content: Raw) -> None:
    content["decision"]["pipelined"] = {}


def cheaper(content: Raw) -> None:
    level(content, "victim_max_priority").update(value=10, bound=10)


def looser(content: Raw) -> None:
    level(content, "victim_count").update(bound=0, proved=False)


def tighter(content: Raw) -> None:
    level(content, "tasks_placed").update(bound=0)


def no_better(content: Raw) -> None:
    level(content, "victim_count").update(bound=2, evidence={"kind": "claimed", "by": "cp-sat"})


def wrong_kind(content: Raw) -> None:
    level(content, "gangs_broken").update(evidence={"kind": "all-placed"})


def no_time(content: Raw) -> None:
    level(content, "victim_start_time").update(bound="soon")


def later_proof(content: Raw) -> None:
    level(content, "gangs_broken").update(proved=False)


def other_instance(content: Raw) -> None:
    content["instance_sha256"] = "0" * 64


def other_policy(content: Raw) -> None:
    content["policy_sha256"] = "0" * 64


def dropped(content: Raw) -> None:
    content["levels"] = content["levels"][:-1]


def emptied(content: Raw) -> None:
    content["levels"] = []


def reversed_(content: Raw) -> None:
    content["levels"].reverse()


def swapped(content: Raw) -> None:
    content["levels"][3:5] = reversed(content["levels"][3:5])


def doubled(content: Raw) -> None:
    content["levels"].append(content["levels"][-1])


def idle(content: Raw) -> None:
    """Decides nothing and leaves out the levels that would show it."""
    content.update(decision={}, levels=[])


NOT_THE_POLICYS = "its levels are not those of the policy: level"


@pytest.mark.parametrize(
    ("change", "output"),
    [
        (no_victim, "more nvidia.com/gpu is promised than will be free"),
        (other_node, "no task placed on gpu-node for a starving job may evict it"),
        (cheaper, "min 10 is stated; it is min 100"),
        (looser, "bound 0 is stated; implied shows 1"),
        (tighter, "nothing better than 0 is claimed to exist, but the decision is"),
        (no_better, "nothing better than 2 is claimed to exist, but the decision is"),
        (wrong_kind, "all-placed says nothing of this level"),
        (no_time, "bound soon is no value of this level"),
        (later_proof, "victim_max_priority is called proved after a level that stayed open"),
        (other_instance, "was made from another input: instance_sha256 differs"),
        (other_policy, "was made under another policy: policy_sha256 differs"),
        (dropped, f"{NOT_THE_POLICYS} 11 is missing, nodes_used is right"),
        (emptied, f"{NOT_THE_POLICYS} 1 is missing, jobs_admitted[1000] is right"),
        (reversed_, f"{NOT_THE_POLICYS} 1 is nodes_used, jobs_admitted[1000] is right"),
        (swapped, f"{NOT_THE_POLICYS} 4 is victim_count, victim_priority_sum is right"),
        (doubled, f"{NOT_THE_POLICYS} 12 is nodes_used, none is right"),
        (idle, f"{NOT_THE_POLICYS} 1 is missing, jobs_admitted[1000] is right"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_lie_is_found(cli: Command, tiny: Path, written: Path, change: Change, output: str) -> None:
    rewrite(written, change)
    code, out, err = cli("verify", written, tiny)
    assert (code, err) == (1, "")
    assert output in out
    assert out.endswith("the certificate does not hold.\n")
    assert json.loads(cli("verify", written, tiny, "--json").out)["findings"]


def test_a_slip_of_the_editor_is_found(cli: Command, tiny: Path, written: Path) -> None:
    rewrite(written, lambda content: content["versions"].update(cpsched="9"), seal=False)
    code, out, _ = cli("verify", written, tiny)
    assert code == 1
    assert "was changed after it was written: its checksum is another" in out


def test_another_input_or_configuration_does_not_fit(cli: Command, tiny: Path, written: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    content = json.loads(tiny.read_text())
    content["nodes"][0]["allocatable"]["cpu"] = "65"
    other.write_text(json.dumps(content))
    code, out, _ = cli("verify", written, other)
    assert code == 1
    assert "was made from another input" in out
    code, out, _ = cli("verify", written, tiny, "--model", "volcano-fair")
    assert code == 1
    assert "was made under another policy" in out


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ('{"kind": "Certificate"}', "model: is missing"),
        ('{"kind": "Certificate", "apiVersion": "cpsched/v9"}', "apiVersion: \"cpsched/v9\" should be 'cpsched/v1'"),
    ],
)
def test_what_cannot_be_read_is_one_line(cli: Command, tiny: Path, tmp_path: Path, text: str, output: str) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(text)
    assert cli("verify", path, tiny) == (2, "", f"cpsched: error: {path}: {output}\n")


def test_a_truncated_file_and_unknown_evidence_are_one_line(cli: Command, tiny: Path, written: Path) -> None:
    text = written.read_text()
    rewrite(written, lambda content: level(content, "victim_count").update(evidence={"kind": "oracle"}))
    code, out, err = cli("verify", written, tiny)
    known = "known: zero, all-placed, implied, counting, victims-needed, steps, claimed"
    line = f"cpsched: error: {written}: victim_count: unknown kind of evidence oracle; {known}\n"
    assert (code, out, err) == (2, "", line)
    written.write_text(text[: len(text) // 2])
    code, out, err = cli("verify", written, tiny)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"cpsched: error: {written}: ")


def test_claims_are_shown_as_claims(cli: Command, tmp_path: Path) -> None:
    """What only a solver knows keeps the solver's name, and what can be shown without it stands beside it."""
    instance = ROOT / "instances" / "tiny" / "anti-affinity.json"
    file = tmp_path / "certificate.json"
    cli("solve", instance, "--certificate", file, "--prover", "cp-sat", "--proofs", "none")
    content = json.loads(file.read_text())
    claims = {one["name"] for one in content["levels"] if one["evidence"]["kind"] == "claimed"}
    code, out, _ = cli("verify", file, instance)
    assert code == 3
    assert claims
    assert out.count("claimed by cp-sat (without it: ") == len(claims)
    last = f"Not verified: {len(claims)} of {len(content['levels'])} levels rest on unverified bounds (source: cp-sat)."
    last += " One program alone vouches for each: cp-sat presolves."
    assert out.splitlines()[-1] == last
    assert cli("verify", file, instance, "--strict").code == 1
    verdict = json.loads(cli("verify", file, instance, "--json").out)
    assert (verdict["optimal"], len(verdict["unverified"])) == (False, len(claims))


def test_nothing_but_claims_is_no_success(cli: Command, tiny: Path, written: Path) -> None:
    """A decision that does nothing, with its own values claimed as bounds on every level."""

    def all_claimed(content: Raw) -> None:
        instance = cpsched.load(tiny)
        worth = cpsched.solve(instance, engine=f"exec:{sys.executable} -c print('{{}}')").levels
        content["decision"] = {}
        for one, own in zip(content["levels"], worth, strict=True):
            one.update(value=own.value, bound=own.value, evidence={"kind": "claimed", "by": "highs"})

    rewrite(written, all_claimed)
    code, out, _ = cli("verify", written, tiny)
    assert code == 3
    assert out.splitlines()[-1] == "Not verified: 11 of 11 levels rest on unverified bounds (source: highs)." + (
        " One program alone vouches for each: highs computes in floating point."
    )
    assert cli("verify", written, tiny, "--strict").code == 1


def test_an_open_level_below_a_claim_is_named_too(cli: Command, tiny: Path, written: Path) -> None:
    def weaker(content: Raw) -> None:
        content["levels"][-1].update(bound=0, proved=False, evidence={"kind": "zero"})
        content["levels"][0].update(evidence={"kind": "claimed", "by": "lp"})

    rewrite(written, weaker)
    code, out, _ = cli("verify", written, tiny)
    output = "1 of 11 levels rest on unverified bounds (source: lp); 1 of 11 levels are not proved."
    assert (code, out.splitlines()[-1]) == (3, f"Not verified: {output}")


@pytest.mark.parametrize(
    ("evidence", "output"),
    [
        (
            {"kind": "claimed", "by": "none: every bound was computed again"},
            'a bound is claimed by "none: every bound was computed again"; '
            "by is one of bound, counting, lp, packing, cp-sat, highs",
        ),
        ({"kind": "claimed"}, 'a bound is claimed by ""; by is one of bound, counting, lp, packing, cp-sat, highs'),
        ({"kind": "claimed", "by": ["cp-sat"]}, "by: a list should be a text"),
        ({"kind": "zero", "by": "cp-sat"}, 'by stands beside evidence of kind "zero"; only a claimed bound has it'),
    ],
)
def test_only_a_prover_can_claim(cli: Command, tiny: Path, written: Path, evidence: Raw, output: str) -> None:
    rewrite(written, lambda content: content["levels"][0].update(evidence=evidence), seal=False)
    code, out, err = cli("verify", written, tiny)
    assert (code, out) == (2, "")
    assert err.startswith(f"cpsched: error: {written}: levels.0.evidence")
    assert err.endswith(f"{output}\n")
    schema = json.loads(cli("schema", "certificate").out)
    if isinstance(evidence.get("by"), list) or "none" in evidence.get("by", ""):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(schema).validate(json.loads(written.read_text()))


def test_a_heuristics_decision_may_be_proved_too(cli: Command, tiny: Path, tmp_path: Path) -> None:
    """The mirror evicts one too many; its certificate says how far counting alone sees it from the best."""
    file = tmp_path / "certificate.json"
    cli("solve", tiny, "--engine", "volcano", "--certificate", file)
    content = json.loads(file.read_text())
    assert level(content, "jobs_admitted")["proved"]
    assert not all(one["proved"] for one in content["levels"])
    assert cli("verify", file, tiny).code == 0
    assert "levels are not proved" in cli("verify", file, tiny).out
    assert cli("verify", file, tiny, "--strict").code == 1


def test_python_certifies_and_verifies(tiny: Path) -> None:
    instance = cpsched.load(tiny)
    certificate = cpsched.certify(instance, cpsched.solve(instance, workers=1))
    checked = verified(instance, load_policy("volcano", None, instance=instance), certificate)
    assert checked.is_optimal
    assert Certificate.parse(certificate.to_dict()) == certificate


def test_no_solver_is_imported(process: Command, tiny: Path, written: Path) -> None:
    code = (
        "import sys\nfrom cpsched.cli.main import run\n"
        "try:\n    run()\nfinally:\n    print([name for name in sys.modules if name.split('.')[0] == 'ortools'])"
    )
    ended = process("verify", written, tiny, code=code)
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "[]"
