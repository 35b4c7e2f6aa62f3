package volcano

import (
	"os"
	"testing"

	"cpsched.local/cpschedtest"
)

var _ = cpschedtest.UpdateFlag()

// TestDecisions puts the corpus of CPSCHED_CORPUS to the scheduler, against the baseline of CPSCHED_BASELINE if it is named.
func TestDecisions(t *testing.T) {
	corpus := os.Getenv("CPSCHED_CORPUS")
	if corpus == "" {
		t.Skip("CPSCHED_CORPUS names no corpus; write one with cpsched corpus export")
	}
	cpschedtest.Run(t, corpus, cpschedtest.Options{Engine: "volcano", Baseline: os.Getenv("CPSCHED_BASELINE")}, Decide)
}
