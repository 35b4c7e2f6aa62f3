"""The report as a live page on loopback: change the cluster or the policy by hand, decide again, see the difference."""
