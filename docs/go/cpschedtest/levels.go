package cpschedtest

import (
	"math/big"
	"strings"
)

const (
	priorityOffset = 1 << 31
	millionths     = 1_000_000
)

// value is what the decision comes to on one level.
func (s *session) value(level Level) Value {
	within := s.victims
	priority := ""
	if at := strings.IndexByte(level.Label, '['); at >= 0 {
		priority = strings.TrimSuffix(level.Label[at+1:], "]")
		within = s.beyond(priority)
	}
	switch level.Name {
	case "jobs_admitted":
		return whole(s.admitted(priority))
	case "victim_count":
		return whole(int64(len(within)))
	case "victim_priority_sum":
		return whole(s.prioritySum(within))
	case "victim_max_priority":
		return s.topPriority(within)
	case "victim_start_time":
		return s.firstStart(within)
	}
	return whole(ofDecision[level.Name](s))
}

var ofDecision = map[string]func(*session) int64{
	"queue_deficit_max":   func(s *session) int64 { most, _ := s.deficits(); return most },
	"queue_deficit_total": func(s *session) int64 { _, total := s.deficits(); return total },
	"pdb_violations":      pdbViolations,
	"gangs_broken":        gangsBroken,
	"tasks_bound":         func(s *session) int64 { return int64(len(s.binds)) },
	"tasks_placed":        func(s *session) int64 { return int64(len(s.placed)) },
	"resources_placed":    resourcesPlaced,
	"nodes_used":          nodesUsed,
}

func whole(number int64) Value { return Value{Number: number, Exists: true} }

// beyond are the victims that no job of lower priority has a right to evict.
func (s *session) beyond(priority string) []string {
	counted := map[string]bool{}
	for _, key := range s.facts.Between[priority] {
		counted[key] = true
	}
	var found []string
	for _, key := range s.victims {
		if task := s.facts.Tasks[key]; counted[key] || !task.Holds || task.Job == "" {
			found = append(found, key)
		}
	}
	return found
}

func (s *session) admitted(priority string) int64 {
	count := int64(0)
	for key := range s.placedOf {
		job := s.facts.Jobs[key]
		if job.Starving && big.NewInt(job.Priority).String() == priority {
			count++
		}
	}
	return count
}

func (s *session) prioritySum(victims []string) int64 {
	total := int64(0)
	for _, key := range victims {
		total += s.facts.Tasks[key].PodPriority + priorityOffset
	}
	return total
}

func (s *session) topPriority(victims []string) (top Value) {
	for _, key := range victims {
		if priority := s.facts.Tasks[key].PodPriority; !top.Exists || priority > top.Number {
			top = whole(priority)
		}
	}
	return top
}

func (s *session) firstStart(victims []string) (first Value) {
	top := s.topPriority(victims)
	for _, key := range victims {
		task := s.facts.Tasks[key]
		if task.PodPriority == top.Number && (!first.Exists || task.Start < first.Number) {
			first = Value{Number: task.Start, Exists: true, Time: true}
		}
	}
	return first
}

// deficits are the largest and the sum of what queues lack of what they deserve and ask for, rounded up each.
func (s *session) deficits() (most, total int64) {
	for name, queue := range s.facts.Queues {
		worst := new(big.Rat)
		for resource, pair := range queue.Wants {
			want := big.NewRat(pair[0], pair[1])
			lacks := new(big.Rat).Sub(want, new(big.Rat).SetInt64(s.after[name][resource]))
			if lacks.Quo(lacks, want).Cmp(worst) > 0 {
				worst = lacks
			}
		}
		deficit := ceil(worst.Mul(worst, big.NewRat(millionths, 1)))
		total += deficit
		if deficit > most {
			most = deficit
		}
	}
	return most, total
}

func ceil(of *big.Rat) int64 {
	quotient, rest := new(big.Int).QuoRem(of.Num(), of.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		return quotient.Int64() + 1
	}
	return quotient.Int64()
}

func pdbViolations(s *session) int64 {
	total := 0
	for budget, used := range s.budgetUse(s.victims) {
		if allowed := max(0, s.facts.Budgets[budget]); used > allowed {
			total += used - allowed
		}
	}
	return int64(total)
}

func gangsBroken(s *session) int64 {
	count := int64(0)
	for key := range s.victimsOf {
		job := s.facts.Jobs[key]
		if s.has(job, false) && !s.has(job, true) {
			count++
		}
	}
	return count
}

func resourcesPlaced(s *session) int64 {
	total := int64(0)
	for key := range s.placed {
		worst := new(big.Rat)
		for name, amount := range s.facts.Tasks[key].Requests {
			if all := s.facts.Total[name]; all != 0 {
				if share := big.NewRat(amount, all); share.Cmp(worst) > 0 {
					worst = share
				}
			}
		}
		worst.Mul(worst, big.NewRat(millionths, 1))
		total += new(big.Int).Quo(worst.Num(), worst.Denom()).Int64()
	}
	return total
}

func nodesUsed(s *session) int64 {
	used := map[string]bool{}
	for key, task := range s.facts.Tasks {
		if task.Sits && !s.evicted[key] {
			used[task.Node] = true
		}
	}
	for key, node := range s.placed {
		if _, exists := s.facts.Tasks[key]; exists {
			used[node] = true
		}
	}
	return int64(len(used))
}
