"""What an error of the actuator says beside its code: a google.rpc.ErrorInfo with a reason and metadata."""

from google.rpc.error_details_pb2 import ErrorInfo
from grpc_status import rpc_status


def error_info(error):
    """The ErrorInfo of a grpc.RpcError; an empty one where the error carries none, as those of the transport do."""
    info = ErrorInfo()
    status = rpc_status.from_call(error)
    for detail in status.details if status else ():
        if detail.Unpack(info):
            break
    return info


def summary(error):
    """Such as `NOT_FOUND SESSION_NOT_FOUND field=id`, for programs and tests."""
    info = error_info(error)
    metadata = [f"{key}={value}" for key, value in sorted(info.metadata.items())]
    return " ".join(filter(None, [error.code().name, info.reason, *metadata]))
