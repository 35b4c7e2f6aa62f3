"""The corpora of `make corpora`: which sessions they hold, always the same ones."""
