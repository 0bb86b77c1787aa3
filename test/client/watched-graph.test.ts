import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { linkKey, WatchedGraph } from "../../src/client/watched-graph.ts";
import { Link_Type, WatchIntegrationGraphResponseSchema } from "../../src/gen/actuator/v3/integration_graph_pb.ts";
import { importsOf } from "../support/source-files.ts";

const event = (init: MessageInitShape<typeof WatchIntegrationGraphResponseSchema>) =>
  create(WatchIntegrationGraphResponseSchema, init);
const node = (nodeId: number, name: string) => ({ nodeId, name });
const link = (from: number, to: number, count = 0n) => ({ from, to, type: Link_Type.OUTPUT, count });
const key = (from: number, to: number) => linkKey(link(from, to));
const nodes = [node(1, "a"), node(2, "b"), node(3, "c")];

function known() {
  const watched = new WatchedGraph();
  const value = { contentDescriptor: { name: "shop" }, nodes, links: [link(1, 2), link(2, 3)] };
  watched.apply(event({ event: { case: "snapshot", value }, revision: 1n }));
  const names = () => [...watched.nodes.values()].map(({ name }) => name);
  return { watched, names };
}

test("a change has what was before, and a removed node takes its links along", () => {
  const { watched, names } = known();
  const value = { nodes: [node(1, "A"), node(4, "d")], links: [link(1, 4)], removedNodes: [2] };
  const change = watched.apply(event({ event: { case: "change", value }, revision: 2n }))!;
  expect(names()).toEqual(["A", "c", "d"]);
  expect([...watched.links.keys()]).toEqual([key(1, 4)]);
  expect([...change.nodes.keys()]).toEqual([1, 4]);
  expect([...change.removedNodes]).toEqual([2]);
  expect([...change.nodesBefore.values()].map(({ name }) => name).sort()).toEqual(["a", "b"]);
  expect([...change.linksBefore.keys()].sort()).toEqual([key(1, 2), key(2, 3)]);
  expect([change.isSnapshot, change.contentDescriptor, change.revision]).toEqual([false, undefined, 2n]);
  expect(watched.contentDescriptor?.name).toBe("shop");
});

test("pieces of one event are one change, of which the later piece counts", () => {
  const { watched, names } = known();
  const first = { nodes: [node(4, "d"), node(5, "e")], links: [link(4, 5), link(1, 5)], removedLinks: [link(1, 2)] };
  expect(watched.apply(event({ event: { case: "change", value: first }, more: true }))).toBeUndefined();
  const second = { links: [link(1, 2, 7n)], removedNodes: [5] };
  const change = watched.apply(event({ event: { case: "change", value: second }, revision: 3n }))!;
  expect(names()).toEqual(["a", "b", "c", "d"]);
  expect([...change.nodes.keys()]).toEqual([4]);
  expect([...change.links.keys()]).toEqual([key(1, 2)]);
  expect([change.removedLinks.size, [...change.removedNodes]]).toEqual([0, [5]]);
  expect([change.linksBefore.get(key(1, 2))?.count, watched.links.get(key(1, 2))?.count]).toEqual([0n, 7n]);
});

test("a snapshot in pieces replaces everything once the last piece is there", () => {
  const { watched, names } = known();
  const value = { nodes: [node(9, "z")] };
  expect(watched.apply(event({ event: { case: "snapshot", value }, more: true }))).toBeUndefined();
  const change = watched.apply(
    event({ event: { case: "change", value: { nodes: [node(8, "y")], removedNodes: [9] } } }),
  )!;
  expect([change.isSnapshot, [...change.nodes.keys()], change.removedNodes.size]).toEqual([true, [8], 0]);
  expect([...change.nodesBefore.keys()]).toEqual([1, 2, 3]);
  expect([names(), watched.links.size, watched.contentDescriptor]).toEqual([["y"], 0, undefined]);
});

test("heartbeats and changes of which nothing is left are no changes", () => {
  const { watched } = known();
  expect(watched.apply(event({ event: { case: "heartbeat", value: {} } }))).toBeUndefined();
  expect(watched.apply(event({ event: { case: "change", value: {} } }))).toBeUndefined();
  const empty = new WatchedGraph().apply(event({ event: { case: "snapshot", value: {} } }));
  expect(empty?.isSnapshot).toBe(true);
});

test("a tab gets no generated code with it", () => {
  expect(importsOf("client/watched-graph.ts").every(({ typeOnly }) => typeOnly)).toBe(true);
});
