package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

	"connectrpc.com/connect"
)

// connection is what every client of connect-go is made of.
type connection struct {
	http    *http.Client
	url     string
	options []connect.ClientOption
}

// newConnection prepares requests to ACTUATOR_ADDRESS, over TLS where ACTUATOR_CA names a file with the certificates to
// trust, with ACTUATOR_TOKEN on each, in the protocol that ACTUATOR_PROTOCOL names: connect, grpc or grpcweb.
func newConnection() (*connection, error) {
	protocols := map[string][]connect.ClientOption{
		"connect": nil,
		"grpc":    {connect.WithGRPC()},
		"grpcweb": {connect.WithGRPCWeb()},
	}
	options, known := protocols[environment("ACTUATOR_PROTOCOL", "connect")]
	if !known {
		return nil, fmt.Errorf("ACTUATOR_PROTOCOL is one of connect, grpc and grpcweb")
	}
	transport, scheme := transport(), "http"
	if ca := os.Getenv("ACTUATOR_CA"); ca != "" {
		roots, err := certificates(ca)
		if err != nil {
			return nil, fmt.Errorf("ACTUATOR_CA: %w", err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
		scheme = "https"
	}
	return &connection{
		http:    &http.Client{Transport: &bearer{token: os.Getenv("ACTUATOR_TOKEN"), next: transport}},
		url:     scheme + "://" + environment("ACTUATOR_ADDRESS", "127.0.0.1:9001"),
		options: options,
	}, nil
}

// transport speaks HTTP/2 with and without TLS. gRPC needs it; the other protocols would do with HTTP/1.1, but for one
// connection per watch.
func transport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Transport{
		Protocols: protocols,
		// A connection that is silently gone is noticed after half a minute.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 10 * time.Second},
	}
}

func certificates(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return roots, nil
}

func environment(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

// bearer sends a token with every request, where there is one.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b *bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	if b.token != "" {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(request)
}
