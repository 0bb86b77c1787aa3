import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { MAX_NAME_LENGTH } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import { handled } from "./handling.ts";
import { SYSTEM } from "./names.ts";
import type { StreamSource } from "./options.ts";
import type { Watch } from "./watch.ts";

interface Attached {
  readonly watch: Watch;
  readonly host: GraphHost;
}

interface Endpoint {
  readonly node: GraphNode;
  readonly input: GraphLink | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: any function, as it is.
type AnyFunction = (...args: any[]) => unknown;

/** `fn`, measured whenever the adapter is attached; as it is where not. */
export function handlerOf<F extends AnyFunction>(source: StreamSource, fn: F, attached: () => Attached | undefined): F {
  let of: Attached | undefined;
  let endpoint: Endpoint | undefined;
  function handle(this: unknown, ...args: unknown[]): unknown {
    const now = attached();
    const run = () => Reflect.apply(fn, this, args);
    if (now === undefined) return run();
    if (of !== now || endpoint === undefined) {
      endpoint = endpointOf(source, fn.name, now);
      of = now;
    }
    return endpoint !== undefined && now.host.counts(SYSTEM) ? handled(now.host, endpoint, run) : run();
  }
  return Object.defineProperties(handle, Object.getOwnPropertyDescriptors(fn)) as unknown as F;
}

function endpointOf({ stream, group, name }: StreamSource, functionName: string, { watch, host }: Attached) {
  const at = watch.at();
  if (at === undefined) return undefined;
  const { server, db } = at;
  if (group !== undefined) {
    const known = server.groups.of(`${db}/${stream}`, group);
    if (known !== undefined) known.measured = true;
    return known;
  }
  const channel = server.names.hold("stream", `${db}/${stream}`, {});
  const title = name ?? `${server.names.shown(stream)}.${functionName || "handler"}`.slice(0, MAX_NAME_LENGTH);
  const node = host.declare({
    name: title,
    pattern: "service_activator",
    componentType: "redis:stream-handler",
    key: endpointKey(host.app, "service_activator", title),
  });
  return { node, input: host.link(channel, "input", node) };
}
