package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/durationpb"

	actuatorv3 "example.com/actuator-grpc/gen/actuator/v3"
)

// Every call but a watch has a deadline: without one, a call to a server that hangs waits for ever.
const patience = 30 * time.Second

var errNoFailure = errors.New("the call had to fail and did not")

// tour shows each thing that can be done once, and stops at the first that is not as it should be.
func tour(ctx context.Context, conn *grpc.ClientConn, logger, user string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	health, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{})
	if err != nil {
		return err
	}
	fmt.Println("health:", health.GetStatus())
	if err := tourLoggers(ctx, actuatorv3.NewLoggersServiceClient(conn), logger); err != nil {
		return err
	}
	if err := tourSessions(ctx, actuatorv3.NewSessionsServiceClient(conn), user); err != nil {
		return err
	}
	graph := actuatorv3.NewIntegrationGraphServiceClient(conn)
	response, err := graph.GetIntegrationGraph(ctx, &actuatorv3.GetIntegrationGraphRequest{})
	if err != nil {
		return err
	}
	fmt.Printf("graph: %d nodes, %d links\n", len(response.GetNodes()), len(response.GetLinks()))
	return nil
}

func tourLoggers(ctx context.Context, client actuatorv3.LoggersServiceClient, name string) error {
	listed, err := client.ListLoggers(ctx, &actuatorv3.ListLoggersRequest{})
	if err != nil {
		return err
	}
	root := listed.GetLoggers()[0]
	fmt.Printf("loggers: %d, %s at %s\n", len(listed.GetLoggers()), root.GetName(), short(root.GetEffectiveLevel()))

	if err := setAndRestore(ctx, client, name); err != nil {
		return err
	}

	_, err = client.SetLoggerLevel(ctx, &actuatorv3.SetLoggerLevelRequest{Name: name})
	if err == nil {
		return errNoFailure
	}
	fmt.Println("no level:", summary(err))
	fmt.Println("a watch of 500 ms:", summary(watchFor(ctx, client, 500*time.Millisecond)))
	return nil
}

func setAndRestore(ctx context.Context, client actuatorv3.LoggersServiceClient, name string) error {
	// A stream that is not read to its end lives until its context is cancelled.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The watch is open before the level is set, so that it cannot miss the change.
	events, err := client.WatchLoggers(ctx, &actuatorv3.WatchLoggersRequest{NamePrefix: name})
	if err != nil {
		return err
	}
	if err := printNext(events, name); err != nil {
		return err
	}
	set, err := client.SetLoggerLevel(ctx, &actuatorv3.SetLoggerLevelRequest{
		Name:   name,
		Level:  actuatorv3.Level_LEVEL_DEBUG,
		Ttl:    durationpb.New(time.Minute),
		Reason: "a tour in Go",
	})
	if err != nil {
		return err
	}
	fmt.Printf("set: %s at %s\n", name, short(set.GetLogger().GetEffectiveLevel()))
	if err := printNext(events, name); err != nil {
		return err
	}
	restored, err := client.RestoreLoggerLevel(ctx, &actuatorv3.RestoreLoggerLevelRequest{Name: name})
	if err != nil {
		return err
	}
	fmt.Printf("restore: %s at %s\n", name, short(restored.GetLogger().GetEffectiveLevel()))
	return printNext(events, name)
}

// printNext waits for the next event that has the logger; heartbeats and changes of others are passed over.
func printNext(events grpc.ServerStreamingClient[actuatorv3.WatchLoggersResponse], name string) error {
	for {
		event, err := events.Recv()
		if err != nil {
			return err
		}
		for _, logger := range slices.Concat(event.GetSnapshot().GetLoggers(), event.GetChange().GetLoggers()) {
			if logger.GetName() == name {
				fmt.Printf("watch: %s at %s\n", name, short(logger.GetEffectiveLevel()))
				return nil
			}
		}
	}
}

// watchFor watches until its deadline and returns the error that ends it.
func watchFor(ctx context.Context, client actuatorv3.LoggersServiceClient, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	events, err := client.WatchLoggers(ctx, &actuatorv3.WatchLoggersRequest{})
	for err == nil {
		_, err = events.Recv()
	}
	return err
}

func tourSessions(ctx context.Context, client actuatorv3.SessionsServiceClient, user string) error {
	found, err := client.ListSessions(ctx, &actuatorv3.ListSessionsRequest{Username: user})
	if err != nil {
		return err
	}
	fmt.Printf("sessions: %d of %s\n", len(found.GetSessions()), user)
	if len(found.GetSessions()) > 0 {
		id := found.GetSessions()[0].GetId()
		response, err := client.GetSession(ctx, &actuatorv3.GetSessionRequest{Id: id})
		if err != nil {
			return err
		}
		session := response.GetSession()
		attributes := strings.Join(slices.Sorted(slices.Values(session.GetAttributeNames())), ", ")
		fmt.Printf("session: of %s, with %s\n", session.GetUsername(), attributes)
	}
	unknown := "00000000-0000-4000-8000-000000000000"
	if _, err = client.GetSession(ctx, &actuatorv3.GetSessionRequest{Id: unknown}); err == nil {
		return errNoFailure
	}
	fmt.Println("unknown session:", summary(err))
	return nil
}
