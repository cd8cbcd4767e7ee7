package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/calllog"
)

// checkLogCmd implements `simrun check-log`, which checks a recorded log of a provider's answers against the contract.
type checkLogCmd struct {
	File string `arg:"" help:"The log, one call per line; - reads standard input."`

	contractFlag

	JSON bool `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (checkLogCmd) Help() string {
	return `Reads a log of calls that were made on an initially empty store, one after another, and names the first answer that the contract does not allow, with the allowed ones. A line is a JSON object with at_ms, method, params, and result or error, as docs/oracle-protocol.md describes; calllog.Record writes such logs in Go.

Examples:

    simrun check-log calls.jsonl
    ./provider --log /dev/stdout | simrun check-log -

Exit status: 0 every answer is allowed, 1 one is not, 2 usage or bad input.`
}

// checkLogJSON is the object printed by check-log --json.
type checkLogJSON struct {
	Schema     int    `json:"schema"`
	Verb       string `json:"verb"`
	Calls      int    `json:"calls"`
	Line       int    `json:"line,omitempty"`
	Refusal    string `json:"refusal,omitempty"`
	ExitStatus int    `json:"exit_status"`
}

func (c *checkLogCmd) run(a *app) (int, error) {
	var in io.Reader = os.Stdin
	name := "standard input"
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return 0, err
		}
		defer file.Close()
		in, name = file, c.File
	}
	denied, err := c.denied()
	if err != nil {
		return 0, err
	}
	calls, err := calllog.Check(in, oracle.Options{Deny: denied})
	out := checkLogJSON{Schema: schema, Verb: "check-log", Calls: calls}
	var wrong *calllog.Error
	switch {
	case err == nil:
	case errors.As(err, &wrong) && wrong.Refusal != nil:
		out.Line, out.Refusal, out.ExitStatus = wrong.Line, wrong.Refusal.Error(), exitSafety
	case wrong != nil:
		return 0, fmt.Errorf("%s:%d: %w", name, wrong.Line, wrong.Err)
	default:
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case c.JSON:
		return out.ExitStatus, a.writeJSON(out)
	case out.ExitStatus == exitOK:
		a.printf("%s: %s calls, the contract allows every answer\n", name, grouped(uint64(calls)))
	default:
		a.printf("%s:%d: REFUSED after %s allowed calls\n\n%s\n", name, out.Line, grouped(uint64(calls)), out.Refusal)
	}
	return out.ExitStatus, nil
}
