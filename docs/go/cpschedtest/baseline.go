package cpschedtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// baselines is a file that -update writes; `cpsched diff` compares two of them.
type baselines struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	Engine     string              `json:"engine"`
	Cases      map[string]Baseline `json:"cases"`
}

func readBaselines(path string) (*baselines, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	found := &baselines{}
	if err := json.Unmarshal(text, found); err != nil || found.Kind != "Baseline" {
		return nil, fmt.Errorf("%s: not a baseline; write it with -update", path)
	}
	return found, nil
}

// write writes the file whole or not at all, one line per case, sorted: a change of one case is a change of one line.
func (b *baselines) write(path string) error {
	var out bytes.Buffer
	engine, err := json.Marshal(b.Engine)
	if err != nil {
		return err
	}
	fmt.Fprintf(&out, "{\n  \"apiVersion\": \"cpsched/v1\",\n  \"kind\": \"Baseline\",\n  \"engine\": %s,\n  \"cases\": {", engine)
	for number, id := range sorted(b.Cases) {
		name, err := json.Marshal(id)
		if err != nil {
			return err
		}
		entry, err := json.Marshal(b.Cases[id])
		if err != nil {
			return err
		}
		if number > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "\n    %s: %s", name, entry)
	}
	out.WriteString("\n  }\n}\n")
	if err := os.WriteFile(path+".new", out.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
