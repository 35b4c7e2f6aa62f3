"""The Go modules of docs/go, where Go is installed."""
