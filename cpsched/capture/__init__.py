"""Taking a cluster: what decisions read, through the user's own kubectl, as one document."""
