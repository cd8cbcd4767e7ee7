package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
)

// CheckNeeds rejects an entry that needs orchestrations or activities that are not registered. known lists the
// orchestrations that nodes of all builds may register, as in CheckHandlers, and their activities. own means that the
// caller has its own handlers. The error is an *Error.
func (e *Entry) CheckNeeds(file string, known []string, own bool) error {
	missing := slices.DeleteFunc(slices.Clone(e.Needs), func(name string) bool { return own && slices.Contains(known, name) })
	if len(missing) == 0 {
		return nil
	}
	return &Error{File: file, Msg: needs(missing)}
}

// CheckProvider rejects an entry that was stored over a provider if there is none for its replay. how says how to give
// one. The error is an *Error.
func (e *Entry) CheckProvider(file string, given bool, how string) error {
	if e.Provider == "" || given {
		return nil
	}
	return &Error{File: file, Msg: fmt.Sprintf("the run was stored over the provider %s; over durosim's own store it is a different run: %s", e.Provider, how)}
}

func needs(missing []string) string {
	return fmt.Sprintf("the stored run needs the handlers %s, which this program does not have: "+
		"replay it with the program or the test that stored it", strings.Join(missing, ", "))
}

// CheckHandlers rejects a scenario that refers to code that no node has. Otherwise an instance of such an orchestration
// would end as poison, as the contract requires, and the scenario would pass without a single turn. If an orchestration
// is missing on purpose, the instance must say "expect poison" or "expect any". Likewise, a declared build that
// withdraws such a handler would change nothing. orchestrations (as "Name@1.0.0") and activities list what nodes of all
// known builds may register. The scenario's programs are known as well. The error is an *Error.
func (s *Scenario) CheckHandlers(orchestrations, activities []string) error {
	type start struct {
		what, name, version string
		expect              plan.End
		line                int
	}
	var starts []start
	for _, in := range s.Template.Instances {
		starts = append(starts, start{"instance " + in.ID, in.Orchestration, in.Version, in.Expect, s.lines["instance "+in.ID]})
	}
	if s.Load != nil {
		for i, m := range s.Load.Mix {
			if !m.Generated {
				starts = append(starts, start{"mix", m.Orchestration, m.Version, m.Expect, s.lines["mix "+strconv.Itoa(i)]})
			}
		}
	}
	known := slices.Concat(orchestrations, pretty.Texts(s.Template.Programs, func(p program.Program) string { return p.Name + "@" + p.At() }))
	names := pretty.Texts(known, func(k string) string { return strings.SplitN(k, "@", 2)[0] })
	if err := s.checkBuilds(slices.Concat(known, names, activities)); err != nil {
		return err
	}
	for _, e := range s.Expect {
		for _, a := range slices.Concat(e.Where, e.Has) {
			handlers := strings.Split(a.Value, "|")
			if strings.Contains(a.Name, "@") { // of a node: whether it has it
				handlers = []string{a.Name}
			} else if a.Name != "handler" {
				continue
			}
			for _, handler := range handlers {
				name, _, _ := strings.Cut(handler, "@")
				is := plan.Attr{Value: handler}
				switch {
				case name == "none" || slices.ContainsFunc(known, is.Match):
					continue
				case slices.Contains(names, name):
					name = handler
				}
				return &Error{File: s.File, Line: e.Line, Msg: fmt.Sprintf("%s: no node has the orchestration %q%s", a, name, pretty.Hint(name, slices.Concat(known, names)))}
			}
		}
	}
	for _, st := range starts {
		handler, hint := st.name, ""
		switch {
		case st.expect.Allows(plan.EndPoison):
			continue
		case !slices.Contains(names, st.name):
			hint = pretty.Hint(st.name, names)
		case st.version == "" || slices.Contains(known, st.name+"@"+st.version):
			continue
		default:
			handler += "@" + st.version
		}
		return &Error{File: s.File, Line: st.line, Msg: fmt.Sprintf("%s: no node has the orchestration %q%s; "+
			`if it is missing on purpose, add "expect poison" or "expect any"`, st.what, handler, hint)}
	}
	return nil
}

// CheckRequired rejects a scenario that requires a coverage point for which check returns an error. The error is an
// *Error.
func (s *Scenario) CheckRequired(check func(point string) error) error {
	for _, point := range s.Require {
		if err := check(point); err != nil {
			return &Error{File: s.File, Line: s.lines["coverage point "+point], Msg: err.Error()}
		}
	}
	return nil
}

// Place returns the error of the Validate of one of the scenario's plans. If it is about a line of the scenario, it is
// an *Error.
func (s *Scenario) Place(err error) error {
	var problem *plan.Problem
	if !errors.As(err, &problem) {
		return err
	}
	line, ok := s.lines[problem.Part]
	if !ok {
		return err
	}
	return &Error{File: s.File, Line: line, Msg: problem.Msg}
}

func (s *Scenario) checkBuilds(known []string) error {
	for _, b := range s.Template.Builds {
		for _, name := range slices.Concat(b.Handlers.Only, b.Handlers.With, b.Handlers.Without) {
			if !slices.Contains(known, name) {
				return &Error{File: s.File, Line: s.lines["handler "+name+" of "+b.Name], Msg: fmt.Sprintf("build %s: no known build ships %q%s", b.Name, name, pretty.Hint(name, known))}
			}
		}
	}
	return nil
}
