package cpschedtest

import "fmt"

// Finding is a rule that the decision breaks.
type Finding struct {
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
	Message string `json:"message"`
}

func (f Finding) String() string { return fmt.Sprintf("%s: %s %s", f.Rule, f.Subject, f.Message) }

// rules are checked here; a rule that is not here, or that a case leaves open, is left to `cpsched verify`.
var rules = map[string]func(*session) []Finding{
	"assignment":          assignment,
	"capacity":            capacity,
	"filters":             filters,
	"gang":                gang,
	"queue":               queueLimit,
	"deserved":            deserved,
	"eviction":            eviction,
	"protect.gang":        protectGang,
	"protect.conformance": protectConformance,
	"protect.cooldown":    protectCooldown,
	"protect.pdb":         protectPDB,
	"protect.guarantee":   protectGuarantee,
	"enqueue":             enqueue,
	"actions":             actions,
	"charge":              nothing,
	"nodegroup":           nothing,
	"cards":               nothing,
	"numa":                nothing,
	"usage":               nothing,
}

// open are the rules that the facts do not settle for this decision.
func (s *session) open() map[string]bool {
	found := map[string]bool{}
	for _, rule := range s.facts.Open {
		found[rule] = len(s.placed)+len(s.evictions) > 0
	}
	if len(s.evictions) > 0 {
		found["charge"] = s.facts.Policy.Charge
	}
	if !s.plainEvictions() {
		for _, rule := range []string{"eviction", "protect.gang", "protect.conformance", "protect.cooldown", "protect.pdb", "protect.guarantee"} {
			found[rule] = true
		}
	}
	if s.facts.Policy.Enter == "enqueue" && len(s.entered) > 0 {
		found["enqueue"] = true
	}
	for rule, is := range found {
		if !is {
			delete(found, rule)
		}
	}
	return found
}

// plainEvictions says whether all are evictions by preempt: the right to reclaim depends on shares and their order.
func (s *session) plainEvictions() bool {
	for _, one := range s.evictions {
		if one.Action != "preempt" && (one.Action != "" || s.facts.Policy.Reclaims) {
			return false
		}
	}
	return true
}

func nothing(*session) []Finding { return nil }

func assignment(s *session) (found []Finding) {
	wrong := func(key, text string) { found = append(found, Finding{"assignment", key, text}) }
	for number, places := range []map[string]string{s.binds, s.reserves} {
		for _, key := range sorted(places) {
			if _, twice := s.binds[key]; number == 1 && twice {
				wrong(key, "is placed twice")
			}
			if _, exists := s.facts.Nodes[places[key]]; !exists {
				wrong(key, fmt.Sprintf("is placed on %s, which does not exist", places[key]))
			}
			if task, exists := s.facts.Tasks[key]; !exists {
				wrong(key, "does not exist")
			} else if task.Barred != "" {
				wrong(key, task.Barred)
			}
		}
	}
	return found
}

func (s *session) askedOn(places map[string]string) map[string]Vector {
	asked := map[string]Vector{}
	for key, node := range places {
		task, exists := s.facts.Tasks[key]
		if !exists {
			continue
		}
		if asked[node] == nil {
			asked[node] = Vector{}
		}
		asked[node].add(task.Requests, 1)
	}
	return asked
}

func capacity(s *session) (found []Finding) {
	started, asked := s.askedOn(s.binds), s.askedOn(s.placed)
	for _, name := range sorted(asked) {
		node, exists := s.facts.Nodes[name]
		if !exists {
			continue
		}
		room := sum(node.Future)
		for _, key := range s.victims {
			if s.facts.Tasks[key].Node == name {
				room.add(s.facts.Tasks[key].Requests, 1)
			}
		}
		for _, resource := range exceeded(started[name], node.Idle) {
			found = append(found, Finding{"capacity", name, fmt.Sprintf("more %s is started than is idle", resource)})
		}
		for _, resource := range exceeded(asked[name], room) {
			found = append(found, Finding{"capacity", name, fmt.Sprintf("more %s is promised than will be free", resource)})
		}
	}
	return found
}

func exceeded(asked, room Vector) (found []string) {
	for _, name := range sorted(asked) {
		if asked[name] > 0 && asked[name] > room[name] {
			found = append(found, name)
		}
	}
	return found
}

func filters(s *session) (found []Finding) {
	for _, refusal := range s.facts.Refused {
		for _, key := range refusal.Tasks {
			node, placed := s.placed[key]
			if reason, refused := refusal.Nodes[node]; placed && refused {
				found = append(found, Finding{"filters", key, fmt.Sprintf("may not be on %s: %s", node, reason)})
			}
		}
	}
	return found
}

func gang(s *session) (found []Finding) {
	if !s.facts.Policy.Gangs {
		return nil
	}
	for _, key := range sorted(s.placedOf) {
		job := s.facts.Jobs[key]
		if s.reaches(job, s.binds) {
			continue
		}
		if s.facts.Policy.WaitsForAll && !s.reaches(job, s.placed) {
			text := fmt.Sprintf("gets %d tasks, fewer than its minimum of %d needs", len(s.placedOf[key]), job.Minimum)
			found = append(found, Finding{"gang", key, text})
			continue
		}
		started := 0
		for _, task := range s.placedOf[key] {
			if _, starts := s.binds[task]; starts {
				started++
			}
		}
		if started > 0 {
			text := fmt.Sprintf("starts %d tasks before its minimum of %d is ready", started, job.Minimum)
			found = append(found, Finding{"gang", key, text})
		}
	}
	return found
}

func queueLimit(s *session) (found []Finding) {
	if !s.facts.Policy.LimitsQueues {
		return nil
	}
	asked := map[string]map[string]bool{}
	for _, job := range sorted(s.placedOf) {
		name := s.facts.Jobs[job].Queue
		total := Vector{}
		for _, key := range s.placedOf[job] {
			task := s.facts.Tasks[key]
			if task.BestEffort {
				continue
			}
			total.add(task.Requests, 1)
			if s.facts.Queues[name].Closed {
				found = append(found, Finding{"queue", name, fmt.Sprintf("is not Open but %s is placed", key)})
			}
		}
		for _, queue := range s.line(name) {
			if asked[queue] == nil {
				asked[queue] = map[string]bool{}
			}
			for resource, amount := range total {
				if amount > 0 && resource != "pods" {
					asked[queue][resource] = true
				}
			}
		}
	}
	what := "capability"
	if s.facts.Policy.ByDeserved {
		what = "deserved share"
	}
	for _, name := range sorted(asked) {
		for _, resource := range sorted(asked[name]) {
			limit, stated := s.facts.Queues[name].Limit[resource]
			if stated && limit == nil {
				continue
			}
			most := int64(0)
			if stated {
				most = *limit
			}
			if s.after[name][resource] > most {
				found = append(found, Finding{"queue", name, fmt.Sprintf("holds more %s than its %s", resource, what)})
			}
		}
	}
	return found
}

func deserved(s *session) (found []Finding) {
	if s.facts.Policy.SharesRefused == nil {
		return nil
	}
	for _, job := range sorted(s.placedOf) {
		for _, key := range s.placedOf[job] {
			if !s.facts.Tasks[key].BestEffort {
				text := "is placed although queues have no shares: " + *s.facts.Policy.SharesRefused
				found = append(found, Finding{"deserved", key, text})
			}
		}
	}
	return found
}

func enqueue(s *session) (found []Finding) {
	if s.facts.Policy.Enter != "never" {
		return nil
	}
	for _, key := range s.entered {
		found = append(found, Finding{"enqueue", key, "enters from Pending, but no configured action lets it in"})
	}
	return found
}

func actions(s *session) (found []Finding) {
	if s.facts.Policy.Kube {
		return nil
	}
	wrong := func(key, text string) { found = append(found, Finding{"actions", key, text}) }
	for number, places := range []map[string]string{s.binds, s.reserves} {
		able, idle, what := []string{"allocate"}, []string{"backfill"}, "start"
		if number == 1 {
			able, idle, what = []string{"allocate", "preempt", "reclaim", "gangpreempt", "gangreclaim"}, []string{"preempt", "reclaim"}, "be reserved"
		}
		for _, key := range sorted(places) {
			task, exists := s.facts.Tasks[key]
			now := able
			if task.BestEffort {
				now = idle
			}
			if exists && !s.hasAction(now...) {
				wrong(key, fmt.Sprintf("could only %s by %v, not configured", what, now))
			}
		}
	}
	for _, one := range s.evictions {
		allowed := s.hasAction(one.Action) && (one.Action == "shuffle" || s.facts.Policy.Eviction)
		if one.Action != "" && !allowed {
			wrong(one.Task, fmt.Sprintf("is evicted by %s, which is not configured", one.Action))
		}
	}
	return found
}
