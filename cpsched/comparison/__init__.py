"""Several engines on one session or many: who is better, on which level, and why."""
