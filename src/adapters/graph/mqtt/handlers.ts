import type { GraphHost } from "../../../integration-graph/adapter.ts";
import { MAX_NAME_LENGTH } from "../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { endpointKey } from "../../../integration-graph/node-id.ts";
import type { MqttConsumption, MqttOptions } from "./options.ts";
import type { Topic } from "./topics.ts";

/** A function that takes messages, as a node of the graph, and the clients that it does so for. */
export interface Handler {
  readonly node: GraphNode;
  readonly owners: Set<object>;
  readonly inputs: Map<Topic, Input>;
}

interface Input {
  readonly link: GraphLink | undefined;
  readonly owners: Set<object>;
}

/** The functions that take the messages of an application. */
export class Handlers {
  readonly #host: GraphHost;
  readonly #naming: MqttOptions["name"];
  readonly #handlers = new Map<string, Handler>();

  constructor(host: GraphHost, naming: MqttOptions["name"]) {
    this.#host = host;
    this.#naming = naming;
  }

  get(name: string): Handler {
    let handler = this.#handlers.get(name);
    if (handler === undefined) {
      const key = endpointKey(this.#host.app, "service_activator", name);
      const what = { name, pattern: "service_activator", componentType: "mqtt:subscriber", key } as const;
      handler = { node: this.#host.declare(what), owners: new Set(), inputs: new Map() };
      this.#handlers.set(name, handler);
    }
    return handler;
  }

  /** The functions of these names, and no others, take what comes to `client`: messages of these topics, and of no others. */
  set(client: object, names: ReadonlySet<string>, topics: readonly Topic[]): void {
    for (const name of names) {
      const { node, owners, inputs } = this.get(name);
      owners.add(client);
      for (const topic of topics) {
        const input = inputs.get(topic) ?? { link: this.#host.link(topic.node, "input", node), owners: new Set() };
        input.owners.add(client);
        inputs.set(topic, input);
      }
    }
    const current = new Set(topics);
    for (const [name, { node, owners, inputs }] of this.#handlers) {
      for (const [topic, input] of inputs) {
        if (names.has(name) && current.has(topic)) continue;
        if (!input.owners.delete(client) || input.owners.size > 0) continue;
        inputs.delete(topic);
        if (input.link !== undefined) this.#host.withdraw(input.link);
      }
      if (names.has(name) || !owners.delete(client) || owners.size > 0) continue;
      this.#handlers.delete(name);
      this.#host.withdraw(node);
    }
  }

  nameOf(functionName: string, by: MqttConsumption["by"]): string {
    const known = functionName === "anonymous" || functionName === "handleMessage" ? "" : functionName;
    const name = this.#naming?.({ functionName: known, by }) ?? (known === "" ? "mqtt.messages" : known);
    return name.length <= MAX_NAME_LENGTH ? name : name.slice(-MAX_NAME_LENGTH).toWellFormed();
  }
}
