"""Questions about a session other than its optimum: is there a decision that contains this, and the model as a file.

It may import `model`, `solvers` and below.
"""
