package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"connectrpc.com/connect"

	actuatorv3 "example.com/actuator-connect/gen/actuator/v3"
	"example.com/actuator-connect/gen/actuator/v3/actuatorv3connect"
)

const shortestPause, longestPause = 200 * time.Millisecond, 10 * time.Second

// watch prints every change of a level, for ever: over a server that drains, and one that is started again. The first call
// fails at once where address, certificate or token are wrong.
func watch(ctx context.Context, conn *connection) error {
	client := newLoggers(conn)
	pause, again := shortestPause, false
	for {
		watched, err := watchOnce(ctx, client)
		again = again || watched
		if !again || ctx.Err() != nil || !passes(err) {
			return err
		}
		if watched {
			fmt.Printf("%s: %s Connecting again.\n", summary(err), message(err))
			pause = shortestPause
		}
		// connect-go does not connect by itself again. Half of the pause is chance, so that a thousand clients do not come
		// back at the same time.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
		pause = min(2*pause, longestPause)
	}
}

// passes says whether it may go better next time: after every failure of the connection, which connect-go reports with
// several codes, and where the server says so.
func passes(err error) bool {
	return !connect.IsWireError(err) || connect.CodeOf(err) == connect.CodeUnavailable
}

// watchOnce prints what one stream tells until it ends, and says whether it told anything.
func watchOnce(ctx context.Context, client actuatorv3connect.LoggersServiceClient) (watched bool, err error) {
	events, err := client.WatchLoggers(ctx, &actuatorv3.WatchLoggersRequest{})
	if err != nil {
		return false, err
	}
	defer events.Close()
	for events.Receive() {
		watched = true
		event := events.Msg()
		if snapshot := event.GetSnapshot(); snapshot != nil {
			fmt.Printf("watching %d loggers\n", len(snapshot.GetLoggers()))
		}
		for _, logger := range event.GetChange().GetLoggers() {
			fmt.Printf("%s at %s\n", logger.GetName(), short(logger.GetEffectiveLevel()))
		}
	}
	return watched, events.Err()
}
