import type { GraphNode } from "../../../integration-graph/node.ts";
import { field } from "../../kit/interception/field.ts";
import type { Method } from "../../kit/interception/replaced-method.ts";
import type { Port } from "./container.ts";
import { subscribedBy } from "./observable.ts";
import { nameBroker, normalized } from "./patterns.ts";
import type { Site } from "./site.ts";
import { type Transport, transportOfClient } from "./transports.ts";

/** How many patterns of a client have nodes of their own; all others are one node. */
const MAX_PATTERNS = 200;

/** Clients of microservices. A message is sent when the client has handed it to its transport. */
export function watchClients(site: Site, ports: readonly Port[]): void {
  for (const { kind, object } of ports) if (kind === "client") watchClient(site, object);
}

function watchClient(site: Site, client: object): void {
  const { host } = site;
  const transport = transportOfClient(host, client);
  const { system } = transport;
  const destination = destinations(site, client, transport);
  nameBroker(site, transport, client);

  // A request is sent when its answer is subscribed to, which may be long after its sender has returned.
  site.replace(client, "send", (method) => {
    return function send(this: unknown, ...args) {
      const owner = host.current;
      const answer = Reflect.apply(method, this, args);
      return owner === undefined ? answer : subscribedBy(answer, (subscribe) => host.within(owner, subscribe));
    };
  });
  site.replace(client, "publish", (method) => {
    return function publish(this: unknown, ...args) {
      if (!host.counts(system)) return Reflect.apply(method, this, args);
      const node = destination(field(args[0], "pattern"));
      const callback = args[1];
      let failed = false;
      let published = false;
      // Clients report what they cannot send as an answer.
      args[1] = function (this: unknown, ...results: unknown[]) {
        if (!published && field(results[0], "err")) failed = true;
        return Reflect.apply(callback as Method, this, results);
      };
      const start = performance.now();
      try {
        return Reflect.apply(method, this, args);
      } catch (error) {
        failed = true;
        throw error;
      } finally {
        published = true;
        host.sent(node, { start, end: performance.now(), failed });
      }
    };
  });
  site.replace(client, "dispatchEvent", (method) => {
    const senders = new WeakMap<GraphNode, Method>();
    return function dispatchEvent(this: unknown, ...args) {
      if (!host.counts(system)) return Reflect.apply(method, this, args);
      const node = destination(field(args[0], "pattern"));
      let send = senders.get(node);
      if (send === undefined) senders.set(node, (send = host.sender(node, method as never) as Method));
      return Reflect.apply(send, this, args);
    };
  });
}

/** The node of each pattern. */
function destinations({ host }: Site, client: object, transport: Transport): (pattern: unknown) => GraphNode {
  const nodes = new Map<string, GraphNode>();
  // Where all patterns have one destination it is known before any message.
  const one = transport.sentTo("a").key === transport.sentTo("b").key;
  const only = one ? host.declare(transport.sentTo("")) : undefined;
  return (pattern) => {
    if (only !== undefined) return only;
    const shown = host.shownName(normalized(client, pattern));
    let node = nodes.get(shown);
    if (node === undefined) {
      const name = nodes.size < MAX_PATTERNS ? shown : "*";
      node = nodes.get(name) ?? host.observe(transport.sentTo(name));
      nodes.set(name, node);
    }
    return node;
  };
}
