"""How the actuator is reached: its address, a certificate authority and a token, all from the environment."""

import os
from contextlib import contextmanager
from pathlib import Path

import grpc

# A connection that is silently gone is noticed after half a minute, even while nothing is called.
OPTIONS = [("grpc.keepalive_time_ms", 20_000), ("grpc.keepalive_timeout_ms", 10_000)]


@contextmanager
def connect():
    """A channel to ACTUATOR_ADDRESS, over TLS where ACTUATOR_CA names a file, with ACTUATOR_TOKEN on every call."""
    address = os.environ.get("ACTUATOR_ADDRESS", "127.0.0.1:9001")
    ca, token = os.environ.get("ACTUATOR_CA"), os.environ.get("ACTUATOR_TOKEN")
    if ca:
        channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(Path(ca).read_bytes()), OPTIONS)
    else:
        channel = grpc.insecure_channel(address, OPTIONS)
    with channel:
        yield grpc.intercept_channel(channel, BearerToken(token)) if token else channel


class BearerToken(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Sends a token with every call.

    grpc.access_token_call_credentials does the same, but only over TLS; a loopback connection or a Unix socket has none.
    """

    def __init__(self, token):
        self._metadata = ("authorization", f"Bearer {token}")

    def intercept_unary_unary(self, continuation, details, request):
        return continuation(self._with_token(details), request)

    def intercept_unary_stream(self, continuation, details, request):
        return continuation(self._with_token(details), request)

    def _with_token(self, details):
        return details._replace(metadata=[*(details.metadata or []), self._metadata])
