import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { channelKey, endpointKey } from "../../../integration-graph/node-id.ts";
import type { EndpointPattern } from "../../../integration-graph/pattern.ts";
import { hasMethods } from "../../kit/interception/field.ts";
import { SYSTEM } from "../../kit/messaging/event-channels.ts";

/** A stage of a pipeline, as nodes of the graph. */
export interface Stage {
  readonly node: GraphNode;
  /** Whoever writes to it, the channel that leads there, and the link from that; none at the first stage. */
  readonly source:
    | { readonly from: GraphNode; readonly channel: GraphNode; readonly link: GraphLink | undefined }
    | undefined;
}

/** The stages of all runs of a pipeline. */
export class PipelineStages {
  readonly #host: GraphHost;
  readonly #name: string;
  readonly #names: readonly string[] | undefined;

  constructor(host: GraphHost, name: string, names: readonly string[] | undefined) {
    this.#host = host;
    this.#name = name;
    this.#names = names;
  }

  of(streams: readonly object[]): readonly Stage[] {
    const taken = new Set<string>();
    const stages: Stage[] = [];
    for (const [at, stream] of streams.entries()) {
      const own = this.#names?.[at] ?? (stream.constructor?.name || "Stream");
      let name = own;
      for (let count = 2; taken.has(name); count++) name = `${own}-${count}`;
      taken.add(name);
      stages.push(this.#stage(`${this.#name}.${name}`, patternOf(streams, at), stages.at(-1)?.node));
    }
    return stages;
  }

  #stage(name: string, pattern: EndpointPattern, from: GraphNode | undefined): Stage {
    const key = endpointKey(this.#host.app, pattern, name);
    const node = this.#host.declare({ name, pattern, componentType: "node:stream", key });
    if (from === undefined) return { node, source: undefined };
    const channelName = `${name}.input`;
    const channel = this.#host.declare({
      name: channelName,
      pattern: "message_channel",
      componentType: "node:stream-buffer",
      key: channelKey(SYSTEM, this.#host.app, "stream", channelName),
    });
    this.#host.link(from, "output", channel);
    return { node, source: { from, channel, link: this.#host.link(channel, "input", node) } };
  }
}

function patternOf(streams: readonly object[], at: number): EndpointPattern {
  if (at === 0) return "inbound_channel_adapter";
  return at < streams.length - 1 || hasMethods(streams[at], "_transform") ? "transformer" : "outbound_channel_adapter";
}
