// Command volcano-engine is Volcano's scheduler as an engine of cpsched: an Instance on stdin, its decision on stdout.
//
//	cpsched compare cluster.json --engines "mirror,exec:./volcano-engine"
package main

import (
	"fmt"
	"os"

	"cpsched.local/cpschedtest"
	volcano "cpsched.local/volcano"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	instance, err := cpschedtest.ReadInstance(os.Stdin)
	if err != nil {
		return err
	}
	decided, err := volcano.Session(instance)
	if err != nil {
		return err
	}
	return decided.Write(os.Stdout, "volcano")
}
