"""The optimum: the session compiled to CP-SAT and solved level by level; the only package that imports ortools."""
