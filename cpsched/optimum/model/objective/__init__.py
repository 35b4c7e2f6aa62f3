"""The objective: every level of the policy as one stage or two to minimise."""
