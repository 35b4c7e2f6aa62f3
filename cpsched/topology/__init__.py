"""Network topology as Volcano reads it: the tree of HyperNodes, sub-groups of jobs, how near a job is to run."""
