package eventdata

import (
	"errors"
	"fmt"
)

// MarshalJSON returns the externally tagged form defined in docs/contract/runtime.md#r3, or null if there are no
// details. It fails for details that this form cannot represent, such as two variants at once, an unknown kind, or a
// field of a different kind.
func (d ErrorDetails) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	return AppendDetails(nil, d)
}

// UnmarshalJSON decodes the output of MarshalJSON. On error, d is unchanged.
func (d *ErrorDetails) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*d = ErrorDetails{}
		return nil
	}
	read, err := parseDetails(string(data))
	if err == nil {
		*d = read
	}
	return err
}

// MarshalJSON returns the body of the Application variant.
func (a ApplicationError) MarshalJSON() ([]byte, error) { return appendApplication(nil, &a) }

// UnmarshalJSON decodes the output of MarshalJSON. On error, a is unchanged.
func (a *ApplicationError) UnmarshalJSON(data []byte) error {
	read, err := parseApplication(string(data))
	if err == nil {
		*a = *read
	}
	return err
}

// MarshalJSON returns the message_type of the Poison variant.
func (t PoisonType) MarshalJSON() ([]byte, error) { return appendPoisonType(nil, t) }

// UnmarshalJSON decodes the output of MarshalJSON. On error, t is unchanged.
func (t *PoisonType) UnmarshalJSON(data []byte) error {
	read, err := parsePoisonType(string(data))
	if err == nil {
		*t = read
	}
	return err
}

// AppendDetails appends the JSON form of d. Each case in its switch matches only if no other variant is set.
func AppendDetails(dst []byte, d ErrorDetails) ([]byte, error) {
	var err error
	switch d {
	case ErrorDetails{Infrastructure: d.Infrastructure}:
		i := d.Infrastructure
		if i == nil {
			return dst, errors.New("details of no variant")
		}
		dst = AppendText(dst, `{"Infrastructure":{"operation":`, i.Operation)
		dst = AppendText(dst, `,"message":`, i.Message)
		dst = append(AppendBool(dst, `,"retryable":`, i.Retryable), '}')
	case ErrorDetails{Configuration: d.Configuration}:
		c := d.Configuration
		if c.Kind != KindNondeterminism {
			return dst, fmt.Errorf("configuration error of kind %q", c.Kind)
		}
		dst = AppendText(dst, `{"Configuration":{"kind":`, c.Kind)
		dst = AppendText(dst, `,"resource":`, c.Resource)
		if c.Message == nil {
			dst = append(dst, `,"message":null}`...)
		} else {
			dst = append(AppendText(dst, `,"message":`, *c.Message), '}')
		}
	case ErrorDetails{Application: d.Application}:
		dst, err = appendApplication(append(dst, `{"Application":`...), d.Application)
	case ErrorDetails{Poison: d.Poison}:
		p := d.Poison
		dst = AppendNumber(dst, `{"Poison":{"attempt_count":`, uint64(p.AttemptCount))
		dst = AppendNumber(dst, `,"max_attempts":`, uint64(p.MaxAttempts))
		dst, err = appendPoisonType(append(dst, `,"message_type":`...), p.MessageType)
		dst = append(AppendText(dst, `,"message":`, p.Message), '}')
	default:
		return dst, errors.New("details of more than one variant")
	}
	return append(dst, '}'), err
}

func appendApplication(dst []byte, a *ApplicationError) ([]byte, error) {
	switch a.Kind {
	case AppCancelled:
		dst = append(AppendText(dst, `{"kind":{"Cancelled":{"reason":`, a.Reason), `}}`...)
	case AppActivityFailed, AppOrchestrationFailed, AppPanicked:
		if a.Reason != "" {
			return dst, fmt.Errorf("application error of kind %s with a reason", a.Kind)
		}
		dst = AppendText(dst, `{"kind":`, string(a.Kind))
	default:
		return dst, fmt.Errorf("application error of kind %q", a.Kind)
	}
	dst = AppendText(dst, `,"message":`, a.Message)
	return append(AppendBool(dst, `,"retryable":`, a.Retryable), '}'), nil
}

func appendPoisonType(dst []byte, t PoisonType) ([]byte, error) {
	// Fields that do not belong to this kind must be zero.
	own := PoisonType{Kind: t.Kind, Instance: t.Instance, ExecutionID: t.ExecutionID, Cause: t.Cause}
	switch t.Kind {
	case PoisonOrchestration:
	case PoisonActivity:
		own.ActivityName, own.ActivityID = t.ActivityName, t.ActivityID
	case PoisonFailedDeserialization:
		own.Error = t.Error
	default:
		return dst, fmt.Errorf("poison of kind %q", t.Kind)
	}
	if own != t {
		return dst, fmt.Errorf("poison of kind %s with fields of another", t.Kind)
	}
	dst = append(append(append(dst, `{"`...), t.Kind...), `":`...)
	dst = AppendText(dst, `{"instance":`, t.Instance)
	dst = AppendNumber(dst, `,"execution_id":`, t.ExecutionID)
	switch t.Kind {
	case PoisonActivity:
		dst = AppendText(dst, `,"activity_name":`, t.ActivityName)
		dst = AppendNumber(dst, `,"activity_id":`, t.ActivityID)
	case PoisonFailedDeserialization:
		dst = AppendText(dst, `,"error":`, t.Error)
	}
	if t.Cause != "" {
		dst = AppendText(dst, `,"cause":`, t.Cause)
	}
	return append(dst, `}}`...), nil
}

func parseDetails(text string) (ErrorDetails, error) {
	tag, body, err := ScanTagged(text)
	if err != nil {
		return ErrorDetails{}, err
	}
	if tag == "Application" {
		a, err := parseApplication(body)
		if err != nil {
			return ErrorDetails{}, fmt.Errorf("%s: %w", tag, err)
		}
		return ErrorDetails{Application: a}, nil
	}
	var d ErrorDetails
	var o Object
	o.Scan(body)
	switch tag {
	case "Infrastructure":
		d.Infrastructure = &InfrastructureError{
			Operation: o.Text("operation"),
			Message:   o.Text("message"),
			Retryable: o.Boolean("retryable"),
		}
	case "Configuration":
		d.Configuration = &ConfigurationError{
			Kind:     o.Text("kind"),
			Resource: o.Text("resource"),
			Message:  o.TextPointer("message"),
		}
		if d.Configuration.Kind != KindNondeterminism {
			o.Fail("kind", fmt.Errorf("unknown %q", d.Configuration.Kind))
		}
	case "Poison":
		d.Poison = &PoisonError{
			AttemptCount: o.Number32("attempt_count"),
			MaxAttempts:  o.Number32("max_attempts"),
			Message:      o.Text("message"),
		}
		if value := o.Get("message_type", true); value != "" {
			if d.Poison.MessageType, err = parsePoisonType(value); err != nil {
				o.Fail("message_type", err)
			}
		}
	default:
		return ErrorDetails{}, fmt.Errorf("unknown variant %q", tag)
	}
	if o.Err != nil {
		return ErrorDetails{}, fmt.Errorf("%s: %w", tag, o.Err)
	}
	return d, nil
}

func parseApplication(text string) (*ApplicationError, error) {
	var o Object
	o.Scan(text)
	a := &ApplicationError{Message: o.Text("message"), Retryable: o.Boolean("retryable")}
	if value := o.Get("kind", true); value != "" {
		var err error
		if a.Kind, a.Reason, err = parseApplicationKind(value); err != nil {
			o.Fail("kind", err)
		}
	}
	if o.Err != nil {
		return nil, o.Err
	}
	return a, nil
}

// parseApplicationKind parses a kind's name, or {"Cancelled":{"reason":…}}.
func parseApplicationKind(value string) (kind ApplicationKind, reason string, err error) {
	if value[0] == '"' {
		switch kind := ApplicationKind(Unquote(value)); kind {
		case AppActivityFailed, AppOrchestrationFailed, AppPanicked:
			return kind, "", nil
		default:
			return "", "", fmt.Errorf("unknown %q", kind)
		}
	}
	tag, body, err := ScanTagged(value)
	if err != nil {
		return "", "", err
	}
	if tag != string(AppCancelled) {
		return "", "", fmt.Errorf("unknown %q", tag)
	}
	var o Object
	o.Scan(body)
	reason = o.Text("reason")
	return AppCancelled, reason, o.Err
}

func parsePoisonType(text string) (PoisonType, error) {
	tag, body, err := ScanTagged(text)
	if err != nil {
		return PoisonType{}, err
	}
	var o Object
	o.Scan(body)
	t := PoisonType{
		Kind:        PoisonKind(tag),
		Instance:    o.Text("instance"),
		ExecutionID: o.Number("execution_id"),
		Cause:       o.OptText("cause"),
	}
	switch t.Kind {
	case PoisonOrchestration:
	case PoisonActivity:
		t.ActivityName, t.ActivityID = o.Text("activity_name"), o.Number("activity_id")
	case PoisonFailedDeserialization:
		t.Error = o.Text("error")
	default:
		return PoisonType{}, fmt.Errorf("unknown %q", tag)
	}
	if o.Err != nil {
		return PoisonType{}, fmt.Errorf("%s: %w", tag, o.Err)
	}
	return t, nil
}
