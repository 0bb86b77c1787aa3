package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// A connection that is silently gone is noticed after half a minute, as long as something is called on it.
var alive = keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}

// connect prepares a connection to ACTUATOR_ADDRESS, over TLS where ACTUATOR_CA names a file with the certificates to
// trust, with ACTUATOR_TOKEN on every call. grpc-go connects at the first call.
func connect() (*grpc.ClientConn, error) {
	address := os.Getenv("ACTUATOR_ADDRESS")
	if address == "" {
		address = "127.0.0.1:9001"
	}
	transport := insecure.NewCredentials()
	if ca := os.Getenv("ACTUATOR_CA"); ca != "" {
		var err error
		if transport, err = credentials.NewClientTLSFromFile(ca, ""); err != nil {
			return nil, fmt.Errorf("ACTUATOR_CA: %w", err)
		}
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithKeepaliveParams(alive),
	}
	if token := os.Getenv("ACTUATOR_TOKEN"); token != "" {
		options = append(options, grpc.WithPerRPCCredentials(bearer(token)))
	}
	return grpc.NewClient(address, options...)
}

// bearer is a token that goes with every call.
type bearer string

func (token bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(token)}, nil
}

// RequireTransportSecurity is false for the sake of a server on a loopback address. Send a token no further than that
// without TLS.
func (bearer) RequireTransportSecurity() bool { return false }
