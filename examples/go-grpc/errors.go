package main

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errorInfo is what an error of the actuator says beside its code. It is nil where the error carries none, as those of the
// transport do.
func errorInfo(err error) *errdetails.ErrorInfo {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info
		}
	}
	return nil
}

// summary is such as "NOT_FOUND SESSION_NOT_FOUND field=id", for programs and tests.
func summary(err error) string {
	words := []string{codeName(status.Code(err))}
	if info := errorInfo(err); info != nil {
		words = append(words, info.GetReason())
		for _, key := range slices.Sorted(maps.Keys(info.GetMetadata())) {
			words = append(words, key+"="+info.GetMetadata()[key])
		}
	}
	return strings.Join(words, " ")
}

// names are those of the gRPC specification; codes.Code prints Go's own.
var names = [...]string{
	codes.OK: "OK", codes.Canceled: "CANCELLED", codes.Unknown: "UNKNOWN", codes.InvalidArgument: "INVALID_ARGUMENT",
	codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND", codes.AlreadyExists: "ALREADY_EXISTS",
	codes.PermissionDenied: "PERMISSION_DENIED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED", codes.OutOfRange: "OUT_OF_RANGE",
	codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE",
	codes.DataLoss: "DATA_LOSS", codes.Unauthenticated: "UNAUTHENTICATED",
}

func codeName(code codes.Code) string {
	if int(code) < len(names) {
		return names[code]
	}
	return code.String()
}
