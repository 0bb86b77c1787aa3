package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
)

// errorInfo is what an error of the actuator says beside its code. It is nil where the error carries none, as those of the
// transport do.
func errorInfo(err error) *errdetails.ErrorInfo {
	var failure *connect.Error
	if !errors.As(err, &failure) {
		return nil
	}
	for _, detail := range failure.Details() {
		if value, err := detail.Value(); err == nil {
			if info, ok := value.(*errdetails.ErrorInfo); ok {
				return info
			}
		}
	}
	return nil
}

// summary is such as "NOT_FOUND SESSION_NOT_FOUND field=id", for programs and tests.
func summary(err error) string {
	words := []string{strings.ToUpper(connect.CodeOf(err).String())}
	if info := errorInfo(err); info != nil {
		words = append(words, info.GetReason())
		for _, key := range slices.Sorted(maps.Keys(info.GetMetadata())) {
			words = append(words, key+"="+info.GetMetadata()[key])
		}
	}
	return strings.Join(words, " ")
}

// message is what the server said, without the code that connect-go puts in front.
func message(err error) string {
	var failure *connect.Error
	if errors.As(err, &failure) {
		return failure.Message()
	}
	return err.Error()
}
