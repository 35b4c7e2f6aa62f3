package cpschedtest

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Decision is what a scheduler decides in one session. Pods are called namespace/name.
type Decision struct {
	// Binds start now: pod to node.
	Binds map[string]string `json:"binds,omitempty"`
	// Allocated hold room, but their gang is not ready, so they are not bound.
	Allocated map[string]string `json:"allocated,omitempty"`
	// Pipelined wait for room that is being freed, or will be.
	Pipelined map[string]string `json:"pipelined,omitempty"`
	Evictions []Eviction        `json:"evictions,omitempty"`
	// Phases are phases of PodGroups after the session, where they matter: Inqueue for a job that was let in.
	Phases map[string]string `json:"phases,omitempty"`
}

// Eviction is a pod that is stopped.
type Eviction struct {
	Task string `json:"task"`
	Node string `json:"node,omitempty"`
	// Action is preempt or reclaim, empty if it is not known.
	Action string `json:"action,omitempty"`
	// For is the job that it makes room for, empty if it is not known.
	For string `json:"for,omitempty"`
}

// Write prints the decision as the Solution that cpsched reads from an `exec:` engine.
func (d Decision) Write(out io.Writer, engine string) error {
	return json.NewEncoder(out).Encode(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Engine     string `json:"engine"`
		Decision
	}{"cpsched/v1", "Solution", engine, d})
}

// Value is a level's value: a whole number, for a start time nanoseconds, or nothing (no victims).
type Value struct {
	Number int64
	Exists bool
	Time   bool
}

// UnmarshalJSON reads a number, a time of RFC 3339, or null.
func (v *Value) UnmarshalJSON(text []byte) error {
	*v = Value{}
	if string(text) == "null" {
		return nil
	}
	if text[0] != '"' {
		v.Exists = true
		return json.Unmarshal(text, &v.Number)
	}
	var stated time.Time
	if err := json.Unmarshal(text, &stated); err != nil {
		return err
	}
	*v = Value{stated.UnixNano(), true, true}
	return nil
}

// MarshalJSON writes it as it is read.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.Exists {
		return []byte("null"), nil
	}
	if v.Time {
		return json.Marshal(time.Unix(0, v.Number).UTC())
	}
	return json.Marshal(v.Number)
}

func (v Value) String() string {
	if !v.Exists {
		return "none"
	}
	if v.Time {
		return time.Unix(0, v.Number).UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v.Number)
}

// better is negative if a is better than b, positive if it is worse: no victims at all is best, whatever the sense.
func better(a, b Value, sense string) int {
	if !a.Exists || !b.Exists {
		return number(a.Exists) - number(b.Exists)
	}
	sign := 1
	if sense == "max" {
		sign = -1
	}
	switch {
	case a.Number < b.Number:
		return -sign
	case a.Number > b.Number:
		return sign
	}
	return 0
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
