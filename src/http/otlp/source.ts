import { fit } from "../../adapters/graph/opentelemetry/endpoint.ts";
import { textOf } from "../../adapters/graph/opentelemetry/span.ts";
import type { Resource } from "../../gen/opentelemetry/proto/resource/v1/resource_pb.ts";
import { checkedName } from "../../integration-graph/declaration.ts";
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
const UNKNOWN = "unknown_service";

/** Reads a resource. One without a name is `unknown_service`, as the conventions call it. */
export function sourceOf(resource: Resource | undefined): SpanSource {
  const attributes = attributesOf(resource?.attributes ?? [], NAMES);
  const namespace = textOf(attributes["service.namespace"]);
  const name = textOf(attributes["service.name"]) ?? UNKNOWN;
  return {
    app: named(namespace === undefined ? name : `${namespace}/${name}`),
    instance: (textOf(attributes["service.instance.id"]) ?? "").slice(0, MAX_NAME),
  };
}

/** A name that may be shown: without credentials, which a URL in its place might hold. */
function named(name: string): string {
  try {
    return checkedName(fit(name.slice(0, MAX_NAME)));
  } catch {
    return UNKNOWN;
  }
}
