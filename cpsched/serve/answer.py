"""The page: the cluster as given, changed as asked, decided by the mirror and by the optimum."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cpsched.checker import stamped
from cpsched.engines import run
from cpsched.errors import InputError
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.options import Options
from cpsched.policy import model_names
from cpsched.report.decisions import decision_report
from cpsched.report.document import Cell, Report
from cpsched.report.explained import explained
from cpsched.report.html import ChangeForm, html
from cpsched.report.scene import Scene
from cpsched.serve.change_request import FIELDS, ChangeRequest
from cpsched.serve.changed import changed_section
from cpsched.what_if.changes import Changes


@dataclass(frozen=True)
class Session:
    """What the command line gave: the cluster, the configuration, the options."""

    cluster: tuple[str, ...]
    model: str | None
    conf: str | None
    options: Options

    def page(self, request: ChangeRequest) -> str:
        """The page that answers the request; what is wrong with the request stands on top of the unchanged one."""
        form = ChangeForm(dict.fromkeys(FIELDS, "") | dict(request.fields), model_names())
        try:
            scene, found = self._report(request.model or self.model, request.changes)
        except InputError as error:
            _, given = self._report(self.model, Changes())
            wrong = Cell(f"Not changed: {error}", "worse")
            return html(replace(given, verdict=(wrong, *given.verdict)), form)
        if request.changes or request.model:
            found = self._beside_the_given(scene, found)
        return html(found, form)

    def _beside_the_given(self, scene: Scene, found: Report) -> Report:
        """With what was decided without any change, and the pods that this treats otherwise."""
        before, given = self._report(self.model, Changes())
        names = tuple(view.name for view in before.views)
        lines = [
            Cell(f"Without these changes: {one.text}", "quiet") for one in given.verdict if one.text.startswith(names)
        ]
        first, *sections = found.sections
        return replace(
            found, verdict=(*found.verdict, *lines), sections=(first, changed_section(before, scene), *sections)
        )

    def _report(self, model: str | None, changes: Changes) -> tuple[Scene, Report]:
        instance = load(self.cluster, changes=changes)
        policy = load_policy(model, self.conf, instance=instance)
        names = ("kube" if policy.is_kube else "volcano", "optimal")
        solutions = [stamped(instance, run(name, instance, policy, self.options)) for name in names]
        scene = Scene.of(instance, policy, solutions, names)
        return scene, decision_report(scene, left_pending=explained(scene, self.options))
