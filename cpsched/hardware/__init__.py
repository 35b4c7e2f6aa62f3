"""Cards and CPUs of nodes, and what pods want of them, as Volcano's plugins read it."""

from __future__ import annotations

from cpsched.hardware import cpus, gpu_share, vgpu

HARDWARE_ANNOTATIONS = (*vgpu.CHOICE, vgpu.SPREAD, vgpu.IDS, gpu_share.INDEX, cpus.POLICY)
"""Annotations of pods that say which cards and CPUs they want or have."""
