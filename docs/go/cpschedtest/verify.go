package cpschedtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// verify leaves the open rules to `cpsched verify`, if that is on the PATH; it says whether it did.
func verify(c *Case, decided Decision, found *Verdict) (bool, error) {
	program, err := exec.LookPath("cpsched")
	if err != nil {
		return false, nil
	}
	folder, err := os.MkdirTemp("", "cpschedtest")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	var text bytes.Buffer
	if err := decided.Write(&text, "under test"); err != nil {
		return false, err
	}
	instance, err := withConf(c)
	if err != nil {
		return false, err
	}
	solution, cluster := filepath.Join(folder, "decision.json"), filepath.Join(folder, "instance.json")
	for path, content := range map[string][]byte{solution: text.Bytes(), cluster: instance} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return false, err
		}
	}
	command := exec.Command(program, "verify", solution, cluster, "--model", c.Model, "--json")
	var wrong bytes.Buffer
	command.Stderr = &wrong
	out, err := command.Output()
	var verdict struct {
		Findings []Finding `json:"findings"`
	}
	// Exit code 1 says that there are findings.
	if parse := json.Unmarshal(out, &verdict); parse != nil {
		return false, fmt.Errorf("cpsched verify: %v: %s", err, wrong.String())
	}
	found.take(verdict.Findings)
	return true, nil
}

// take adds the findings of the rules that were open, and closes them.
func (v *Verdict) take(findings []Finding) {
	open := map[string]bool{}
	for _, rule := range v.Open {
		open[rule] = true
	}
	for _, finding := range findings {
		if open[finding.Rule] {
			v.Findings = append(v.Findings, finding)
		}
	}
	v.Open = nil
}

// withConf is the Instance with the configuration that is in force.
func withConf(c *Case) ([]byte, error) {
	if len(c.Conf) == 0 {
		return c.Instance, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(c.Instance, &fields); err != nil {
		return nil, err
	}
	fields["conf"] = c.Conf
	return json.Marshal(fields)
}
