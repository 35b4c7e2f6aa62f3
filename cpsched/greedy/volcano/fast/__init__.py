"""The same answers for all nodes at once: arrays over nodes, worked out once per kind of task, mended where touched."""
