"""The regression gate: an engine over a corpus, held against the rules, a baseline and the optimum."""
