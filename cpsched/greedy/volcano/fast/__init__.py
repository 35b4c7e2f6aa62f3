"""The same answers for all nodes at once: arrays over nodes, computed once per kind of task, updated where touched."""
