package cpschedtest

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const shipped = "testdata/corpus.jsonl.gz"

func load(t *testing.T) *Corpus {
	t.Helper()
	corpus, err := Load(shipped)
	if err != nil {
		t.Fatal(err)
	}
	return corpus
}

func find(t *testing.T, id string) *Case {
	t.Helper()
	corpus := load(t)
	for number := range corpus.Cases {
		if corpus.Cases[number].ID == id {
			return &corpus.Cases[number]
		}
	}
	t.Fatalf("no case %s", id)
	return nil
}

// TestOptimaKeepTheRules: what cpsched calls best breaks no rule here, and comes to the levels that it states.
func TestOptimaKeepTheRules(t *testing.T) {
	for _, one := range load(t).Cases {
		found, err := Check(&one, one.Optimum.Decision)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Findings) > 0 {
			t.Errorf("%s: %v", one.ID, found.Findings)
		}
		for label, level := range one.Optimum.Levels {
			if found.Values[label] != level.Value {
				t.Errorf("%s: %s is %s here, %s there", one.ID, label, found.Values[label], level.Value)
			}
		}
	}
}

// TestRun is a scheduler that decides what is best: nothing is worse than the baseline.
func TestRun(t *testing.T) {
	best := func(_ testing.TB, c *Case) Decision { return c.Optimum.Decision }
	Run(t, shipped, Options{Engine: "best", NoVerify: true}, best)
}

func TestAScheduleThatEvictsMoreIsWorse(t *testing.T) {
	one := find(t, "volcano-evicts-more-than-needed.json")
	decided := one.Optimum.Decision
	extra := Eviction{Task: "small/task-0", Node: "n1", Action: "preempt"}
	decided.Evictions = append([]Eviction{extra}, decided.Evictions...)
	found, _ := Check(one, one.Optimum.Decision)
	before := one.Baseline.with(found)
	worse, _ := Check(one, decided)
	worse.against(&before, one.Optimum)
	if len(worse.Faults) != 1 || worse.Faults[0].Kind != "worse" || worse.Faults[0].Key != "victim_priority_sum" {
		t.Fatalf("%v", worse.Faults)
	}
	if want := "1 more (victims in the baseline: big/task-0; now: big/task-0, small/task-0)"; !strings.Contains(worse.Faults[0].Message, want) {
		t.Errorf("%s", worse.Faults[0])
	}
	if worse.Behind != "victim_priority_sum" {
		t.Errorf("behind at %q", worse.Behind)
	}
}

func TestNothingDecidedIsIdleWithoutABaseline(t *testing.T) {
	one := find(t, "volcano-evicts-more-than-needed.json")
	found, _ := Check(one, Decision{})
	found.against(nil, one.Optimum)
	if len(found.Faults) != 1 || found.Faults[0].Kind != "idle" {
		t.Fatalf("%v", found.Faults)
	}
}

func TestABrokenRuleIsAFaultUnlessAccepted(t *testing.T) {
	one := find(t, "volcano-evicts-more-than-needed.json")
	for accepted, faults := range map[int]int{1: 1, 2: 0} {
		found, _ := Check(one, Decision{Binds: map[string]string{"urgent/task-0": "n1"}})
		before := one.Baseline
		before.Findings = map[string]int{"capacity": accepted, "queue": 1}
		before.Levels = one.Baseline.with(found).Levels
		found.against(&before, one.Optimum)
		if len(found.Faults) != faults {
			t.Errorf("%d accepted: %v", accepted, found.Faults)
		}
	}
}

func TestABaselineIsWrittenAndReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline.json")
	best := func(_ testing.TB, c *Case) Decision { return c.Optimum.Decision }
	t.Run("write", func(t *testing.T) {
		Run(t, shipped, Options{Engine: "best", Baseline: path, Update: true, NoVerify: true}, best)
	})
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("hold", func(t *testing.T) {
		Run(t, shipped, Options{Engine: "best", Baseline: path, NoVerify: true}, best)
	})
	t.Run("again", func(t *testing.T) {
		Run(t, shipped, Options{Engine: "best", Baseline: path, Update: true, NoVerify: true}, best)
	})
	second, _ := os.ReadFile(path)
	if !bytes.Equal(first, second) || bytes.Count(first, []byte("\n")) != 7+len(load(t).Cases) {
		t.Errorf("%s", first)
	}
}

func TestWhatDoesNotHoldIsRefused(t *testing.T) {
	file, _ := os.Open(shipped)
	packed, _ := gzip.NewReader(file)
	text, _ := io.ReadAll(packed)
	lines := strings.SplitAfter(string(text), "\n")
	for wrong, changed := range map[string]string{
		"no header":                         "",
		"not a corpus":                      "{}\n",
		"not those of its header":           strings.Replace(string(text), `"id": "`, `"id": "x`, 1),
		"its cases are not those":           lines[0] + lines[1],
		"line 2":                            lines[0] + "{\n",
		"two cases are called":              lines[0] + lines[1] + lines[1],
		"line 2: a case without id":         lines[0] + "{\"instance\": {}}\n",
		"line 2: json: cannot unmarshal":    lines[0] + "[]\n",
		"line 2: instance: json: cannot un": lines[0] + "{\"id\": \"x\", \"instance\": 3}\n",
	} {
		if _, err := Read(strings.NewReader(changed)); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestObjectsAreRaw(t *testing.T) {
	one := find(t, "volcano-evicts-more-than-needed.json")
	if len(one.Nodes()) != 1 || len(one.Pods()) != 3 || len(one.Queues()) != 0 || len(one.PodGroups()) != 3 {
		t.Fatalf("%d nodes, %d pods, %d queues, %d groups", len(one.Nodes()), len(one.Pods()), len(one.Queues()), len(one.PodGroups()))
	}
	node := one.Nodes()[0]
	var stated struct {
		Metadata struct{ Name string }
	}
	if err := node.Into(&stated); err != nil || stated.Metadata.Name != "n1" || node.Text("metadata", "name") != "n1" {
		t.Errorf("%v %v", stated, err)
	}
	if node.At("spec", "nothing", "there") != nil || node.Key() != "n1" {
		t.Error(node.Key())
	}
}

func TestPatternsRunOneTest(t *testing.T) {
	if got := exactly("TestX/a.json(kube)"); got != `^TestX$/^a\.json\(kube\)$` {
		t.Error(got)
	}
}

func TestADecisionIsWrittenAsASolution(t *testing.T) {
	var out bytes.Buffer
	decided := Decision{Binds: map[string]string{"a/b": "n"}, Evictions: []Eviction{{Task: "c/d", For: "e/f"}}}
	if err := decided.Write(&out, "mine"); err != nil {
		t.Fatal(err)
	}
	want := `{"apiVersion":"cpsched/v1","kind":"Solution","engine":"mine","binds":{"a/b":"n"},"evictions":[{"task":"c/d","for":"e/f"}]}` + "\n"
	if out.String() != want {
		t.Error(out.String())
	}
	back, err := ReadInstance(strings.NewReader(`{"kind": "Instance", "conf": {"actions": "allocate"}, "objects": []}`))
	if err != nil || !reflect.DeepEqual(string(back.Conf), `{"actions": "allocate"}`) {
		t.Errorf("%v %v", back, err)
	}
}
