import type { Resource } from "../gen/opentelemetry/proto/resource/v1/resource_pb.ts";
import { fit } from "../opentelemetry/endpoint.ts";
import { textOf } from "../opentelemetry/span.ts";
import { attributesOf } from "./span.ts";

/** Who made spans. */
export interface SpanSource {
  /** `service.namespace/service.name`, as the keys of its endpoints have it. */
  readonly app: string;
  /** `service.instance.id`, or "" where it is not said. */
  readonly instance: string;
}

const NAMES: ReadonlySet<string> = new Set(["service.name", "service.namespace", "service.instance.id"]);
const MAX_NAME = 200;
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Reads a resource. One without a name is `unknown_service`, as the conventions call it. */
export function sourceOf(resource: Resource | undefined): SpanSource {
  const attributes = attributesOf(resource?.attributes ?? [], NAMES);
  const namespace = textOf(attributes["service.namespace"]);
  const name = textOf(attributes["service.name"]) ?? "unknown_service";
  return {
    app: named(namespace === undefined ? name : `${namespace}/${name}`),
    instance: (textOf(attributes["service.instance.id"]) ?? "").slice(0, MAX_NAME),
  };
}

function named(name: string): string {
  return UNFIT.test(name) ? "unknown_service" : fit(name.slice(0, MAX_NAME));
}
