package cpschedtest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
)

// Decide is your scheduler: it decides one session.
type Decide func(t testing.TB, c *Case) Decision

// Options say what a run holds decisions against.
type Options struct {
	// Engine is the name under which the baseline is written.
	Engine string
	// Baseline is a file that -update writes; without one the baseline of the corpus counts.
	Baseline string
	// Update writes that file; the flag that UpdateFlag defines does the same.
	Update bool
	// NoVerify leaves open rules open even where cpsched is on the PATH.
	NoVerify bool
}

// UpdateFlag defines the flag -update: `var update = cpschedtest.UpdateFlag()` in a test file.
func UpdateFlag() *bool {
	return flag.Bool("update", false, "write the baseline of the scheduling decisions")
}

// Run decides every case of the corpus in a test of its own, and logs a table at the end.
func Run(t *testing.T, path string, options Options, decide Decide) {
	t.Helper()
	corpus, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	report := &report{options: options, corpus: corpus, file: filepath.Base(path)}
	if err := report.start(); err != nil {
		t.Fatal(err)
	}
	for number := range corpus.Cases {
		one := &corpus.Cases[number]
		t.Run(one.ID, func(t *testing.T) { report.one(t, one, decide(t, one)) })
	}
	if report.updates() && !t.Failed() {
		if err := report.next.write(options.Baseline); err != nil {
			t.Fatal(err)
		}
	}
	t.Log("\n" + report.table())
}

type report struct {
	options Options
	corpus  *Corpus
	file    string
	before  *baselines
	next    *baselines
	rows    []string
	passed  int
	better  int
	open    int
}

// updates says whether the baseline is written: by the options, or by the flag -update.
func (r *report) updates() bool {
	stated := flag.Lookup("update")
	return r.options.Update || (stated != nil && stated.Value.String() == "true")
}

// start reads the baseline; one that is about to be written for the first time need not be there.
func (r *report) start() error {
	r.next = &baselines{Engine: r.options.Engine, Cases: map[string]Baseline{}}
	if r.options.Baseline == "" {
		if r.updates() {
			return errors.New("-update needs Options.Baseline: name the file to write")
		}
		return nil
	}
	found, err := readBaselines(r.options.Baseline)
	if r.updates() && errors.Is(err, os.ErrNotExist) {
		return nil
	}
	r.before = found
	return err
}

func (r *report) key(c *Case) string { return r.file + "#" + c.ID }

func (r *report) accepted(c *Case) (*Baseline, string) {
	if r.before == nil {
		return &c.Baseline, ""
	}
	entry, known := r.before.Cases[r.key(c)]
	switch {
	case !known:
		return nil, "new: not in the baseline"
	case entry.Instance != c.Baseline.Instance:
		return nil, "changed: the instance or its policy is not what it was"
	}
	return &entry, ""
}

func (r *report) one(t *testing.T, c *Case, decided Decision) {
	t.Helper()
	found, err := Check(c, decided)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Open) > 0 && !r.options.NoVerify {
		if _, err := verify(c, decided, found); err != nil {
			t.Fatal(err)
		}
	}
	r.next.Cases[r.key(c)] = c.Baseline.with(found)
	before, note := r.accepted(c)
	found.against(before, c.Optimum)
	r.note(c, found, note)
	if r.updates() {
		return
	}
	for _, fault := range found.Faults {
		t.Errorf("%s\nreproduce with go test -run '%s'", fault, exactly(t.Name()))
	}
}

// exactly is the pattern that runs this test alone.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for number, part := range parts {
		parts[number] = "^" + quoted.Replace(part) + "$"
	}
	return strings.Join(parts, "/")
}

var quoted = strings.NewReplacer(".", `\.`, "(", `\(`, ")", `\)`, "[", `\[`, "]", `\]`, "+", `\+`, "*", `\*`, "'", ".")

func (r *report) note(c *Case, found *Verdict, note string) {
	if len(found.Faults) == 0 {
		r.passed++
	}
	if found.Better {
		r.better++
	}
	if len(found.Open) > 0 {
		r.open++
	}
	cells := []string{c.ID, found.word(), found.where(c), strings.Join(found.Open, " "), note}
	if found.Behind != "" || len(found.Faults) > 0 || found.Better || note != "" {
		r.rows = append(r.rows, strings.Join(cells, "\t"))
	}
}

func (v *Verdict) word() string {
	switch {
	case len(v.Faults) > 0:
		return v.Faults[0].Kind + " " + v.Faults[0].Key
	case v.Better:
		return "better"
	}
	return "passed"
}

func (v *Verdict) where(c *Case) string {
	if v.Behind == "" {
		return ""
	}
	best := c.Optimum.Levels[v.Behind].Value
	return fmt.Sprintf("%s: %s against %s", v.Behind, v.Values[v.Behind], best)
}

func (r *report) table() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d cases, %d passed, %d better than the baseline", len(r.corpus.Cases), r.passed, r.better)
	if r.open > 0 {
		fmt.Fprintf(&out, ", %d with rules left open (cpsched is not on the PATH)", r.open)
	}
	out.WriteString("\n")
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "case\tverdict\tbehind the optimum\topen\tnote")
	for _, row := range r.rows {
		fmt.Fprintln(table, row)
	}
	table.Flush()
	return out.String()
}
