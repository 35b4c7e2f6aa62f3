"""Is the input whole? What the cluster itself counts and says is held against what was read."""
