"""The lexicographic search: bound each level, look for a decision that attains the bound, close it or solve it.

In: a snapshot and parameters. Out: the best decision found and a result per level. It may import every room but
`queries`.
"""
