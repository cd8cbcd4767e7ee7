package command

import (
	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/sim/cluster"
)

// replay replays one run of a variant of the plan and prints its story.
func (c *planCmd) replay(a *app, s *subject, cfg upgrade.Config) (int, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	seed := c.Seed.or(1)
	if _, err := cfg.One(c.Replay, seed); err != nil {
		return 0, err
	}
	r := newReplayed(s, seed)
	r.name = "plan " + s.scenario.Name + ", " + c.Replay
	r.line = c.oneLine(s, c.Replay, seed, c.Instance)
	r.made = func() (cluster.Config, error) { return cfg.One(c.Replay, seed) }
	return r.tell(a, &c.storyFlags, &pictureFlags{HTML: c.HTML}, c.JSON)
}

// oneLine returns the command that replays one run of a variant.
func (c *planCmd) oneLine(s *subject, variant string, seed uint64, instance string) string {
	words := append([]string{"plan"}, s.options()...)
	if c.Store != "" {
		words = append(words, "--store", c.Store)
	}
	words = append(words, "--replay", variant, "--seed", decimal(seed))
	if instance != "" {
		words = append(words, "--instance", instance)
	}
	return itself(append(words, s.arg)...)
}

// tryBug returns the command that tries a planted bug in this plan.
func (c *planCmd) tryBug(s *subject) string {
	words := []string{"simrun", "plan", "--bug", "ID"}
	if c.Store != "" {
		words = append(words, "--store", c.Store)
	}
	return commandline.Join(append(words, s.arg)...)
}
