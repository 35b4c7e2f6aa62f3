// Package cpschedtest puts a corpus of scheduling sessions to a scheduler and checks what it decides.
//
// The corpus is a file that `cpsched corpus export` wrote. Each case holds the cluster as Kubernetes objects, the
// decision of a baseline, the best decision, and the numbers that the rules read. Rules that need more than these
// numbers are left to `cpsched verify` where that is on the PATH.
package cpschedtest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// MostBytes is the largest corpus that is read, unpacked.
const MostBytes = 1 << 31

// Corpus is a file of cases, with the vocabulary of its findings and levels.
type Corpus struct {
	// Engine made the baseline.
	Engine string `json:"engine"`
	// Rules maps the key of every rule to a sentence.
	Rules map[string]string `json:"rules"`
	// Levels maps the name of every level to `max` or `min`.
	Levels map[string]string `json:"levels"`
	Cases  []Case            `json:"-"`

	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	SHA256     string `json:"sha256"`
	Number     int    `json:"cases"`
}

// Case is one session to decide.
type Case struct {
	ID       string              `json:"id"`
	Sentence string              `json:"sentence"`
	Tags     map[string][]string `json:"tags"`
	Model    string              `json:"model"`
	// Conf is the configuration of the scheduler: volcano-scheduler.conf or a KubeSchedulerConfiguration, as JSON.
	Conf json.RawMessage `json:"conf"`
	// Only names the one pod that is tried, empty for all.
	Only string `json:"only"`
	// Instance is the whole cluster, as `exec:` engines read it from stdin.
	Instance json.RawMessage `json:"instance"`
	Baseline Baseline        `json:"baseline"`
	Optimum  *Optimum        `json:"optimum"`
	Facts    *Facts          `json:"facts"`

	objects []Object
}

// Baseline is what the engine of the baseline came to.
type Baseline struct {
	// Instance is a hash of instance and policy: whether it is still the same question.
	Instance string           `json:"instance"`
	Model    string           `json:"model"`
	Findings map[string]int   `json:"findings,omitempty"`
	Levels   map[string]Value `json:"levels"`
	Decision Affected         `json:"decision"`
}

// with is the same question with what a decision came to.
func (b Baseline) with(found *Verdict) Baseline {
	levels := map[string]Value{}
	for _, level := range found.Levels {
		levels[level.Label] = found.Values[level.Label]
	}
	return Baseline{b.Instance, b.Model, found.counts(), levels, found.Affected}
}

// Optimum is the best decision that is known.
type Optimum struct {
	Status      string                  `json:"status"`
	Levels      map[string]OptimalLevel `json:"levels"`
	Decision    Decision                `json:"decision"`
	Certificate string                  `json:"certificate_sha256"`
}

// OptimalLevel is one level of the best decision.
type OptimalLevel struct {
	Value  Value `json:"value"`
	Proved bool  `json:"proved"`
}

// Proved says whether nothing can be better.
func (o *Optimum) Proved() bool { return o != nil && o.Status == "optimal" }

// Object is a Kubernetes object, with no version of Kubernetes forced on anybody.
type Object struct {
	Raw        json.RawMessage
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
}

// Into decodes the object into a type of yours: `var node v1.Node; err := object.Into(&node)`.
func (o Object) Into(target any) error { return json.Unmarshal(o.Raw, target) }

// Key is namespace/name, or the name of what has no namespace.
func (o Object) Key() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// At is the value at a path of field names, nil if there is none: At("spec", "nodeName").
func (o Object) At(path ...string) any {
	var value any
	if json.Unmarshal(o.Raw, &value) != nil {
		return nil
	}
	for _, name := range path {
		fields, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = fields[name]
	}
	return value
}

// Text is the string at a path, empty if there is none.
func (o Object) Text(path ...string) string {
	text, _ := o.At(path...).(string)
	return text
}

// Objects are all objects of the cluster, in the order in which the scheduler heard of them.
func (c *Case) Objects() []Object { return c.objects }

// Of are the objects of one kind.
func (c *Case) Of(kind string) []Object {
	var found []Object
	for _, one := range c.objects {
		if one.Kind == kind {
			found = append(found, one)
		}
	}
	return found
}

// Nodes, Pods, PodGroups and Queues are what most schedulers ask for.
func (c *Case) Nodes() []Object { return c.Of("Node") }

// Pods are all pods, running and pending.
func (c *Case) Pods() []Object { return c.Of("Pod") }

// PodGroups are the gangs.
func (c *Case) PodGroups() []Object { return c.Of("PodGroup") }

// Queues are the queues.
func (c *Case) Queues() []Object { return c.Of("Queue") }

// Shard is the part of the cluster that is the scheduler's own.
type Shard struct {
	Mode  string   `json:"mode"`
	Name  string   `json:"name"`
	Nodes []string `json:"nodes"`
}

// Sharding is the shard of the case, nil if it has none.
func (c *Case) Sharding() (*Shard, error) {
	var stated struct {
		Sharding *Shard `json:"sharding"`
	}
	err := json.Unmarshal(c.Instance, &stated)
	return stated.Sharding, err
}

// Load reads a corpus, packed or not; what does not hold is an error that names the file.
func Load(path string) (*Corpus, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var stream io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if stream, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	corpus, err := Read(stream)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return corpus, nil
}

// Read reads a corpus: its hash, its number of cases and its size are checked.
func Read(stream io.Reader) (*Corpus, error) {
	bounded := &io.LimitedReader{R: stream, N: MostBytes}
	reader := bufio.NewReaderSize(bounded, 1<<20)
	head, err := reader.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("no header: %w", err)
	}
	corpus := &Corpus{}
	if err := json.Unmarshal(head, corpus); err != nil || corpus.Kind != "Corpus" || corpus.APIVersion != "cpsched/v1" {
		return nil, fmt.Errorf("not a corpus; write one with cpsched corpus export")
	}
	digest, seen := sha256.New(), map[string]bool{}
	for number := 2; ; number++ {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			digest.Write(line)
			one, wrong := readCase(line)
			if wrong == nil && seen[one.ID] {
				wrong = fmt.Errorf("two cases are called %q", one.ID)
			}
			if wrong != nil {
				return nil, fmt.Errorf("line %d: %w", number, wrong)
			}
			seen[one.ID] = true
			corpus.Cases = append(corpus.Cases, *one)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if bounded.N == 0 {
		return nil, fmt.Errorf("larger than %d bytes", MostBytes)
	}
	if found := hex.EncodeToString(digest.Sum(nil)); found != corpus.SHA256 || len(corpus.Cases) != corpus.Number {
		return nil, fmt.Errorf("its cases are not those of its header; export it again")
	}
	return corpus, nil
}

func readCase(line []byte) (*Case, error) {
	one := &Case{}
	if err := json.Unmarshal(line, one); err != nil {
		return nil, err
	}
	var instance struct {
		Objects []json.RawMessage `json:"objects"`
	}
	if err := json.Unmarshal(one.Instance, &instance); err != nil {
		return nil, fmt.Errorf("instance: %w", err)
	}
	for _, raw := range instance.Objects {
		object, err := readObject(raw)
		if err != nil {
			return nil, err
		}
		one.objects = append(one.objects, object)
	}
	if one.ID == "" {
		return nil, fmt.Errorf("a case without id")
	}
	return one, nil
}

func readObject(raw json.RawMessage) (Object, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return Object{}, fmt.Errorf("object: %w", err)
	}
	return Object{raw, head.APIVersion, head.Kind, head.Metadata.Namespace, head.Metadata.Name}, nil
}

// ReadInstance reads the Instance that an `exec:` engine finds on its stdin, as a case without facts.
func ReadInstance(stream io.Reader) (*Case, error) {
	text, err := io.ReadAll(stream)
	if err != nil {
		return nil, err
	}
	var stated struct {
		Conf json.RawMessage `json:"conf"`
	}
	if err := json.Unmarshal(text, &stated); err != nil {
		return nil, fmt.Errorf("not an Instance: %w", err)
	}
	id, _ := json.Marshal("stdin")
	row := bytes.Join([][]byte{[]byte(`{"id":`), id, []byte(`,"instance":`), text, []byte("}")}, nil)
	one, err := readCase(row)
	if err == nil {
		one.Conf = stated.Conf
	}
	return one, err
}
