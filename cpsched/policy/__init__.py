"""Policies: what the scheduler is configured to do, what is feasible, and what is better."""

from __future__ import annotations

from cpsched.policy.arguments import Arguments
from cpsched.policy.dialect import SchedulerConf, recognise
from cpsched.policy.kube_args import PluginArgs
from cpsched.policy.kube_conf import KubeConf
from cpsched.policy.kube_extender import Extender
from cpsched.policy.kube_profile import Profile
from cpsched.policy.levels import LEVEL_KEYS, SENSES, Level
from cpsched.policy.model import RULE_KEYS, Model, Rules
from cpsched.policy.origin import Origin, model_title
from cpsched.policy.policy import Policy, policy_for
from cpsched.policy.shipped import is_shipped, load_model, model_names, models_folder, stated_model
from cpsched.policy.volcano_conf import VolcanoConf
from cpsched.policy.volcano_plugin import PluginConf, packing_weights, revocable_zones

__all__ = [
    "LEVEL_KEYS",
    "RULE_KEYS",
    "SENSES",
    "Arguments",
    "Extender",
    "KubeConf",
    "Level",
    "Model",
    "Origin",
    "PluginArgs",
    "PluginConf",
    "Policy",
    "Profile",
    "Rules",
    "SchedulerConf",
    "VolcanoConf",
    "is_shipped",
    "load_model",
    "model_names",
    "model_title",
    "models_folder",
    "packing_weights",
    "policy_for",
    "recognise",
    "revocable_zones",
    "stated_model",
]
