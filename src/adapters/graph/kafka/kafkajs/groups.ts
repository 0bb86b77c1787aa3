import type { GraphHost } from "../../../../integration-graph/adapter.ts";
import { MAX_NAME_LENGTH } from "../../../../integration-graph/declaration.ts";
import type { GraphLink, GraphNode } from "../../../../integration-graph/node.ts";
import { endpointKey } from "../../../../integration-graph/node-id.ts";
import type { KafkajsOptions } from "./options.ts";
import type { Topics } from "./topics.ts";

/** What a consumer group does with a topic: a node, and the way that its messages come by. */
export interface Reading {
  readonly node: GraphNode;
  readonly input: GraphLink | undefined;
}

interface Entry extends Reading {
  readonly topic: GraphNode;
  /** The consumers that read it now, by a token each: the clients themselves may be forgotten. */
  readonly readers: Set<object>;
}

/** The consumer groups of one cluster. */
export class Groups {
  readonly #host: GraphHost;
  readonly #topics: Topics;
  readonly #naming: KafkajsOptions["name"];
  readonly #entries = new Map<string, Entry>();

  constructor(host: GraphHost, topics: Topics, naming: KafkajsOptions["name"]) {
    this.#host = host;
    this.#topics = topics;
    this.#naming = naming;
  }

  /** `reader`, a member of the group, subscribes to a topic. */
  read(groupId: string, topicName: string, reader: object): Reading {
    const topic = this.#host.shownName(topicName);
    // Neither a group's id nor a topic's name holds this character.
    const id = `${groupId}\0${topic}`;
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      entry = this.#declare(groupId, topic, topicName);
      this.#entries.set(id, entry);
    }
    entry.readers.add(reader);
    return entry;
  }

  /** The application stopped it. Its nodes stay until a rebuild, as it may be a pause. */
  leave(reader: object): void {
    for (const { readers } of this.#entries.values()) readers.delete(reader);
  }

  /** Drops what nobody reads any more. */
  prune(): void {
    for (const [id, { node, topic, readers }] of this.#entries) {
      if (readers.size > 0) continue;
      this.#entries.delete(id);
      const remaining = [...this.#entries.values()];
      if (!remaining.some((other) => other.node === node)) this.#host.withdraw(node);
      if (!remaining.some((other) => other.topic === topic)) this.#host.withdraw(topic);
    }
  }

  #declare(groupId: string, topic: string, topicName: string): Entry {
    const given = this.#naming?.({ groupId, topic }) ?? `${groupId}@${topic}`;
    const name = given.slice(0, MAX_NAME_LENGTH).toWellFormed();
    const node = this.#host.declare({
      name,
      pattern: "service_activator",
      componentType: "kafka:consumer",
      properties: { group: groupId },
      key: endpointKey(this.#host.app, "service_activator", name),
    });
    const from = this.#topics.declare(topicName);
    return { node, topic: from, input: this.#host.link(from, "input", node), readers: new Set() };
  }
}
