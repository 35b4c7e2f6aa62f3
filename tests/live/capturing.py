"""A capture of the test bed, through the kubectl that was built with it."""

from __future__ import annotations

from pathlib import Path

from cpsched.capture.kubectl import Kubectl, options_of
from cpsched.capture.take import Capture, take
from tests.live.build import folder
from tests.live.plane import Plane


def captured(plane: Plane, kubeconfig: Path | None = None, as_user: str | None = None) -> Capture:
    """What `cpsched capture` takes."""
    used = str(kubeconfig or plane.kubeconfig)
    options = options_of(context=None, kubeconfig=used, as_user=as_user, as_groups=())
    return take(Kubectl(str(folder() / "kubectl"), options), "test")
