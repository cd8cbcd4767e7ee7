package machine

import (
	"log/slog"
	"time"
)

// Record converts a log line to a slog.Record for the driver's slog.Handler. nowMs is the time on the node's clock in
// milliseconds. The instance, if any, is the first attribute.
func (l Log) Record(nowMs int64) slog.Record {
	r := slog.NewRecord(time.UnixMilli(nowMs).UTC(), l.Level.slog(), l.Text, 0)
	if l.Instance != "" {
		r.AddAttrs(slog.String("instance", l.Instance))
	}
	for _, f := range l.Fields {
		r.AddAttrs(slog.String(f.Name, f.Value))
	}
	return r
}

func (l Level) slog() slog.Level {
	switch l {
	case LevelWarn:
		return slog.LevelWarn
	case LevelError:
		return slog.LevelError
	}
	return slog.LevelInfo
}
