"""No command prints a character of a foreign string that a terminal would obey, hide or reorder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cpsched.cli.commands import app
from tests.cli import hostile
from tests.cli.conftest import Command
from tests.cli.hostile import EVIL, NAMESPACE, engine, obeyed, write_files

ODD_FILE = f"cluster{EVIL.replace('/', '')}.json"
NEVER = f"{NAMESPACE}/never{EVIL}"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written once; the certificate comes from the program itself."""
    import cpsched
    from cpsched.certificate import certify
    from cpsched.importers.policy import load_policy

    folder = tmp_path_factory.mktemp("hostile")
    instance = cpsched.load(hostile.CLUSTER)
    solution = cpsched.solve(instance)
    made = certify(instance, load_policy("volcano", None, instance=instance), solution)
    write_files(folder, made.to_dict())
    (folder / "own-solution.json").write_text(json.dumps(solution.to_dict()))
    return folder


RUNS: dict[str, tuple[str, ...]] = {
    "solve": ("solve", "{cluster}"),
    "solve --json": ("solve", "{cluster}", "--json"),
    "solve volcano": ("solve", "{cluster}", "--engine", "volcano"),
    "solve --trace": ("solve", "{cluster}", "--engine", "volcano", "--trace"),
    "solve --trace --json": ("solve", "{cluster}", "--engine", "volcano", "--trace", "--json"),
    "solve --all-outcomes": ("solve", "{cluster}", "--engine", "volcano", "--all-outcomes"),
    "solve kube": ("solve", "{cluster}", "--engine", "kube", "--model", "kube"),
    "solve --only": ("solve", "{cluster}", "--engine", "kube", "--model", "kube", "--only", EVIL),
    "solve --log": ("solve", "{cluster}", "--log", "-"),
    "solve --model FILE": ("solve", "{cluster}", "--model", "{folder}/model.yaml"),
    "solve --model bad FILE": ("solve", "{cluster}", "--model", "{folder}/bad-model.yaml"),
    "solve --model NAME": ("solve", "{cluster}", "--model", EVIL),
    "solve --engine NAME": ("solve", "{cluster}", "--engine", EVIL),
    "solve --conf": ("solve", "{cluster}", "--conf", "{folder}/conf"),
    "solve --conf --lenient": ("solve", "{cluster}", "--conf", "{folder}/conf", "--lenient"),
    "solve odd FILE": ("solve", "{folder}/" + ODD_FILE),
    "solve no such FILE": ("solve", "{folder}/" + EVIL),
    "solve objects": ("solve", "{folder}/objects.json"),
    "solve exec": ("solve", "{cluster}", "--engine", "{engine}"),
    "solve exec that complains": ("solve", "{cluster}", "--engine", "{complains}"),
    "solve exec that prints rubbish": ("solve", "{cluster}", "--engine", "{rubbish}"),
    "solve exec with an odd argument": ("solve", "{cluster}", "--engine", "{odd}"),
    "solve --shard-nodes": ("solve", "{cluster}", "--sharding", "hard", "--shard-nodes", EVIL),
    "solve -o": ("solve", "{cluster}", "-o", "{folder}/no/such" + EVIL),
    "capture --kubectl": ("capture", "--kubectl", EVIL, "-o", "{folder}/captured.json"),
    "serve": ("serve", "{cluster}", "--host", EVIL),
    "compare": ("compare", "{cluster}", "--cache", "none"),
    "compare --markdown": ("compare", "{cluster}", "--cache", "none", "--markdown"),
    "compare exec": ("compare", "{cluster}", "--cache", "none", "--engines", "optimal", "--engines", "{engine}"),
    "compare odd exec": ("compare", "{cluster}", "--cache", "none", "--engines", "optimal", "--engines", "{odd}"),
    "compare many": ("compare", "{cluster}", "{folder}/objects.json", "{folder}/rows.jsonl", "--cache", "none"),
    "compare recorded": ("compare", "{folder}/rows.jsonl", "--cache", "none", "--engines", "recorded,optimal"),
    "compare odd FILE": ("compare", "{folder}/" + ODD_FILE, "--cache", "none"),
    "check": ("check", "{cluster}", "--cache", "none"),
    "check --github": ("check", "{cluster}", "--cache", "none", "--github"),
    "check exec": ("check", "{cluster}", "--cache", "none", "--engine", "{engine}"),
    "check exec --github": ("check", "{cluster}", "--cache", "none", "--engine", "{engine}", "--github"),
    "check recorded": ("check", "{folder}/rows.jsonl", "--cache", "none", "--engine", "recorded"),
    "diff": ("diff", "{folder}/" + EVIL, "{folder}/rows.jsonl"),
    "explain placed": ("explain", "{cluster}", "--job", f"{NAMESPACE}/waits{EVIL}"),
    "explain": ("explain", "{cluster}", "--job", NEVER),
    "explain --markdown": ("explain", "{cluster}", "--job", NEVER, "--markdown"),
    "explain volcano": ("explain", "{cluster}", "--job", NEVER, "--engine", "volcano"),
    "explain no such job": ("explain", "{cluster}", "--job", EVIL),
    "verify": ("verify", "{folder}/own-solution.json", "{cluster}"),
    "verify foreign": ("verify", "{folder}/solution.json", "{cluster}"),
    "verify certificate": ("verify", "{folder}/certificate.json", "{cluster}"),
    "verify claimed": ("verify", "{folder}/claimed.json", "{cluster}"),
    "verify unknown evidence": ("verify", "{folder}/unknown.json", "{cluster}"),
    "report": ("report", "{cluster}"),
    "report markdown": ("report", "{cluster}", "--format", "markdown"),
    "report exec": ("report", "{cluster}", "--engines", "{engine}"),
    "report --solution": ("report", "{cluster}", "--solution", "{folder}/solution.json"),
    "import": ("import", "{cluster}"),
    "import --report": ("import", "{folder}/objects.json", "--report"),
    "study": ("study", "{scratch}/run", "--instances", "{cluster}", "--engines", "volcano", "--workers", "1"),
    "study exec": ("study", "{scratch}/run", "--instances", "{cluster}", "--engines", "{complains}", "--workers", "1"),
    "generate": ("generate", EVIL),
    "generate --set": ("generate", "contended", "--set", f"{EVIL}={EVIL}"),
    "schema": ("schema", EVIL),
    "corpus export": ("corpus", "export", "{folder}/rows.jsonl", "-o", "{scratch}/corpus.jsonl"),
    "proof export": ("proof", "export", "{folder}/certificate.json", "{cluster}", "-o", "{scratch}"),
    "proof export --level": (
        "proof",
        "export",
        "{folder}/certificate.json",
        "{cluster}",
        "-o",
        "{scratch}",
        "--level",
        EVIL,
    ),
    "proof check": ("proof", "check", "{folder}/" + EVIL),
}


@pytest.mark.parametrize("name", RUNS)
def test_no_name_reaches_the_terminal_raw(cli: Command, files: Path, tmp_path: Path, name: str) -> None:
    places = {
        "folder": files,
        "cluster": files / "cluster.json",
        "scratch": tmp_path,
        **{one: engine(files, one) for one in ("engine", "complains", "rubbish")},
        "odd": engine(files, "engine", EVIL),
    }
    code, out, err = cli(*(part.format(**places) for part in RUNS[name]))
    assert out or err
    assert code in (0, 1, 2, 3)
    assert (obeyed(out), obeyed(err)) == ([], [])


def test_a_report_of_a_study_is_no_other(cli: Command, files: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    cli("study", run, "--instances", files / ODD_FILE, "--engines", "volcano", "--workers", "1")
    code, out, err = cli("report", run)
    assert (code, obeyed(out), obeyed(err)) == (0, [], [])


def test_every_command_is_tried() -> None:
    assert set(_commands()) == {run[0] for run in RUNS.values()}


def test_the_names_are_what_they_should_be() -> None:
    assert len(obeyed(EVIL)) >= 6
    assert not obeyed("plain\n")


def _commands() -> Iterator[str]:
    for command in app.registered_commands:
        assert command.callback is not None
        yield command.name or command.callback.__name__
    for group in app.registered_groups:
        assert group.typer_instance is not None
        yield str(group.name or group.typer_instance.info.name)
