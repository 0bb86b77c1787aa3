package main

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	actuatorv3 "example.com/actuator-grpc/gen/actuator/v3"
)

// watch prints every change of a level, for ever: over a server that drains, and one that is started again.
func watch(ctx context.Context, conn *grpc.ClientConn) error {
	client := actuatorv3.NewLoggersServiceClient(conn)
	for again := false; ; {
		// The first call fails at once where address, certificate or token are wrong; later ones wait for the server,
		// and grpc-go tries to reach it with growing pauses.
		events, err := client.WatchLoggers(ctx, &actuatorv3.WatchLoggersRequest{}, grpc.WaitForReady(again))
		for err == nil {
			var event *actuatorv3.WatchLoggersResponse
			if event, err = events.Recv(); err != nil {
				break
			}
			again = true
			if snapshot := event.GetSnapshot(); snapshot != nil {
				fmt.Printf("watching %d loggers\n", len(snapshot.GetLoggers()))
			}
			for _, logger := range event.GetChange().GetLoggers() {
				fmt.Printf("%s at %s\n", logger.GetName(), short(logger.GetEffectiveLevel()))
			}
		}
		if !again || status.Code(err) != codes.Unavailable {
			return err
		}
		fmt.Printf("%s: %s Connecting again.\n", summary(err), status.Convert(err).Message())
	}
}
