package realnode_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/realnode"
	"github.com/durosim/durosim/sim/scenario"
)

// If a test needs a host that fails, the test binary acts as the host, and this variable selects how it fails.
const behaviourVariable = "REALNODE_TEST_HOST"

func TestMain(m *testing.M) {
	if behaviour := os.Getenv(behaviourVariable); behaviour != "" {
		os.Exit(badHost(behaviour))
	}
	if seed := os.Getenv(digestVariable); seed != "" {
		os.Exit(printDigest(seed))
	}
	os.Exit(m.Run())
}

// badHost describes itself properly and then misbehaves when it should run a node.
func badHost(behaviour string) int {
	release := "0.1.32"
	if behaviour == "another release" {
		release = "0.1.31"
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer := "{}"
		switch line := in.Text(); {
		case strings.Contains(line, `"describe"`):
			answer = fmt.Sprintf(`{"protocol":4,"release":%q}`, release)
		case strings.Contains(line, `"run"`):
			switch behaviour {
			case "dies":
				fmt.Fprintln(os.Stderr, "out of memory")
				return 3
			case "hangs":
				<-time.After(time.Hour)
			case "nonsense":
				answer = "[1, 2"
			case "refuses":
				answer = `{"error":"node A is not running"}`
			case "unknown call":
				answer = `{"now_ms":1,"calls":[{"id":1,"method":"conjure","params":{}}]}`
			case "wrong call":
				answer = `{"now_ms":1,"calls":[{"id":1,"method":"ack_work_item","params":{"lock_token":7}}]}`
			case "other filter":
				answer = `{"now_ms":1,"calls":[{"id":1,"method":"fetch_orchestration_item","params":{"lock_timeout_ms":1}}]}`
			case "activity out of nowhere":
				answer = `{"now_ms":1,"calls":[{"id":1,"method":"run_activity","params":{"instance":"x","name":"program.call"}}]}`
			}
		}
		fmt.Println(answer)
	}
	return 0
}

// text is a scenario with a released node.
const text = `
fault-phase 5s
node A runs duroxide 0.1.32

load 4 instances from 1s over 2s
  mix 1 generated programs
`

func run(t *testing.T, text string, seed uint64, releases cluster.Releases) (*cluster.Result, error) {
	t.Helper()
	return runText(text, seed, releases)
}

func runText(text string, seed uint64, releases cluster.Releases) (*cluster.Result, error) {
	s, err := scenario.Parse("real.txt", []byte(text))
	if err != nil {
		return nil, err
	}
	return runScenario(s, seed, releases)
}

func runScenario(s *scenario.Scenario, seed uint64, releases cluster.Releases, bugs ...faults.BugID) (*cluster.Result, error) {
	plan, err := s.Expand(seed, scenario.Overrides{Bugs: bugs})
	if err != nil {
		return nil, err
	}
	monitor := func(w *cluster.World) cluster.Monitor {
		return properties.New(w, properties.Options{Expectations: s.Expect})
	}
	return cluster.Run(cluster.Config{Plan: plan, Seed: seed, Releases: releases, Monitor: monitor})
}

// TestHostThatFails checks that a misbehaving host ends the run with an error that quotes its last output, and never
// with a verdict.
func TestHostThatFails(t *testing.T) {
	self := sample.Must(os.Executable())(t)
	dir := t.TempDir()
	sample.OK(t, os.Symlink(self, filepath.Join(dir, "durosim-host-0-1-32")))
	for _, c := range []struct{ behaviour, want string }{
		{"dies", "host: run: it closed its standard output; " + filepath.Join(dir, "durosim-host-0-1-32") + " ended: exit status 3; it wrote to standard error:\nout of memory"},
		{"hangs", "host: run: no answer within 1s; "},
		{"nonsense", "host: run: an answer that is not a JSON object: [1, 2"},
		{"refuses", "host: run: node A is not running"},
		{"unknown call", `host: call conjure: unknown method "conjure"`},
		{"wrong call", "host: call ack_work_item: params.lock_token: "},
		{"other filter", "host: the node fetches with filter "},
		{"activity out of nowhere", "host: activity 0 (program.call) of x, execution 0, began without having been given to the node"},
		{"another release", "want a host for duroxide 0.1.32 with protocol 4, got 0.1.31"},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			t.Setenv(behaviourVariable, c.behaviour)
			hosts := realnode.New(dir)
			if c.behaviour == "hangs" {
				realnode.SetPatience(hosts, time.Second)
			}
			result, err := run(t, text, 1, hosts)
			if result != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "node A: ") {
				t.Errorf("got %v, %v; want an error with %q", result, err, c.want)
			}
		})
	}
}

// TestNoHost checks that nothing runs without a host, and that the error says how to build it.
func TestNoHost(t *testing.T) {
	_, err := run(t, text, 1, realnode.New("nowhere"))
	want := "but " + filepath.Join("nowhere", "durosim-host-0-1-32") + " does not exist."
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "simrun hosts build") {
		t.Errorf("got %v, want %q and the command that builds the host", err, want)
	}
}

// TestDefault checks that hosts are looked up where the environment says or, failing that, in the user's cache.
func TestDefault(t *testing.T) {
	build := engine.ReleasedBuilds()[2]
	dir := t.TempDir()
	t.Setenv(realnode.Environment, dir)
	if got, want := realnode.Releases().Program(build), filepath.Join(dir, "durosim-host-0-1-32"); got != want {
		t.Errorf("with %s set: %s, want %s", realnode.Environment, got, want)
	}
	t.Setenv(realnode.Environment, "")
	cache := sample.Must(os.UserCacheDir())(t)
	if got, want := realnode.Releases().Program(build), filepath.Join(cache, "durosim", "hosts"); !strings.HasPrefix(got, want) {
		t.Errorf("without %s: %s, want it below %s", realnode.Environment, got, want)
	}
}

func TestBuildWithoutCargo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	err := realnode.New(dir).Build(t.Context(), engine.ReleasedBuilds()[0], io.Discard)
	if err == nil || !strings.Contains(err.Error(), "cargo, which is not installed or not in PATH") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it has left %v behind", left)
	}
}

// hosts returns the host programs named by the environment. Without them, the test is skipped.
func hosts(t *testing.T) *realnode.Hosts {
	t.Helper()
	dir := os.Getenv(realnode.Environment)
	if dir == "" {
		t.Skip(realnode.Environment + " is not set: no host programs")
	}
	return realnode.New(dir)
}
