"""A service that traces with OpenTelemetry's SDK for Python and exports to the URL it is given."""

import sys

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

protocol, url, instance = sys.argv[1:]
if protocol == "grpc":
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=url, insecure=True)
else:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=url + "/v1/traces")

resource = Resource.create({"service.namespace": "acme", "service.name": "pricing", "service.instance.id": instance})
provider = TracerProvider(resource=resource)
provider.add_span_processor(BatchSpanProcessor(exporter))
tracer = provider.get_tracer("test")


def message(operation, queue, key, exchange=""):
    """The attributes of a message of RabbitMQ, as the conventions have them."""
    parts = [exchange, key] if operation == "send" else [exchange, key, queue]
    return {
        "messaging.system": "rabbitmq",
        "messaging.operation.type": operation,
        "messaging.destination.name": ":".join(part for part in parts if part),
        "messaging.rabbitmq.destination.routing_key": key,
        "server.address": "rabbit.example",
        "server.port": 5672,
    }


for number in range(4):
    consumed = message("process", "prices", "eu.new", "orders")
    with tracer.start_as_current_span("prices process", kind=SpanKind.CONSUMER, attributes=consumed) as span:
        with tracer.start_as_current_span("compute"):
            sent = message("send", None, "answer", "prices-x")
            with tracer.start_as_current_span("send", kind=SpanKind.PRODUCER, attributes=sent):
                pass
        if number == 3:
            span.set_status(Status(StatusCode.ERROR, "secret"))

provider.shutdown()
