"""KubeSchedulerConfiguration: profiles, extenders and the queue's back-off, every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cpsched.doubts import Doubt
from cpsched.policy.kube_extender import Extender, checked_extenders, ignored_resources
from cpsched.policy.kube_forms import GROUP, KIND, SHAPES, ConfigurationShape, form_of, profiles_in_v1
from cpsched.policy.kube_profile import Profile, ProfileShape, resolve_profile
from cpsched.policy.kube_registry import VERSIONS, FormName, KubeVersion
from cpsched.policy.notes import Notes, shown
from cpsched.policy.shapes import plain, validated


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
    doubts: tuple[Doubt, ...] = field(default=(), repr=False)
    """What is configured and not run here."""

    @classmethod
    def parse(
        cls, conf: Mapping[str, Any], *, version: str = "1.36", file: str | None = None, strict: bool = False
    ) -> KubeConf:
        """Read the mapping that a KubeSchedulerConfiguration file holds."""
        notes = Notes(file, strict)
        release = checked_version(version)
        form = form_of(conf.get("apiVersion"), release, notes)
        shape = validated(SHAPES.get(form, ConfigurationShape), plain(conf), notes)
        if shape.pod_max_backoff_seconds < shape.pod_initial_backoff_seconds:
            raise notes.error("is shorter than podInitialBackoffSeconds", place="podMaxBackoffSeconds")
        return cls(
            release,
            _profiles(shape, release, form, notes),
            checked_extenders(shape.extenders, notes),
            shape.parallelism,
            shape.percentage_of_nodes_to_score,
            shape.pod_initial_backoff_seconds,
            shape.pod_max_backoff_seconds,
            tuple(notes.warnings),
            tuple(notes.doubts),
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


def _profiles(shape: ConfigurationShape, version: KubeVersion, form: FormName, notes: Notes) -> tuple[Profile, ...]:
    shapes = tuple(profiles_in_v1(shape, form, notes))
    _refuse_bad_names(shapes, notes)
    if any(other.plugins.get("queueSort") != shapes[0].plugins.get("queueSort") for other in shapes):
        raise notes.error("queueSort differs between profiles", place="profiles", right="it is the same for all")
    profiles = tuple(
        resolve_profile(one, shape.percentage_of_nodes_to_score, version, notes, f"profiles[{index}]", form)
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
