package engine

import (
	"errors"
	"fmt"
)

// MarshalJSON returns the externally tagged form of docs/contract/runtime.md#r3, null for no details. It fails for
// details that the form cannot hold: two variants, an unknown kind, a field that belongs to another kind.
func (d ErrorDetails) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	return appendDetails(nil, d)
}

// UnmarshalJSON reads what MarshalJSON writes. On error d is unchanged.
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

// UnmarshalJSON reads what MarshalJSON writes. On error a is unchanged.
func (a *ApplicationError) UnmarshalJSON(data []byte) error {
	read, err := parseApplication(string(data))
	if err == nil {
		*a = *read
	}
	return err
}

// MarshalJSON returns the message_type of the Poison variant.
func (t PoisonType) MarshalJSON() ([]byte, error) { return appendPoisonType(nil, t) }

// UnmarshalJSON reads what MarshalJSON writes. On error t is unchanged.
func (t *PoisonType) UnmarshalJSON(data []byte) error {
	read, err := parsePoisonType(string(data))
	if err == nil {
		*t = read
	}
	return err
}

// appendDetails appends the JSON of d. Each case of its switch matches only if no other variant is set.
func appendDetails(dst []byte, d ErrorDetails) ([]byte, error) {
	var err error
	switch d {
	case ErrorDetails{Infrastructure: d.Infrastructure}:
		i := d.Infrastructure
		if i == nil {
			return dst, errors.New("details of no variant")
		}
		dst = appendText(dst, `{"Infrastructure":{"operation":`, i.Operation)
		dst = appendText(dst, `,"message":`, i.Message)
		dst = append(appendBool(dst, `,"retryable":`, i.Retryable), '}')
	case ErrorDetails{Configuration: d.Configuration}:
		c := d.Configuration
		if c.Kind != KindNondeterminism {
			return dst, fmt.Errorf("configuration error of kind %q", c.Kind)
		}
		dst = appendText(dst, `{"Configuration":{"kind":`, c.Kind)
		dst = appendText(dst, `,"resource":`, c.Resource)
		if c.Message == nil {
			dst = append(dst, `,"message":null}`...)
		} else {
			dst = append(appendText(dst, `,"message":`, *c.Message), '}')
		}
	case ErrorDetails{Application: d.Application}:
		dst, err = appendApplication(append(dst, `{"Application":`...), d.Application)
	case ErrorDetails{Poison: d.Poison}:
		p := d.Poison
		dst = appendNumber(dst, `{"Poison":{"attempt_count":`, uint64(p.AttemptCount))
		dst = appendNumber(dst, `,"max_attempts":`, uint64(p.MaxAttempts))
		dst, err = appendPoisonType(append(dst, `,"message_type":`...), p.MessageType)
		dst = append(appendText(dst, `,"message":`, p.Message), '}')
	default:
		return dst, errors.New("details of more than one variant")
	}
	return append(dst, '}'), err
}

func appendApplication(dst []byte, a *ApplicationError) ([]byte, error) {
	switch a.Kind {
	case AppCancelled:
		dst = append(appendText(dst, `{"kind":{"Cancelled":{"reason":`, a.Reason), `}}`...)
	case AppActivityFailed, AppOrchestrationFailed, AppPanicked:
		if a.Reason != "" {
			return dst, fmt.Errorf("application error of kind %s with a reason", a.Kind)
		}
		dst = appendText(dst, `{"kind":`, string(a.Kind))
	default:
		return dst, fmt.Errorf("application error of kind %q", a.Kind)
	}
	dst = appendText(dst, `,"message":`, a.Message)
	return append(appendBool(dst, `,"retryable":`, a.Retryable), '}'), nil
}

func appendPoisonType(dst []byte, t PoisonType) ([]byte, error) {
	// Fields that do not belong to the kind must be zero.
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
	dst = appendText(dst, `{"instance":`, t.Instance)
	dst = appendNumber(dst, `,"execution_id":`, t.ExecutionID)
	switch t.Kind {
	case PoisonActivity:
		dst = appendText(dst, `,"activity_name":`, t.ActivityName)
		dst = appendNumber(dst, `,"activity_id":`, t.ActivityID)
	case PoisonFailedDeserialization:
		dst = appendText(dst, `,"error":`, t.Error)
	}
	dst = appendTextUnlessEmpty(dst, `,"cause":`, t.Cause)
	return append(dst, `}}`...), nil
}

func (o *object) details(name string) ErrorDetails {
	value := o.get(name, true)
	if value == "" {
		return ErrorDetails{}
	}
	d, err := parseDetails(value)
	if err != nil {
		o.fail(name, err)
	}
	return d
}

func parseDetails(text string) (ErrorDetails, error) {
	tag, body, err := scanTagged(text)
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
	var o object
	o.scan(body)
	switch tag {
	case "Infrastructure":
		d.Infrastructure = &InfrastructureError{
			Operation: o.text("operation"),
			Message:   o.text("message"),
			Retryable: o.boolean("retryable"),
		}
	case "Configuration":
		d.Configuration = &ConfigurationError{
			Kind:     o.text("kind"),
			Resource: o.text("resource"),
			Message:  o.textPointer("message"),
		}
		if d.Configuration.Kind != KindNondeterminism {
			o.fail("kind", fmt.Errorf("unknown %q", d.Configuration.Kind))
		}
	case "Poison":
		d.Poison = &PoisonError{
			AttemptCount: o.number32("attempt_count"),
			MaxAttempts:  o.number32("max_attempts"),
			Message:      o.text("message"),
		}
		if value := o.get("message_type", true); value != "" {
			if d.Poison.MessageType, err = parsePoisonType(value); err != nil {
				o.fail("message_type", err)
			}
		}
	default:
		return ErrorDetails{}, fmt.Errorf("unknown variant %q", tag)
	}
	if o.err != nil {
		return ErrorDetails{}, fmt.Errorf("%s: %w", tag, o.err)
	}
	return d, nil
}

func parseApplication(text string) (*ApplicationError, error) {
	var o object
	o.scan(text)
	a := &ApplicationError{Message: o.text("message"), Retryable: o.boolean("retryable")}
	if value := o.get("kind", true); value != "" {
		var err error
		if a.Kind, a.Reason, err = parseApplicationKind(value); err != nil {
			o.fail("kind", err)
		}
	}
	if o.err != nil {
		return nil, o.err
	}
	return a, nil
}

// parseApplicationKind reads a kind's name, or {"Cancelled":{"reason":…}}.
func parseApplicationKind(value string) (kind ApplicationKind, reason string, err error) {
	if value[0] == '"' {
		switch kind := ApplicationKind(unquote(value)); kind {
		case AppActivityFailed, AppOrchestrationFailed, AppPanicked:
			return kind, "", nil
		default:
			return "", "", fmt.Errorf("unknown %q", kind)
		}
	}
	tag, body, err := scanTagged(value)
	if err != nil {
		return "", "", err
	}
	if tag != string(AppCancelled) {
		return "", "", fmt.Errorf("unknown %q", tag)
	}
	var o object
	o.scan(body)
	reason = o.text("reason")
	return AppCancelled, reason, o.err
}

func parsePoisonType(text string) (PoisonType, error) {
	tag, body, err := scanTagged(text)
	if err != nil {
		return PoisonType{}, err
	}
	var o object
	o.scan(body)
	t := PoisonType{
		Kind:        PoisonKind(tag),
		Instance:    o.text("instance"),
		ExecutionID: o.number("execution_id"),
		Cause:       o.optText("cause"),
	}
	switch t.Kind {
	case PoisonOrchestration:
	case PoisonActivity:
		t.ActivityName, t.ActivityID = o.text("activity_name"), o.number("activity_id")
	case PoisonFailedDeserialization:
		t.Error = o.text("error")
	default:
		return PoisonType{}, fmt.Errorf("unknown %q", tag)
	}
	if o.err != nil {
		return PoisonType{}, fmt.Errorf("%s: %w", tag, o.err)
	}
	return t, nil
}
