"""Jobs that must run near each other, in parts or as a whole: how a session places them and whom it evicts for them."""
