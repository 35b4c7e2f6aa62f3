"""What is missing in a study's rows because it cannot be read, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cpsched.errors import InputError
from cpsched.lab.study.matrix import StudyCell
from cpsched.lab.study.results import Results

MOST_LINES = 20
MOST_NAMES = 5


def gaps(results: Results) -> list[str]:
    """One sentence per line that is left out, then what is missing; empty where nothing is wrong.

    To be asked after the rows were read: what does not fit together shows only there.
    """
    flaws = [*results.contents[1], *results.done.flaws]
    texts = list(_some([*(flaw.error for flaw in flaws), *results.misfits.values()]))
    if results.done.gone:
        texts.append(f"{results.folder.path / 'solutions'}: {results.done.gone} decisions are not there any more")
    unknown = [name for name, key in results.key_by_name.items() if key not in results.contents[0]]
    if unknown:
        texts.append(f"{results.folder.instances.path}: nothing about {_few(unknown)}, so their cells are missing")
    return [*texts, *_missing(results)] if texts else []


def _some(errors: Sequence[InputError]) -> Iterator[str]:
    yield from map(str, errors[:MOST_LINES])
    if len(errors) > MOST_LINES:
        yield f"{errors[-1].file}: {len(errors) - MOST_LINES} more lines cannot be read"


def _missing(results: Results) -> Iterator[str]:
    done = results.done.by_key.keys() - results.misfits.keys()
    missing = [cell for cell in results.plan.cells(results.sources) if cell.key not in done]
    if missing:
        total = results.plan.size(results.sources)
        names = _few([_shown(cell) for cell in missing])
        right = "run the study again, without --export, to run them"
        yield f"{results.folder.path}: {len(missing)} of {total} cells have no result: {names}; {right}"


def _shown(cell: StudyCell) -> str:
    return f"{cell.source.names[0]} (model {cell.model.name}, engine {cell.engine}, seed {cell.seed})"


def _few(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
