package daemon

import (
	"io"
	"log/slog"

	"github.com/alecthomas/kong"
)

// Common are the flags of every command. A grammar embeds it at its root.
type Common struct {
	Config    string           `help:"YAML file of flags by name; JUDGEFARM_ variables and flags override it." placeholder:"FILE"`
	LogLevel  string           `help:"Least level to log: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
	LogFormat string           `help:"Form of the log on standard error: text or json." enum:"text,json" default:"text"`
	Version   kong.VersionFlag `help:"Print the version and exit."`
}

func (c *Common) common() *Common { return c }

// Logger returns the logger that the flags ask for; daemons write to standard error.
func (c *Common) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	// The enum above lets only levels through that slog knows; info stands for unset.
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	opts := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
