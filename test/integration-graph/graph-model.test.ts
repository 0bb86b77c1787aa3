import fc from "fast-check";
import { expect, test } from "vitest";
import { IntegrationGraph } from "../../src/integration-graph/graph.ts";
import type { LinkType } from "../../src/integration-graph/link-type.ts";
import { hash31 } from "../../src/integration-graph/node-id.ts";
import type { PatternType } from "../../src/integration-graph/pattern.ts";
import type { GraphSnapshot } from "../../src/integration-graph/snapshot.ts";

/** What a graph is, said as simply as possible: lists that are searched, and no cache. */
class Model {
  nodes: { name: string; pattern: PatternType; declared: boolean; referenced: boolean; observed: boolean }[] = [];
  links: { from: string; type: LinkType; to: string; declared: boolean; count: number }[] = [];

  node(name: string) {
    return this.nodes.find((node) => node.name === name);
  }

  declare(name: string, pattern: PatternType): boolean {
    const node = this.node(name);
    if (node === undefined) {
      this.nodes.push({ name, pattern, declared: true, referenced: false, observed: false });
    } else if (node.pattern === pattern) {
      node.declared = true;
    } else {
      const used = node.referenced && !isChannel(pattern);
      if (node.declared || used) return false;
      if (isChannel(pattern) && isChannel(node.pattern)) Object.assign(node, { pattern, declared: true });
      else {
        this.remove(name);
        return this.declare(name, pattern);
      }
    }
    return true;
  }

  channel(name: string): boolean {
    const node = this.node(name);
    if (node !== undefined && !isChannel(node.pattern)) return false;
    if (node !== undefined) node.referenced = true;
    else this.nodes.push({ name, pattern: "message_channel", declared: false, referenced: true, observed: false });
    return true;
  }

  observe(name: string, pattern: PatternType): void {
    const node = this.node(name);
    if (node !== undefined) node.observed = true;
    else this.nodes.push({ name, pattern, declared: false, referenced: false, observed: true });
  }

  link(from: string, type: LinkType, to: string): boolean {
    const [source, target] = [this.node(from)!, this.node(to)!];
    const fits =
      type === "input"
        ? isChannel(source.pattern) && !isChannel(target.pattern)
        : isChannel(target.pattern) && (!isChannel(source.pattern) || type === "route" || type === "error");
    if (!fits) return false;
    const link = this.links.find((link) => link.from === from && link.type === type && link.to === to);
    if (link !== undefined) link.declared = true;
    else this.links.push({ from, type, to, declared: true, count: 0 });
    return true;
  }

  send(owner: string, channel: string): void {
    const links = this.links.filter(({ from, to, type }) => from === owner && to === channel && type !== "input");
    const order = ["route", "output", "discard", "error"];
    links.sort((one, other) => order.indexOf(one.type) - order.indexOf(other.type));
    if (links[0] !== undefined) links[0].count++;
    else {
      const type = this.node(owner)!.pattern === "router" ? "route" : "output";
      this.links.push({ from: owner, type, to: channel, declared: false, count: 1 });
    }
  }

  remove(name: string): void {
    this.nodes = this.nodes.filter((node) => node.name !== name);
    this.links = this.links.filter(({ from, to }) => from !== name && to !== name);
  }

  rebuild(): void {
    for (const { name, declared, referenced } of [...this.nodes]) if (!declared && !referenced) this.remove(name);
  }

  /** The fields of a node that name channels. */
  fields(name: string) {
    const first = (type: LinkType) => {
      const found = this.links.filter(
        (link) => link.type === type && (type === "input" ? link.to : link.from) === name,
      );
      const link = found.find(({ declared }) => declared) ?? found[0];
      return link && (type === "input" ? link.from : link.to);
    };
    const routes = this.links.filter(({ from, type }) => from === name && type === "route").map(({ to }) => to);
    const hasRoutes = routes.length > 0 || this.node(name)!.pattern === "router";
    return {
      input: first("input"),
      output: first("output"),
      errors: first("error"),
      discards: first("discard"),
      routes: hasRoutes ? routes : undefined,
    };
  }
}

const isChannel = (pattern: PatternType) => pattern.endsWith("_channel");

const name = fc.constantFrom("a", "b", "c", "d", "e", "f");
const pattern = fc.constantFrom<PatternType>("message_channel", "pollable_channel", "filter", "router");
const type = fc.constantFrom<LinkType>("input", "output", "error", "discard", "route");
const command = fc.oneof(
  fc.record({ do: fc.constant("declare" as const), name, pattern }),
  fc.record({ do: fc.constant("channel" as const), name }),
  fc.record({ do: fc.constant("observe" as const), name, pattern }),
  { arbitrary: fc.record({ do: fc.constant("link" as const), from: name, type, to: name }), weight: 3 },
  { arbitrary: fc.record({ do: fc.constant("send" as const), from: name, to: name }), weight: 2 },
  fc.record({ do: fc.constant("remove" as const), name }),
  fc.record({ do: fc.constant("rebuild" as const) }),
);

test("the graph is what a naive model says, ids stay, and the revision grows with structure only", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
      let now = 0;
      // So few hashes that some of the names share one.
      const graph = new IntegrationGraph(
        { app: "shop", observedNodeMaxAgeMs: 0 },
        { clock: () => ++now, hash: (key) => (hash31(key) % 29) + 1 },
      );
      const model = new Model();
      const ids = new Map<string, number>();
      let before = { structure: "[[],[]]", revision: 0 };

      for (const command of commands) {
        await run(command, graph, model);
        const snapshot = graph.snapshot();
        expect(structure(snapshot)).toEqual(expected(model));
        for (const { key, id } of snapshot.nodes.map(({ name }) => graph.find(name)!)) {
          expect(ids.get(key) ?? id).toBe(id);
          ids.set(key, id);
        }
        expect(new Set(ids.values()).size).toBe(ids.size);

        const after = { structure: JSON.stringify(withoutCounts(expected(model))), revision: snapshot.revision };
        if (after.structure === before.structure) expect(after.revision).toBeGreaterThanOrEqual(before.revision);
        else expect(after.revision).toBeGreaterThan(before.revision);
        if (command.do === "send" && after.structure === before.structure) expect(after.revision).toBe(before.revision);
        before = after;
      }
    }),
    { numRuns: 1_000 },
  );
});

async function run(command: typeof command_, graph: IntegrationGraph, model: Model): Promise<void> {
  const succeeds = (act: () => void) => {
    try {
      act();
      return true;
    } catch {
      return false;
    }
  };
  switch (command.do) {
    case "declare": {
      const { name, pattern } = command;
      expect(succeeds(() => graph.declare({ name, pattern }))).toBe(model.declare(name, pattern));
      break;
    }
    case "channel":
      expect(succeeds(() => graph.channel(command.name))).toBe(model.channel(command.name));
      break;
    case "observe":
      graph.observe({ name: command.name, pattern: command.pattern });
      model.observe(command.name, command.pattern);
      break;
    case "link": {
      const [from, to] = [graph.find(command.from), graph.find(command.to)];
      if (from === undefined || to === undefined) return;
      const linked = model.link(command.from, command.type, command.to);
      expect(succeeds(() => graph.link(from, command.type, to))).toBe(linked);
      break;
    }
    case "send": {
      const [from, to] = [graph.find(command.from), graph.find(command.to)];
      if (from === undefined || to === undefined || isChannel(from.pattern) || !isChannel(to.pattern)) return;
      graph.way(from, to)!.count++;
      model.send(command.from, command.to);
      break;
    }
    case "remove": {
      const node = graph.find(command.name);
      if (node !== undefined) graph.remove(node);
      model.remove(command.name);
      break;
    }
    case "rebuild":
      await graph.rebuild();
      model.rebuild();
  }
}

declare const command_: typeof command extends fc.Arbitrary<infer C> ? C : never;

function structure({ nodes, links }: GraphSnapshot) {
  const names = new Map(nodes.map(({ nodeId, name }) => [nodeId, name]));
  return [
    nodes.map(({ name, integrationPatternType, observed, input, output, errors, discards, routes }) => ({
      name,
      pattern: integrationPatternType,
      observed,
      ...{ input, output, errors, discards, routes },
    })),
    links.map(({ from, type, to, count }) => ({ from: names.get(from), type, to: names.get(to), count })),
  ];
}

function expected(model: Model) {
  return [
    model.nodes.map(({ name, pattern, observed }) => ({ name, pattern, observed, ...model.fields(name) })),
    model.links.map(({ from, type, to, count }) => ({ from, type, to, count })),
  ];
}

function withoutCounts([nodes, links]: ReturnType<typeof expected>) {
  return [nodes, links!.map((link) => ({ ...link, count: 0 }))];
}
