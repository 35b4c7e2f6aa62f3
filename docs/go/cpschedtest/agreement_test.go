package cpschedtest

import (
	"bufio"
	"encoding/json"
	"os"
	"reflect"
	"sort"
	"testing"
)

// TestAgreement holds the rules and levels here against those of cpsched, for decisions that cpsched has checked.
// The file has a line per case: the row of a corpus with `checked`, decisions with findings and levels.
func TestAgreement(t *testing.T) {
	path := os.Getenv("CPSCHED_CHECKED")
	if path == "" {
		t.Skip("CPSCHED_CHECKED names no file of decisions that cpsched has checked")
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, decisions, open := bufio.NewReaderSize(file, 1<<20), 0, map[string]int{}
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			break
		}
		one, err := readCase(line)
		if err != nil {
			t.Fatal(err)
		}
		var row struct {
			Checked []checked `json:"checked"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		for _, given := range row.Checked {
			decisions++
			for _, rule := range agree(t, one, given) {
				open[rule]++
			}
		}
	}
	t.Logf("%d decisions, rules left to cpsched verify: %v", decisions, open)
}

type checked struct {
	Decision Decision         `json:"decision"`
	Findings [][2]string      `json:"findings"`
	Levels   map[string]Value `json:"levels"`
}

func agree(t *testing.T, one *Case, given checked) []string {
	t.Helper()
	found, err := Check(one, given.Decision)
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{}
	for _, rule := range found.Open {
		open[rule] = true
	}
	mine, theirs := [][2]string{}, [][2]string{}
	for _, finding := range found.Findings {
		mine = append(mine, [2]string{finding.Rule, finding.Subject})
	}
	for _, finding := range given.Findings {
		if !open[finding[0]] {
			theirs = append(theirs, finding)
		}
	}
	for _, list := range [][][2]string{mine, theirs} {
		sort.Slice(list, func(i, j int) bool { return list[i][0]+list[i][1] < list[j][0]+list[j][1] })
	}
	if !reflect.DeepEqual(mine, theirs) {
		t.Errorf("%s: findings here %v, of cpsched %v", one.ID, mine, theirs)
	}
	if !reflect.DeepEqual(found.Values, given.Levels) {
		t.Errorf("%s: levels here %v, of cpsched %v", one.ID, found.Values, given.Levels)
	}
	return found.Open
}
