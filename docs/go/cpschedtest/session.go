package cpschedtest

import "sort"

// session is a decision seen against the facts of its case.
type session struct {
	facts     *Facts
	binds     map[string]string
	reserves  map[string]string
	placed    map[string]string
	evictions []Eviction
	evicted   map[string]bool
	entered   []string
	// victims and placedOf hold tasks that exist; jobs are those of the session.
	victims   []string
	placedOf  map[string][]string
	victimsOf map[string][]string
	after     map[string]Vector
}

func newSession(facts *Facts, decided Decision) *session {
	keys := map[string]string{}
	for key, task := range facts.Tasks {
		if _, taken := facts.Tasks[task.Pod]; task.Pod != "" && !taken {
			keys[task.Pod] = key
		}
	}
	s := &session{facts: facts, evicted: map[string]bool{}, placed: map[string]string{}}
	s.binds = renamed(decided.Binds, keys)
	allocated := renamed(decided.Allocated, keys)
	s.reserves = merged(allocated, renamed(decided.Pipelined, keys))
	for _, one := range decided.Evictions {
		if key, known := keys[one.Task]; known {
			one.Task = key
		}
		s.evictions = append(s.evictions, one)
		s.evicted[one.Task] = true
	}
	s.dropIdle(allocated)
	s.placed = merged(s.binds, s.reserves)
	s.group()
	s.enter(decided.Phases)
	s.weigh()
	return s
}

func renamed(places, keys map[string]string) map[string]string {
	found := map[string]string{}
	for name, node := range places {
		if key, known := keys[name]; known {
			name = key
		}
		found[name] = node
	}
	return found
}

func merged(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, part := range parts {
		for key, node := range part {
			all[key] = node
		}
	}
	return all
}

// dropIdle takes out tasks without requests that are merely allocated while their gang is incomplete.
func (s *session) dropIdle(allocated map[string]string) {
	placed := merged(s.binds, s.reserves)
	for key := range allocated {
		task, exists := s.facts.Tasks[key]
		if job, known := s.facts.Jobs[task.Job]; exists && task.BestEffort && known && !s.reaches(job, placed) {
			delete(s.reserves, key)
		}
	}
}

func (s *session) group() {
	s.placedOf, s.victimsOf = map[string][]string{}, map[string][]string{}
	for _, key := range sorted(s.placed) {
		if task, exists := s.facts.Tasks[key]; exists && task.Job != "" {
			s.placedOf[task.Job] = append(s.placedOf[task.Job], key)
		}
	}
	for _, key := range sorted(s.evicted) {
		task, exists := s.facts.Tasks[key]
		if exists {
			s.victims = append(s.victims, key)
		}
		if exists && task.Job != "" {
			s.victimsOf[task.Job] = append(s.victimsOf[task.Job], key)
		}
	}
}

func (s *session) enter(phases map[string]string) {
	let := map[string]bool{}
	for key, phase := range phases {
		if phase == "Inqueue" {
			let[key] = true
		}
	}
	for key := range merged(s.binds, s.reserves) {
		let[s.facts.Tasks[key].Job] = true
	}
	for _, key := range sorted(let) {
		if s.facts.Jobs[key].Pending {
			s.entered = append(s.entered, key)
		}
	}
}

// weigh adds up what queues hold once everything is placed and the victims are gone.
func (s *session) weigh() {
	s.after = map[string]Vector{}
	for name, queue := range s.facts.Queues {
		if queue.Allocated != nil {
			s.after[name] = sum(queue.Allocated)
		}
	}
	for sign, byJob := range map[int64]map[string][]string{1: s.placedOf, -1: s.victimsOf} {
		for job, tasks := range byJob {
			for _, name := range s.line(s.facts.Jobs[job].Queue) {
				for _, key := range tasks {
					s.after[name].add(s.facts.Tasks[key].Requests, sign)
				}
			}
		}
	}
}

// line is the queue and its ancestors, nothing for a queue without a share.
func (s *session) line(queue string) []string {
	if s.facts.Queues[queue].Allocated == nil {
		return nil
	}
	return append([]string{queue}, s.facts.Queues[queue].Ancestors...)
}

// reaches says whether the job has its minimum, with these tasks placed and the victims gone.
func (s *session) reaches(job Job, placed map[string]string) bool {
	there, roles := 0, map[string]int{}
	for _, key := range job.Tasks {
		task := s.facts.Tasks[key]
		_, isPlaced := placed[key]
		if (isPlaced || task.Present || task.Pending && task.BestEffort) && !s.evicted[key] {
			there++
			roles[task.Role]++
		}
	}
	for role, minimum := range job.Roles {
		if roles[role] < minimum {
			return false
		}
	}
	return there >= job.Minimum
}

// has says whether the job has its minimum at work, before or after the decision; what asks for nothing counts once it starts.
func (s *session) has(job Job, after bool) bool {
	there, roles := 0, map[string]int{}
	for _, key := range job.Tasks {
		task := s.facts.Tasks[key]
		_, starts := s.binds[key]
		if task.Present && !(after && s.evicted[key]) || after && starts && !s.evicted[key] {
			there++
			roles[task.Role]++
		}
	}
	for role, minimum := range job.Roles {
		if roles[role] < minimum {
			return false
		}
	}
	return there >= job.Minimum
}

func (s *session) starts(job Job) int {
	count := 0
	for _, key := range job.Tasks {
		if _, starts := s.binds[key]; starts {
			count++
		}
	}
	return count
}

func (s *session) hasAction(names ...string) bool {
	for _, configured := range s.facts.Policy.Actions {
		for _, name := range names {
			if configured == name {
				return true
			}
		}
	}
	return false
}

func sorted[V any](of map[string]V) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
