"""What if: changes to a cluster before anything is decided, each stated in the answer."""
