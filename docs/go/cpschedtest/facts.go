package cpschedtest

// Facts are the session in numbers, as `cpsched corpus export` works them out.
type Facts struct {
	// Open are rules that these numbers do not settle in this session.
	Open    []string            `json:"open"`
	Policy  Policy              `json:"policy"`
	Nodes   map[string]Node     `json:"nodes"`
	Tasks   map[string]Task     `json:"tasks"`
	Jobs    map[string]Job      `json:"jobs"`
	Queues  map[string]Queue    `json:"queues"`
	Budgets map[string]int      `json:"budgets"`
	Refused []Refusal           `json:"refused"`
	Total   Vector              `json:"total"`
	Plan    []Level             `json:"plan"`
	Between map[string][]string `json:"between"`
}

// Vector is an amount of every resource: millicores, bytes, or pieces.
type Vector map[string]int64

// Policy is what the configuration makes of the rules.
type Policy struct {
	Kube          bool     `json:"kube"`
	Gangs         bool     `json:"gangs"`
	WaitsForAll   bool     `json:"waitsForAll"`
	LimitsQueues  bool     `json:"limitsQueues"`
	ByDeserved    bool     `json:"byDeserved"`
	SharesRefused *string  `json:"sharesRefused"`
	Eviction      bool     `json:"eviction"`
	Charge        bool     `json:"charge"`
	Everywhere    bool     `json:"everywhere"`
	Preempts      bool     `json:"preempts"`
	Reclaims      bool     `json:"reclaims"`
	Enter         string   `json:"enter"`
	Actions       []string `json:"actions"`
	Protects      struct {
		Gang        string `json:"gang"`
		Conformance bool   `json:"conformance"`
		Cooldown    bool   `json:"cooldown"`
		PDB         string `json:"pdb"`
		Guarantee   bool   `json:"guarantee"`
	} `json:"protects"`
}

// Node has room today, and room once what is ending has ended.
type Node struct {
	Idle   Vector `json:"idle"`
	Future Vector `json:"future"`
}

// Task is a pod.
type Task struct {
	// Pod is namespace/name where the task is called otherwise.
	Pod        string `json:"pod"`
	Job        string `json:"job"`
	Node       string `json:"node"`
	Requests   Vector `json:"requests"`
	Role       string `json:"role"`
	BestEffort bool   `json:"bestEffort"`
	Pending    bool   `json:"pending"`
	// Present tasks count for the minimum of their gang, those that hold room can be evicted.
	Present bool `json:"present"`
	Holds   bool `json:"holds"`
	// Sits is whether it occupies its node, ending or not.
	Sits bool `json:"sits"`
	// Barred says why it may be placed nowhere.
	Barred        string   `json:"barred"`
	Priority      int64    `json:"priority"`
	PodPriority   int64    `json:"podPriority"`
	Start         int64    `json:"start"`
	Preemptable   bool     `json:"preemptable"`
	NeverPreempts bool     `json:"neverPreempts"`
	Critical      bool     `json:"critical"`
	Cooling       bool     `json:"cooling"`
	Budgets       []string `json:"budgets"`
}

// Job is a gang, or a pod on its own.
type Job struct {
	Queue    string         `json:"queue"`
	Priority int64          `json:"priority"`
	Minimum  int            `json:"minimum"`
	Roles    map[string]int `json:"roles"`
	Tasks    []string       `json:"tasks"`
	Ready    int            `json:"ready"`
	Holding  int            `json:"holding"`
	Pending  bool           `json:"pending"`
	Starving bool           `json:"starving"`
	MayEvict bool           `json:"mayEvict"`
}

// Queue is a queue with what it holds and may hold; a limit of nil is none.
type Queue struct {
	Closed    bool              `json:"closed"`
	Ancestors []string          `json:"ancestors"`
	Allocated Vector            `json:"allocated"`
	Limit     map[string]*int64 `json:"limit"`
	Guarantee Vector            `json:"guarantee"`
	// Wants are fractions, numerator and denominator; nil for a queue that no deficit is counted of.
	Wants map[string][2]int64 `json:"wants"`
}

// Refusal is what filters say of nodes, for some tasks.
type Refusal struct {
	Tasks []string          `json:"tasks"`
	Nodes map[string]string `json:"nodes"`
}

// Level is one entry of the order in which decisions are compared.
type Level struct {
	Label string `json:"label"`
	Name  string `json:"name"`
	Sense string `json:"sense"`
}

func (v Vector) add(other Vector, sign int64) {
	for name, amount := range other {
		v[name] += sign * amount
	}
}

func sum(parts ...Vector) Vector {
	total := Vector{}
	for _, part := range parts {
		total.add(part, 1)
	}
	return total
}
