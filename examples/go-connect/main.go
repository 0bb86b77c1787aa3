// A client of connect-actuator with connect-go; see README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"connectrpc.com/connect"

	actuatorv3 "example.com/actuator-connect/gen/actuator/v3"
	"example.com/actuator-connect/gen/actuator/v3/actuatorv3connect"
)

const usage = `Usage: actuator-client <command>

  tour [-logger name] [-user name]   show each thing that can be done once
  watch                              print every change of a level, for ever
  set <logger> <level>               set a level
`

var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case err == nil:
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case ctx.Err() != nil:
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, explain(err))
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	conn, err := newConnection()
	if err != nil {
		return err
	}

	switch command, args := args[0], args[1:]; {
	case command == "tour":
		flags := flag.NewFlagSet("tour", flag.ExitOnError)
		logger := flags.String("logger", "shop.orders", "the logger whose level is set for a moment")
		user := flags.String("user", "alice", "whose sessions are shown")
		if err := flags.Parse(args); err != nil {
			return err
		}
		return tour(ctx, conn, *logger, *user)
	case command == "watch" && len(args) == 0:
		return watch(ctx, conn)
	case command == "set" && len(args) == 2:
		return setLevel(ctx, conn, args[0], strings.ToUpper(args[1]))
	default:
		return errUsage
	}
}

func setLevel(ctx context.Context, conn *connection, name, wanted string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	value, known := actuatorv3.Level_value["LEVEL_"+wanted]
	if !known {
		return fmt.Errorf("%s is no level; use OFF, FATAL, ERROR, WARN, INFO, DEBUG or TRACE", wanted)
	}
	response, err := newLoggers(conn).SetLoggerLevel(ctx, &actuatorv3.SetLoggerLevelRequest{
		Name:   name,
		Level:  actuatorv3.Level(value),
		Reason: "an example",
	})
	if err != nil {
		return err
	}
	now := response.GetLogger().GetEffectiveLevel()
	if group := response.GetGroup(); group != nil {
		now = group.GetConfiguredLevel()
	}
	fmt.Printf("%s at %s, was %s\n", name, short(now), short(response.GetPreviousLevel()))
	return nil
}

func short(level actuatorv3.Level) string {
	return strings.TrimPrefix(level.String(), "LEVEL_")
}

func explain(err error) string {
	var failure *connect.Error
	if errors.As(err, &failure) {
		return fmt.Sprintf("%s: %s", summary(err), failure.Message())
	}
	return err.Error()
}

func newLoggers(conn *connection) actuatorv3connect.LoggersServiceClient {
	return actuatorv3connect.NewLoggersServiceClient(conn.http, conn.url, conn.options...)
}
