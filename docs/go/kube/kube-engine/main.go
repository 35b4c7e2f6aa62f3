// Command kube-engine is kube-scheduler as an engine of cpsched: an Instance on stdin, its decision on stdout.
//
//	cpsched compare cluster.json --engines "mirror,exec:./kube-engine"
package main

import (
	"fmt"
	"os"

	"cpsched.local/cpschedtest"
	"cpsched.local/kube"
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
	decided, err := kube.Session(instance)
	if err != nil {
		return err
	}
	return decided.Write(os.Stdout, "kube")
}
