"""Shared cards of nodes: by memory, by number, or as virtual GPUs; mirrors `pkg/scheduler/api/devices`."""
