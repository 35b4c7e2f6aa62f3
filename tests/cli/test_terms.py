"""Under which model, release and shard a stored decision is checked: no document chooses a file, and all is stated."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import cpsched
from cpsched.certificate import Certificate
from cpsched.complaints import shown
from cpsched.solution import Solution
from tests.cli.conftest import ROOT, Command

Raw = dict[str, Any]
KUBE = ROOT / "instances" / "tiny" / "kube-greedy-not-minimum.yaml"
LAX = "name: volcano\nscheduler: volcano\nrules: {eviction: off}\nlevels: [nodes_used]\n"
"""Calls itself volcano, but no task may be evicted and one level counts: doing nothing is optimal."""
TITLE = "volcano (from lax.yaml)"
KNOWN = "kube, throughput, volcano, volcano-fair, volcano-near"
REFUSED = f"is not a shipped model; known: {KNOWN}; a model file is read only if you"


@pytest.fixture
def lax(tmp_path: Path) -> Path:
    path = tmp_path / "lax.yaml"
    path.write_text(LAX)
    return path


def solved(cli: Command, folder: Path, *arguments: object) -> tuple[Path, Path]:
    """A Solution and a Certificate of one run."""
    solution, certificate = folder / "solution.json", folder / "certificate.json"
    assert cli("solve", *arguments, "-o", solution, "--certificate", certificate).code == 0
    return solution, certificate


def rewritten(path: Path, change: Callable[[Raw], object]) -> Path:
    """Changed, with a checksum that fits."""
    content = json.loads(path.read_text())
    change(content)
    if content["kind"] == "Certificate":
        content = Certificate.parse(content).sealed().to_dict()
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def no_file_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(path: object) -> None:
        raise AssertionError(f"{path} was opened")

    monkeypatch.setattr("cpsched.importers.policy.read_document", fails)


@pytest.mark.usefixtures("no_file_is_opened")
@pytest.mark.parametrize("named", ["{lax}", "/etc/passwd", "mine", TITLE, "\x1b[2J" + "x" * 900])
def test_a_document_names_no_model_file(cli: Command, tiny: Path, lax: Path, tmp_path: Path, named: str) -> None:
    solution, certificate = solved(cli, tmp_path, tiny)
    comparison = tmp_path / "comparison.json"
    assert cli("compare", tiny, "--cache", "none", "-o", comparison).code == 0
    model = named.format(lax=lax)

    def name_it(content: Raw) -> None:
        for one in (content, *(engine["solution"] for engine in content.get("engines", ()))):
            one["model"] = model

    for path in (solution, certificate, comparison):
        rewritten(path, name_it)
    (tmp_path / tiny.name).write_text(tiny.read_text())
    for command in (
        ("verify", solution, tiny),
        ("verify", certificate, tiny),
        ("verify", certificate, tiny, "--json"),
        ("report", tiny, "--solution", solution),
        ("report", tiny, "--solution", comparison),
        ("report", comparison),
    ):
        code, out, err = cli(*command)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f': model: "{model[:40]}'.replace("\x1b", "\\x1b") in err
        assert REFUSED in err
        assert "\x1b" not in err
        assert len(err) < 600


def test_named_by_the_user_the_file_holds(cli: Command, tiny: Path, lax: Path, tmp_path: Path) -> None:
    solution, certificate = solved(cli, tmp_path, tiny, "--model", lax)
    output = f"Checked under model volcano, not a shipped one, from {lax}; configuration: the scheduler's default.\n"
    for path in (solution, certificate):
        code, out, err = cli("verify", path, tiny, "--model", lax)
        assert (code, err) == (0, "")
        assert out.partition("\n")[2].startswith(output)
        shown = json.loads(cli("verify", path, tiny, "--model", lax, "--json").out)
        assert (shown["model"], shown["shipped"], shown["model_file"]) == (TITLE, False, str(lax))
    assert cli("verify", certificate, tiny, "--model", "volcano").code == 1
    warned = cli("verify", solution, tiny, "--model", "volcano")
    assert f'made under another policy: model "{TITLE}", here model volcano; see --model' in warned.err


def test_no_other_model_is_shown_as_a_shipped_one(cli: Command, tiny: Path, lax: Path, tmp_path: Path) -> None:
    solution, certificate = solved(cli, tmp_path, tiny, "--model", lax)
    assert json.loads(solution.read_text())["model"] == TITLE
    assert json.loads(certificate.read_text())["model"] == TITLE
    facts_shown = ("--model", lax, "--cache", "none")
    assert json.loads(cli("compare", tiny, *facts_shown, "--json").out)["model"] == TITLE
    assert json.loads(cli("check", tiny, *facts_shown, "--json").out)["cases"][0]["model"] == TITLE
    assert json.loads(cli("explain", tiny, "--job", "default/urgent", "--model", lax, "--json").out)["model"] == TITLE
    run = tmp_path / "run"
    study = cli("study", run, "--instances", tiny, "--models", lax, "--workers", "1", "--json")
    assert [row["model"] for row in json.loads(study.out)["summary"]] == [TITLE, TITLE]
    for command in (
        ("solve", tiny, "--model", lax),
        ("compare", tiny, *facts_shown),
        ("compare", tiny, *facts_shown, "--markdown"),
        ("report", tiny, "--model", lax),
        ("report", run),
    ):
        out = cli(*command).out
        assert TITLE.replace("(", r"\(") in out or TITLE in out
        assert "model volcano\n" not in out
        assert "model volcano:" not in out
    text = str(cpsched.compare(cpsched.load(tiny), model=yaml.safe_load(LAX)))
    assert "model volcano (from a mapping)\n" in text


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("mine", "mine"),
        ("Volcano", "Volcano (from m.yaml)"),
        ("volcano ", "volcano  (from m.yaml)"),
        ("v\u043elcano", "v\u043elcano (from m.yaml)"),
    ],
)
def test_names_that_look_like_a_shipped_one(tiny: Path, tmp_path: Path, name: str, title: str) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(LAX) | {"name": name}))
    assert cpsched.solve(cpsched.load(tiny), model=path, engine="volcano").model == title


def test_a_copy_of_a_shipped_model_is_that_model(cli: Command, tiny: Path, tmp_path: Path) -> None:
    copied = shutil.copy(ROOT / "models" / "volcano.yaml", tmp_path / "copy.yaml")
    solution, _ = solved(cli, tmp_path, tiny, "--model", copied)
    assert json.loads(solution.read_text())["model"] == "volcano"
    assert cli("verify", solution, tiny).err == ""
    assert "Checked under model volcano, a shipped model;" in cli("verify", solution, tiny, "--model", copied).out


def test_it_says_whose_configuration_holds(cli: Command, tiny: Path, tmp_path: Path) -> None:
    own = {"actions": "allocate, backfill", "tiers": [{"plugins": [{"name": "gang"}, {"name": "predicates"}]}]}
    conf = tmp_path / "own.conf"
    conf.write_text(yaml.safe_dump(own))
    with_own = tmp_path / "with-own.json"
    with_own.write_text(json.dumps(json.loads(tiny.read_text()) | {"conf": own}))
    idle = tmp_path / "idle.json"
    idle.write_text("{}")
    for arguments, words, source, file in (
        ((tiny,), "the model's", "model", None),
        ((with_own,), "the input's own", "input", None),
        ((with_own, "--conf", conf), f"{conf} (--conf)", "--conf", str(conf)),
    ):
        output = f"Checked under model volcano, a shipped model; configuration: {words}.\n"
        assert cli("verify", idle, *arguments).out.partition("\n")[2].startswith(output)
        shown = json.loads(cli("verify", idle, *arguments, "--json").out)
        assert shown["configuration"] == {"from": source, "file": file}
        assert (shown["model"], shown["shipped"], shown["kube_version"]) == ("volcano", True, None)
    solution, _ = solved(cli, tmp_path, tiny, "--conf", conf)
    warned = cli("verify", solution, tiny)
    assert "made under another policy: the same model, but another content or configuration; see --model" in warned.err
    assert json.loads(cli("verify", solution, tiny, "--json").out)["same_policy"] is False
    assert cli("verify", solution, tiny, "--conf", conf).err == ""


def test_the_release_is_the_documents_own(cli: Command, tmp_path: Path) -> None:
    solution, certificate = solved(cli, tmp_path, KUBE, "--model", "kube", "--kube-version", "head")
    for path in (solution, certificate):
        assert json.loads(path.read_text())["kube_version"] == "head"
        code, out, err = cli("verify", path, KUBE)
        assert (code in (0, 3), err) == (True, "")
        assert out.partition("\n")[2].startswith(
            "Checked under model kube, a shipped model; kube-scheduler head; configuration: "
        )
        assert json.loads(cli("verify", path, KUBE, "--json").out)["kube_version"] == "head"
        assert cli("verify", path, KUBE, "--kube-version", "head").code == code
    other = cli("verify", certificate, KUBE, "--kube-version", "1.36")
    output = 'model "kube" of kube-scheduler head, here model kube of kube-scheduler 1.36;'
    assert other.code == 1
    assert f"was made under another policy: policy_sha256 differs: {output}" in other.out
    assert output in cli("verify", solution, KUBE, "--kube-version", "1.36").err
    assert cli("report", KUBE, "--solution", solution).err == ""
    assert output in cli("report", KUBE, "--solution", solution, "--kube-version", "1.36").err


@pytest.mark.parametrize("release", ["1.99", "../head", 136])
def test_a_release_that_is_not_known_is_refused(cli: Command, tmp_path: Path, release: object) -> None:
    for path in solved(cli, tmp_path, KUBE, "--model", "kube"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"kube_version": release}))
        output = f"cpsched: error: {path}: kube_version: {shown(release)} should be '1.36', 'head' or ''\n"
        assert cli("verify", path, KUBE) == (2, "", output)


def test_older_files_are_checked_as_before(cli: Command, tmp_path: Path) -> None:
    def older(content: Raw) -> None:
        content.pop("kube_version")
        if content["kind"] == "Solution":
            content.pop("policy_sha256")

    for path in solved(cli, tmp_path, KUBE, "--model", "kube"):
        before = cli("verify", path, KUBE)
        assert cli("verify", rewritten(path, older), KUBE) == before
        assert "kube-scheduler 1.36" in before.out


def test_a_certificate_of_an_earlier_version_keeps_its_checksum() -> None:
    """Written by commit 691c075 for KUBE, before certificates stated a release or a shard."""
    content = json.loads((Path(__file__).parent / "data" / "earlier.certificate.json").read_text())
    assert Certificate.parse(content).checksum() == content["sha256"]
    assert Certificate.parse(content).to_dict() == content


def test_recorded_decisions_say_what_they_were_made_under(cli: Command, tmp_path: Path) -> None:
    solution, _ = solved(cli, tmp_path, KUBE, "--model", "kube", "--kube-version", "head")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    shutil.copy(KUBE, corpus / "case.yaml")
    shutil.copy(solution, corpus / "case.solution.json")
    output = (
        'was made under another policy: model "kube" of kube-scheduler head, here model kube of kube-scheduler 1.36;'
    )
    facts_shown = (corpus, "--model", "kube", "--cache", "none")
    assert output in cli("compare", *facts_shown, "--engines", "recorded").err
    assert output in cli("check", *facts_shown, "--engine", "recorded").err
    assert output not in cli("compare", *facts_shown, "--engines", "recorded", "--kube-version", "head").err


def test_a_shard_is_the_users_to_state(cli: Command, tiny: Path, tmp_path: Path) -> None:
    shard = ("--sharding", "hard", "--shard-nodes", "gpu-node")
    solution, certificate = solved(cli, tmp_path, tiny, *shard)
    output = 'sharding hard of nodes "gpu-node", here no sharding; see --sharding and --shard-nodes'
    for path in (solution, certificate):
        assert json.loads(path.read_text())["sharding"] == {"mode": "hard", "nodes": ["gpu-node"], "name": ""}
        code, out, err = cli("verify", path, tiny, *shard)
        assert (code, err) == (0, "")
        assert out.partition("\n")[2].startswith(
            "Checked under model volcano, a shipped model; sharding hard, 1 in the shard; "
        )
    assert f"was made from another input (instance_sha256 differs): {output}" in cli("verify", solution, tiny).err
    code, out, _ = cli("verify", certificate, tiny)
    assert code == 1
    assert f"was made from another input: instance_sha256 differs: {output}" in out
    assert cli("verify", solution, tiny, "--shard-nodes", "gpu-node").code == 2


def test_a_certificate_does_not_choose_the_shard(cli: Command, tiny: Path, tmp_path: Path) -> None:
    """In an empty shard nothing can be placed, so doing nothing would be optimal."""
    _, certificate = solved(cli, tmp_path, tiny, "--sharding", "hard")
    assert cli("verify", certificate, tiny, "--sharding", "hard").out.endswith("no solver has to be believed.\n")
    here = cpsched.load(tiny).sha256
    for change in ({"versions": {}}, {"instance_sha256": here}):
        certificate = rewritten(certificate, partial(dict.update, **change))
        code, out, _ = cli("verify", certificate, tiny)
        assert code == 1
        assert out.endswith("the certificate does not hold.\n")


def test_schemas_know_what_documents_carry(cli: Command, tiny: Path, tmp_path: Path) -> None:
    for arguments in ((tiny, "--sharding", "soft"), (KUBE, "--model", "kube", "--kube-version", "head")):
        for path in solved(cli, tmp_path, *arguments):
            content = json.loads(path.read_text())
            schema = json.loads(cli("schema", content["kind"].lower()).out)
            jsonschema.Draft202012Validator(schema).validate(content)
            for wrong in ({"kube_version": "1.99"}, {"sharding": {"mode": "very hard"}}):
                with pytest.raises(jsonschema.ValidationError):
                    jsonschema.Draft202012Validator(schema).validate(content | wrong)


def test_python_takes_the_release_too() -> None:
    instance = cpsched.load(KUBE)
    found = cpsched.solve(instance, "kube", kube_version="head", prover="cp-sat", workers=1)
    assert (found.kube_version, found.policy_sha256) != ("", "")
    assert cpsched.verify(instance, found, "kube", kube_version="head") == ()
    claims = [one for one in cpsched.certify(instance, found, "kube", kube_version="head").levels if one.evidence.by]
    assert claims
    # Bounds of a search under another release are no claims here.
    assert not [one for one in cpsched.certify(instance, found, "kube").levels if one.evidence.by]
    assert Solution.parse(found.to_dict()).to_dict() == found.to_dict()


def test_a_study_goes_on_with_the_models_in_its_folder(cli: Command, tiny: Path, lax: Path, tmp_path: Path) -> None:
    """Its folder may be another task's: the files that it names are not opened again."""
    conf = tmp_path / "own.conf"
    conf.write_text("actions: allocate\ntiers:\n- plugins: [{name: gang}, {name: predicates}]\n")
    run = tmp_path / "run"
    facts_shown = ("--instances", tiny, "--models", f"{lax},throughput", "--conf", conf, "--engines", "volcano")
    assert cli("study", run, *facts_shown, "--workers", "1").code == 0
    lax.unlink()
    conf.unlink()
    ended = cli("study", run, "--seeds", "1..2", "--workers", "1", "--json")
    assert (ended.code, json.loads(ended.out)["ran"]) == (0, 2)
    assert [row["model"] for row in json.loads(ended.out)["summary"]] == [TITLE, "throughput"]
    assert f"{lax}: no such file" in cli("study", run, "--models", lax).err
    assert f"{conf}: no such file" in cli("study", run, "--conf", conf).err


def test_the_models_of_a_study_are_what_they_contain(cli: Command, tiny: Path, lax: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert cli("study", run, "--instances", tiny, "--models", lax, "--engines", "volcano", "--workers", "1").code == 0
    for stated in ({"name": "volcano"}, {"name": "volcano", "file": "volcano.yaml"}):
        study = json.loads((run / "study.json").read_text())
        study["models"] = [stated | {"content": yaml.safe_load(LAX)}]
        (run / "study.json").write_text(json.dumps(study))
        title = f"volcano (from {stated.get('file', 'study.json')})"
        [row] = json.loads(cli("study", run, "--export", "--json").out)["summary"]
        assert row["model"] == title
        assert f"volcano under {title}" in cli("report", run).out
