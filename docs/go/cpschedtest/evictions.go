package cpschedtest

import "fmt"

// entitled are the jobs with a task placed beside the victim that may preempt it.
func (s *session) entitled(victim string) map[string]bool {
	found, gone := map[string]bool{}, s.facts.Tasks[victim]
	for key, node := range s.placed {
		task, exists := s.facts.Tasks[key]
		if exists && (s.facts.Policy.Everywhere || node == gone.Node) && s.mayPreempt(task, gone) {
			found[task.Job] = true
		}
	}
	return found
}

func (s *session) mayPreempt(task, victim Task) bool {
	job, known := s.facts.Jobs[task.Job]
	owner, owned := s.facts.Jobs[victim.Job]
	switch {
	case !known || !owned || !victim.Holds || !victim.Preemptable:
		return false
	case !s.facts.Policy.Preempts || !job.MayEvict || task.NeverPreempts || job.Queue != owner.Queue:
		return false
	case !s.facts.Policy.Kube && task.BestEffort && !victim.BestEffort:
		return false
	case task.Job == victim.Job:
		return victim.Priority < task.Priority
	}
	return owner.Priority < job.Priority
}

func eviction(s *session) (found []Finding) {
	wrong := func(key, text string) { found = append(found, Finding{"eviction", key, text}) }
	seen := map[string]bool{}
	for _, one := range s.evictions {
		victim, exists := s.facts.Tasks[one.Task]
		jobs := s.entitled(one.Task)
		switch {
		case !exists:
			wrong(one.Task, "does not exist")
		case seen[one.Task]:
			wrong(one.Task, "is evicted twice")
		case !s.facts.Policy.Eviction:
			wrong(one.Task, "is evicted although the policy allows no evictions")
		case one.Node != "" && one.Node != victim.Node:
			wrong(one.Task, fmt.Sprintf("is on %s, not on %s", victim.Node, one.Node))
		case len(jobs) == 0:
			wrong(one.Task, fmt.Sprintf("nobody placed on %s for a starving job may evict it", victim.Node))
		case one.For != "" && !jobs[one.For]:
			wrong(one.Task, fmt.Sprintf("%s, for which it goes, places nobody who may evict it", one.For))
		}
		seen[one.Task] = true
	}
	return found
}

// protected are the victims to which the protections of preempt apply: those that somebody may evict.
func (s *session) protected() []string {
	var found []string
	for _, key := range s.victims {
		if len(s.entitled(key)) > 0 {
			found = append(found, key)
		}
	}
	return found
}

func protectGang(s *session) (found []Finding) {
	mode, of := s.facts.Policy.Protects.Gang, map[string]bool{}
	for _, key := range s.protected() {
		of[s.facts.Tasks[key].Job] = true
	}
	for _, key := range sorted(s.victimsOf) {
		job, victims := s.facts.Jobs[key], s.victimsOf[key]
		left := job.Ready - len(victims) + s.starts(job)
		if left >= job.Minimum || !of[key] || mode == "off" || (mode != "keep" && len(victims) == job.Holding) {
			continue
		}
		text := fmt.Sprintf("%d tasks are left of a minimum of %d", left, job.Minimum)
		found = append(found, Finding{"protect.gang", key, text})
	}
	return found
}

func protectConformance(s *session) (found []Finding) {
	for _, key := range s.protected() {
		if s.facts.Policy.Protects.Conformance && s.facts.Tasks[key].Critical {
			found = append(found, Finding{"protect.conformance", key, "is critical to the system"})
		}
	}
	return found
}

func protectCooldown(s *session) (found []Finding) {
	for _, key := range s.protected() {
		if s.facts.Policy.Protects.Cooldown && s.facts.Tasks[key].Cooling {
			found = append(found, Finding{"protect.cooldown", key, "started too short a while ago"})
		}
	}
	return found
}

// budgetUse are the victims that count against each budget.
func (s *session) budgetUse(of []string) map[string]int {
	used := map[string]int{}
	for _, key := range of {
		for _, budget := range s.facts.Tasks[key].Budgets {
			used[budget]++
		}
	}
	return used
}

func protectPDB(s *session) (found []Finding) {
	if s.facts.Policy.Protects.PDB != "hard" {
		return nil
	}
	all, hard := s.budgetUse(s.victims), s.budgetUse(s.protected())
	for _, budget := range sorted(hard) {
		if allowed := s.facts.Budgets[budget]; all[budget] > allowed {
			text := fmt.Sprintf("%d of its pods are evicted, %d allowed", all[budget], allowed)
			found = append(found, Finding{"protect.pdb", budget, text})
		}
	}
	return found
}

func protectGuarantee(s *session) (found []Finding) {
	if !s.facts.Policy.Protects.Guarantee {
		return nil
	}
	losers := map[string]bool{}
	for _, key := range s.protected() {
		name := s.facts.Jobs[s.facts.Tasks[key].Job].Queue
		if s.facts.Queues[name].Allocated != nil {
			losers[name] = true
		}
	}
	for _, name := range sorted(losers) {
		least := Vector{"cpu": 0, "memory": 0}
		for resource, amount := range s.facts.Queues[name].Guarantee {
			least[resource] = amount
		}
		for resource, amount := range least {
			if amount > s.after[name][resource] {
				found = append(found, Finding{"protect.guarantee", name, "is pushed below its guarantee"})
				break
			}
		}
	}
	return found
}
