"""Studies: instances × models × engines × seeds, each cell in its own process, all results in one folder."""
