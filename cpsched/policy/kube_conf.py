"""KubeSchedulerConfiguration: profiles, extenders and the queue's back-off, every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from cpsched.objects.base import Items
from cpsched.policy.kube_extender import Extender, checked_extenders, ignored_resources
from cpsched.policy.kube_profile import Profile, ProfileShape, resolve_profile
from cpsched.policy.kube_registry import VERSIONS, KubeVersion
from cpsched.policy.notes import Notes, shown
from cpsched.policy.shapes import ClosedShape, plain, validated

KIND = "KubeSchedulerConfiguration"
GROUP = "kubescheduler.config.k8s.io"


class ConfigurationShape(ClosedShape):
    """The configuration as it is written; what does not touch decisions is read and left aside."""

    api_version: Literal["kubescheduler.config.k8s.io/v1"]
    kind: Literal["KubeSchedulerConfiguration"]
    parallelism: int = Field(16, ge=1)
    percentage_of_nodes_to_score: int = Field(0, ge=0, le=100)
    pod_initial_backoff_seconds: int = Field(1, ge=1)
    pod_max_backoff_seconds: int = 10
    profiles: Items[ProfileShape] = ()
    extenders: Items[Extender] = ()
    leader_election: dict[str, Any] = {}
    client_connection: dict[str, Any] = {}
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    delay_cache_until_active: bool = False


@dataclass(frozen=True)
class KubeConf:
    """kube-scheduler's configuration as it works in one release."""

    version: KubeVersion
    profiles: tuple[Profile, ...]
    extenders: tuple[Extender, ...]
    parallelism: int
    percentage_of_nodes_to_score: int
    pod_initial_backoff_seconds: int
    pod_max_backoff_seconds: int
    warnings: tuple[str, ...] = ()

    @classmethod
    def parse(
        cls, conf: Mapping[str, Any], *, version: str = "1.36", file: str | None = None, lenient: bool = False
    ) -> KubeConf:
        """Read the mapping that a KubeSchedulerConfiguration file holds."""
        notes = Notes(file, lenient)
        release = checked_version(version)
        shape = validated(ConfigurationShape, plain(conf), notes)
        if shape.pod_max_backoff_seconds < shape.pod_initial_backoff_seconds:
            raise notes.error("is shorter than podInitialBackoffSeconds", place="podMaxBackoffSeconds")
        return cls(
            release,
            _profiles(shape, release, notes),
            checked_extenders(shape.extenders, notes),
            shape.parallelism,
            shape.percentage_of_nodes_to_score,
            shape.pod_initial_backoff_seconds,
            shape.pod_max_backoff_seconds,
            tuple(notes.warnings),
        )

    @classmethod
    def default(cls, version: str = "1.36") -> KubeConf:
        """kube-scheduler without a configuration file."""
        return cls.parse({"apiVersion": f"{GROUP}/v1", "kind": KIND}, version=version)

    def profile(self, scheduler_name: str) -> Profile | None:
        """The profile that schedules pods of that schedulerName, if one does."""
        return next((profile for profile in self.profiles if profile.scheduler_name == scheduler_name), None)

    @property
    def preempts(self) -> bool:
        """Whether some profile preempts."""
        return any(profile.preempts for profile in self.profiles)


def checked_version(version: str) -> KubeVersion:
    """The release as a known one."""
    for release in VERSIONS:
        if version == release:
            return release
    raise Notes().error(f"kube-scheduler release {shown(version)} is not known", right=f"known: {', '.join(VERSIONS)}")


def _profiles(shape: ConfigurationShape, version: KubeVersion, notes: Notes) -> tuple[Profile, ...]:
    shapes = shape.profiles or (ProfileShape(),)
    _refuse_bad_names(shapes, notes)
    if any(other.plugins.get("queueSort") != shapes[0].plugins.get("queueSort") for other in shapes):
        raise notes.error("queueSort differs between profiles", place="profiles", right="it is the same for all")
    profiles = tuple(
        resolve_profile(one, shape.percentage_of_nodes_to_score, version, notes, f"profiles[{index}]")
        for index, one in enumerate(shapes)
    )
    ignored = ignored_resources(shape.extenders)
    return tuple(_ignoring(profile, ignored) for profile in profiles) if ignored else profiles


def _refuse_bad_names(shapes: tuple[ProfileShape, ...], notes: Notes) -> None:
    names = [shape.scheduler_name for shape in shapes]
    if len(names) == 1 and names[0] is None:
        return
    for index, name in enumerate(names):
        place = f"profiles[{index}].schedulerName"
        if not name:
            raise notes.error("is missing", place=place, right="every one of several profiles has a name")
        if name in names[:index]:
            raise notes.error(f"{name} is the name of an earlier profile", place=place, right="names are unique")


def _ignoring(profile: Profile, resources: tuple[str, ...]) -> Profile:
    """Resources that extenders take over replace the profile's own ignoredResources."""
    fit = profile.args.fit.model_copy(update={"ignored_resources": resources})
    args = profile.args.model_copy(update={"fit": fit})
    return Profile(profile.scheduler_name, profile.percentage_of_nodes_to_score, profile.pipeline, args)
