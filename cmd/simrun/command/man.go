package command

import (
	"fmt"
	"strings"
)

// man returns the program's manual page in roff, from the table of its verbs.
func (a *app) man() string {
	model := newParser(&cli{}, a.program, a.help, a.stderr).Model
	name := a.program.name()
	first, rest, _ := strings.Cut(model.Help, "\n\n")
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(".TH %s 1", strings.ToUpper(name))
	line(".SH NAME\n%s \\- simulate upgrades of durable-execution clusters", name)
	line(".SH SYNOPSIS\n.B %s\n[\\fIverb\\fR] [\\fIflags\\fR]", name)
	line(".SH DESCRIPTION\n%s\n.PP\n%s", roff(first), roff(rest))
	line(".SH VERBS")
	for _, v := range model.Children {
		if v.Hidden {
			continue
		}
		line(".SS %s", roff(v.Summary()))
		line("%s", roff(v.Help))
		for _, arg := range v.Positional {
			line(".TP\n.I %s\n%s", roff(arg.Summary()), roff(arg.Help))
		}
		for _, f := range v.Flags {
			if !f.Hidden && f.Name != "help" && f.Name != "version" {
				line(".TP\n.B %s\n%s", roff(f.String()), roff(f.Help))
			}
		}
		if v.Detail != "" {
			line(".PP\n.nf\n%s\n.fi", roff(v.Detail))
		}
	}
	return b.String()
}

// roff escapes a text for a manual page.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimSpace(text))
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
