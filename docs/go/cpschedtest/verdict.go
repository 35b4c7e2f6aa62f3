package cpschedtest

import (
	"fmt"
	"strings"
)

// Verdict is what one decision comes to.
type Verdict struct {
	Findings []Finding
	// Open are the rules that were not checked: the numbers of the case do not settle them, and `cpsched` did not either.
	Open []string
	// Levels in order, the most important first.
	Levels   []Level
	Values   map[string]Value
	Affected Affected
	Faults   []Fault
	Notes    []string
	// Better than the baseline, which could be updated.
	Better bool
	// Behind is the first level on which the best decision is better, empty if there is none.
	Behind string
}

// Fault is a reason why a case does not pass.
type Fault struct {
	// Kind is rule, worse or idle; Key the rule or the level.
	Kind, Key, Message string
}

func (f Fault) String() string { return fmt.Sprintf("%s %s: %s", f.Kind, f.Key, f.Message) }

// Affected are the names: tasks that are placed, by job, and victims.
type Affected struct {
	Placed  map[string][]string `json:"placed,omitempty"`
	Victims []string            `json:"victims,omitempty"`
}

// Check applies every rule that needs no more than the facts of the case, and works out every level.
func Check(c *Case, decided Decision) (*Verdict, error) {
	if c.Facts == nil {
		return nil, fmt.Errorf("case %s has no facts: only cpsched verify can check it", c.ID)
	}
	s := newSession(c.Facts, decided)
	open := s.open()
	found := &Verdict{Open: sorted(open), Levels: c.Facts.Plan, Values: map[string]Value{}, Affected: s.affected()}
	for _, rule := range sorted(rules) {
		if !open[rule] {
			found.Findings = append(found.Findings, rules[rule](s)...)
		}
	}
	for _, level := range c.Facts.Plan {
		found.Values[level.Label] = s.value(level)
	}
	return found, nil
}

func (s *session) affected() Affected {
	found := Affected{Placed: map[string][]string{}, Victims: sorted(s.evicted)}
	for _, key := range sorted(s.placed) {
		job := s.facts.Tasks[key].Job
		if job == "" {
			job = key
		}
		found.Placed[job] = append(found.Placed[job], key)
	}
	return found
}

func (v *Verdict) counts() map[string]int {
	counts := map[string]int{}
	for _, finding := range v.Findings {
		counts[finding.Rule]++
	}
	return counts
}

// against compares with a baseline and with the best decision; what is worse is a fault.
func (v *Verdict) against(before *Baseline, best *Optimum) {
	accepted := map[string]int{}
	if before != nil {
		accepted = before.Findings
	}
	for _, rule := range sorted(v.counts()) {
		if count := v.counts()[rule]; count > accepted[rule] {
			v.Faults = append(v.Faults, Fault{"rule", rule, fmt.Sprintf("%s (%d, %d accepted)", v.first(rule), count, accepted[rule])})
		}
	}
	if before != nil && len(v.Open) == 0 || before != nil && len(v.Findings) == 0 && len(before.Findings) == 0 {
		v.compare(before)
	}
	v.behind(best)
	if v.Behind != "" && before == nil && v.idle() && len(best.Decision.Binds)+len(best.Decision.Pipelined) > 0 {
		v.Faults = append(v.Faults, Fault{"idle", v.Behind, "nothing is decided; " + v.distance(best)})
	}
}

func (v *Verdict) idle() bool { return len(v.Affected.Placed)+len(v.Affected.Victims) == 0 }

func (v *Verdict) first(rule string) string {
	for _, finding := range v.Findings {
		if finding.Rule == rule {
			return finding.Subject + " " + finding.Message
		}
	}
	return ""
}

// compare finds the first difference: the number of findings, then the levels from the top.
func (v *Verdict) compare(before *Baseline) {
	accepted := 0
	for _, count := range before.Findings {
		accepted += count
	}
	if len(v.Findings) != accepted {
		v.Better = len(v.Findings) < accepted
		if !v.Better && len(v.Faults) == 0 {
			v.Faults = append(v.Faults, Fault{"worse", "findings", fmt.Sprintf("%d, %d in the baseline", len(v.Findings), accepted)})
		}
		return
	}
	for _, level := range v.Levels {
		was, stated := before.Levels[level.Label]
		if !stated {
			v.Notes = append(v.Notes, "the baseline has other levels: the case is not the same question")
			return
		}
		now := v.Values[level.Label]
		if order := better(now, was, level.Sense); order != 0 {
			v.Better = order < 0
			if !v.Better {
				text := fmt.Sprintf("%s, %s in the baseline; %s", now, was, changes(v.Affected, before.Decision, "in the baseline"))
				v.Faults = append(v.Faults, Fault{"worse", level.Label, strings.TrimSuffix(text, "; ")})
			}
			return
		}
	}
}

func (v *Verdict) behind(best *Optimum) {
	if best == nil || len(v.Findings) > 0 {
		return
	}
	for _, level := range v.Levels {
		order := better(v.Values[level.Label], best.Levels[level.Label].Value, level.Sense)
		if order > 0 {
			v.Behind = level.Label
		}
		if order != 0 {
			return
		}
	}
}

func (v *Verdict) distance(best *Optimum) string {
	return fmt.Sprintf("behind the optimum at %s: %s against %s", v.Behind, v.Values[v.Behind], best.Levels[v.Behind].Value)
}

// changes says who fares otherwise than before.
func changes(now, before Affected, where string) string {
	var found []string
	for _, job := range sorted(before.Placed) {
		was, is := before.Placed[job], now.Placed[job]
		if len(is) == 0 {
			found = append(found, fmt.Sprintf("job %s is not placed (%s %s)", job, listed(was), where))
		} else if len(is) < len(was) {
			found = append(found, fmt.Sprintf("job %s has %d fewer tasks than %s", job, len(was)-len(is), where))
		}
	}
	for _, job := range sorted(now.Placed) {
		if len(before.Placed[job]) == 0 {
			found = append(found, fmt.Sprintf("job %s is placed (%s), not %s", job, listed(now.Placed[job]), where))
		}
	}
	if strings.Join(now.Victims, " ") != strings.Join(before.Victims, " ") {
		text := fmt.Sprintf("victims %s: %s; now: %s", where, listed(before.Victims), listed(now.Victims))
		switch more := len(now.Victims) - len(before.Victims); {
		case more > 0:
			text = fmt.Sprintf("%d more (%s)", more, text)
		case more < 0:
			text = fmt.Sprintf("%d fewer (%s)", -more, text)
		}
		found = append(found, text)
	}
	return strings.Join(found, "; ")
}

const mostNames = 5

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if rest := len(names) - mostNames; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), rest)
	}
	return strings.Join(names, ", ")
}
