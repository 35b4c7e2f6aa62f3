"""Plugins that forbid something to the mirror and nothing to the search: a doubt about every proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cpsched.doubts import Doubt
from cpsched.errors import InputError
from cpsched.policy.volcano_conf import VolcanoConf
from cpsched.policy.volcano_plugin import PluginConf, decided
from cpsched.policy.volcano_registry import UNSEARCHED_PLUGINS

_WAYS = ("GPUSharingEnable", "GPUNumberEnable", "VGPUEnable")

IDLE: Mapping[str, Callable[[PluginConf], bool]] = {
    "resource-strategy-fit": lambda plugin: not plugin.arguments.form("proportional"),
}
"""Plugins of which the arguments may say that they forbid nothing."""


def shares_no_cards(plugin: PluginConf) -> bool:
    """Whether deviceshare is configured, and no way of sharing cards is."""
    return not any(plugin.arguments.boolean(f"deviceshare.{way}") for way in _WAYS)


def plugins_not_searched(conf: VolcanoConf) -> tuple[Doubt, ...]:
    """One per plugin that is configured and may forbid something."""
    found: dict[str, Doubt] = {}
    for plugin in conf.plugins:
        decides = decided(plugin.flags, UNSEARCHED_PLUGINS.get(plugin.name, ()), conf.actions)
        if decides and not (plugin.name in IDLE and IDLE[plugin.name](plugin)):
            wrong = f"plugin {plugin.name} is not part of the search for the optimum; it decides: {decides}"
            text = str(InputError(wrong, place="tiers"))
            found[plugin.name] = Doubt(kind="plugin", name=plugin.name, decides=decides, text=text)
    return tuple(found.values())
