"""Objects whose controllers create pods, and the pods and PodGroups that those controllers would create."""
