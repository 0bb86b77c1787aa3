import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { linkKey, WatchedGraph } from "../../src/client/watched-graph.ts";
import { broughtIntoView, fitted, opened, panned, READABLE, zoomed } from "../../src/dashboard/graph/camera.ts";
import { groupingFor, groupsOf, nodesNear, pictureOf } from "../../src/dashboard/graph/collapse.ts";
import { layered } from "../../src/dashboard/graph/layered.ts";
import { CARD, type Layout, type Picture, type Way } from "../../src/dashboard/graph/model.ts";
import { nearbyLayout } from "../../src/dashboard/graph/nearby-layout.ts";
import { Rates } from "../../src/dashboard/graph/rates.ts";
import { routesOf } from "../../src/dashboard/graph/routes.ts";
import { similarLoggers } from "../../src/dashboard/graph/similar-loggers.ts";
import { stepFrom } from "../../src/dashboard/graph/steps.ts";
import { perSecond, took } from "../../src/dashboard/graph/words.ts";
import {
  Link_Type,
  LinkSchema,
  NodeSchema,
  WatchIntegrationGraphResponseSchema,
} from "../../src/gen/actuator/v3/integration_graph_pb.ts";

const node = (nodeId: number, init: Omit<MessageInitShape<typeof NodeSchema>, "$typeName"> = {}) =>
  create(NodeSchema, { nodeId, name: `n${nodeId}`, key: `channel:n${nodeId}`, ...init });
const endpoint = (nodeId: number, app: string, pattern = "service_activator") =>
  node(nodeId, { key: `endpoint:${app}:${pattern}:n${nodeId}`, integrationPatternType: pattern });
const queue = (nodeId: number) =>
  node(nodeId, { key: `channel:rabbitmq:main:queue:n${nodeId}`, integrationPatternType: "pollable_channel" });
const link = (from: number, to: number, type: Link_Type = Link_Type.OUTPUT) => create(LinkSchema, { from, to, type });
const byKey = (...links: readonly ReturnType<typeof link>[]) => new Map(links.map((each) => [linkKey(each), each]));

describe("collapse", () => {
  const nodes = [endpoint(1, "shop"), endpoint(2, "shop"), endpoint(3, "store"), queue(4), queue(5), queue(6)];
  const links = byKey(
    link(1, 4),
    link(4, 2, Link_Type.INPUT),
    link(2, 5),
    link(5, 3, Link_Type.INPUT),
    link(1, 6),
    link(3, 3, Link_Type.ERROR),
  );

  test("a channel belongs to the application that reads it, or else to the one that writes it", () => {
    const groups = groupsOf(nodes, links.values(), "application");
    expect([...groups].map(([title, members]) => [title, members.map(({ nodeId }) => nodeId)])).toEqual([
      ["shop", [1, 2, 4, 6]],
      ["store", [3, 5]],
    ]);
    expect([...groupsOf(nodes, [], "broker").keys()]).toEqual(["RabbitMQ main"]);
    expect([...groupsOf(nodes, [], "pattern").keys()].sort()).toEqual(["pollable channel", "service activator"]);
  });

  test("links of collapsed nodes are joined by kind, those within a group are left out, and a loop of a node stays", () => {
    const groups = groupsOf(nodes, links.values(), "application");
    const closed = pictureOf(nodes, links, { groups, open: new Set() });
    expect(closed.cards.map(({ id, nodes }) => [id, nodes.length])).toEqual([
      ["group:shop", 4],
      ["group:store", 2],
    ]);
    expect(closed.paths.map(({ id }) => id)).toEqual(["group:shop message group:store"]);
    const half = pictureOf(nodes, links, { groups, open: new Set(["store"]) });
    expect(half.cards.map(({ id }) => id)).toEqual(["group:shop", "3", "5"]);
    expect(half.paths.map(({ id }) => id)).toEqual(["group:shop message 5", "5 message 3", "3 error 3"]);
  });

  test("more than 300 nodes are collapsed by the first kind that leaves a picture", () => {
    const few = Array.from({ length: 300 }, (_, id) => endpoint(id, "shop"));
    expect(groupingFor(few, [])).toBeUndefined();
    const apps = Array.from({ length: 400 }, (_, id) => endpoint(id, `app-${id % 5}`));
    expect(groupingFor(apps, [])).toBe("application");
    // One application is no picture.
    const patterns = ["filter", "router", "splitter"];
    const one = Array.from({ length: 400 }, (_, id) => endpoint(id, "shop", patterns[id % 3]!));
    expect(groupingFor(one, [])).toBe("pattern");
  });

  test("what is near follows links both ways, as far as asked", () => {
    expect([...nodesNear([2], 1, links.values())].sort()).toEqual([2, 4, 5]);
    expect([...nodesNear([2], 2, links.values())].sort()).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("rates", () => {
  const graph = (count: bigint, failures: bigint) =>
    create(WatchIntegrationGraphResponseSchema, {
      event: {
        case: "change",
        value: {
          nodes: [node(1, { rate: 9, sendTimers: { successes: { count }, failures: { count: failures } } })],
          links: [create(LinkSchema, { from: 1, to: 2, type: Link_Type.OUTPUT, count })],
        },
      },
    });
  const key = linkKey(link(1, 2));

  test("a rate is what grew in the last half minute, and none before there is a measure", () => {
    const [watched, rates] = [new WatchedGraph(), new Rates()];
    const add = (at: number, count: bigint, failures = 0n) => rates.apply(watched.apply(graph(count, failures))!, at);
    add(0, 1_000n);
    expect(rates.ofLink(key, 1_000)).toBeUndefined();
    expect(rates.ofNode(watched.nodes.get(1)!, 1_000)).toBe(9);
    add(5_000, 1_050n, 2n);
    expect(rates.ofLink(key, 5_000)).toBe(10);
    expect(rates.failedAt(1, 5_000)).toBe(2);
    // Nothing was sent since, because nothing changed.
    expect(rates.ofLink(key, 10_000)).toBe(5);
    expect(rates.ofLink(key, 36_000)).toBe(0);
    expect(rates.ofNode(watched.nodes.get(1)!, 36_000)).toBe(0);
    expect([rates.failedAt(1, 64_000), rates.failedAt(1, 66_000)]).toEqual([2, 0]);
    expect(rates.ofLink("unknown", 0)).toBeUndefined();
  });

  test("what an instance has counted before it joins the graph is no growth", () => {
    const [watched, rates] = [new WatchedGraph(), new Rates()];
    const add = (at: number, count: bigint, ...instances: string[]) => {
      const event = graph(count, count);
      for (const each of (event.event.value as { nodes: { instances: string[] }[] }).nodes) each.instances = instances;
      rates.apply(watched.apply(event)!, at);
    };
    add(0, 10n, "a");
    add(5_000, 1_000_010n, "a", "b");
    expect(rates.failedAt(1, 5_000)).toBe(0);
    expect(rates.ofLink(key, 5_000)).toBeUndefined();
    add(10_000, 1_000_060n, "a", "b");
    expect([rates.failedAt(1, 10_000), rates.ofLink(key, 10_000)]).toEqual([50, 10]);
  });

  test("a process that began again counts from zero", () => {
    const [watched, rates] = [new WatchedGraph(), new Rates()];
    const add = (at: number, count: bigint) => rates.apply(watched.apply(graph(count, 0n))!, at);
    add(0, 1_000n);
    add(4_000, 3n);
    expect(rates.ofLink(key, 4_000)).toBeUndefined();
    add(8_000, 43n);
    expect(rates.ofLink(key, 8_000)).toBe(10);
  });
});

function pictureWith(...lines: readonly string[]): Picture {
  const paths = lines.map((line) => {
    const [from, to, way = "message"] = line.split(" ") as [string, string, Way?];
    return { id: `${from} ${way} ${to}`, from, to, way, links: [] };
  });
  const ids = [...new Set(paths.flatMap(({ from, to }) => [from, to]))];
  return { cards: ids.map((id) => ({ id, title: id, isGroup: false, nodes: [] })), paths };
}

describe("the simple layout", () => {
  test("puts each card below what leads to it, and ends in circles and loops, too", () => {
    const { cards } = layered(pictureWith("a b", "b c", "a c", "c d", "d b", "d d"));
    const y = (id: string) => cards.get(id)!.y;
    expect([y("a") < y("b"), y("b") < y("c"), y("c") < y("d")]).toEqual([true, true, true]);
  });

  test("lets no two cards lie on each other, and takes a deep chain of a thousand", () => {
    const chain = Array.from({ length: 1_000 }, (_, at) => `n${at} n${at + 1}`);
    const wide = Array.from({ length: 100 }, (_, at) => `n0 w${at}`);
    const { cards, width } = layered(pictureWith(...chain, ...wide));
    expect(new Set([...cards.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(1_101);
    expect(Math.max(...[...cards.values()].map(({ x }) => x))).toBeLessThan(width);
  });
});

test("on a narrow screen inputs are above, everything else in two columns below", () => {
  const { cards, width } = nearbyLayout(pictureWith("in m", "m a", "m b error", "m c", "m m error"), "m");
  const at = (id: string) => cards.get(id)!;
  expect(width).toBeLessThanOrEqual(320);
  expect([at("in").y < at("m").y, at("in").x === at("m").x]).toEqual([true, true]);
  expect([at("a").y, at("a").x < at("b").x]).toEqual([at("b").y, true]);
  expect([at("c").y > at("b").y, at("c").x]).toEqual([true, width / 2]);
});

describe("routes", () => {
  const layout: Layout = {
    width: 400,
    height: 300,
    cards: new Map([
      ["a", { x: 100, y: 30 }],
      ["b", { x: 100, y: 200 }],
      ["c", { x: 300, y: 200 }],
    ]),
    paths: new Map(
      ["a message b", "a error c", "b message a", "b error b"].map((id) => [
        id,
        { bends: [], label: { x: 0, y: 115 } },
      ]),
    ),
  };
  const { paths } = pictureWith("a b", "a c error", "b a", "b b error");

  test("leave and enter cards at their edges, apart from each other", () => {
    const routes = routesOf(paths, layout);
    const starts = [...routes.values()].map(({ line }) => /^M([\d.]+) ([\d.]+)/.exec(line)!.slice(1).map(Number));
    expect(new Set(starts.map(String)).size).toBe(4);
    expect(starts[0]![1]).toBe(30 + CARD.height / 2);
    // Back up: from the top of the lower card to the bottom of the upper one.
    expect(starts[2]![1]).toBe(200 - CARD.height / 2);
    expect(routes.get("b message a")!.head).toMatch(/l-4 -7z$/);
    expect(routes.get("b error b")!.line).toContain("C");
  });

  test("have their label on the line", () => {
    expect(routesOf(paths, layout).get("a message b")!.label.x).toBeGreaterThan(60);
  });
});

describe("the camera", () => {
  const canvas = { width: 1_000, height: 500 };

  test("opens with readable texts: whole if that fits, else around what matters", () => {
    expect(opened({ width: 500, height: 300 }, canvas, undefined).scale).toBeGreaterThanOrEqual(READABLE);
    const { x, y, scale } = opened({ width: 4_000, height: 4_000 }, canvas, { x: 2_000, y: 1_000 });
    expect([x, y, scale]).toEqual([1_500, 750, READABLE]);
    expect(fitted({ width: 4_000, height: 4_000 }, canvas).scale).toBeLessThan(READABLE);
  });

  test("zooms around the pointer and stops where texts become readable", () => {
    const before = { x: 10, y: 20, scale: 1 };
    const after = zoomed(before, 2, { x: 100, y: 50 });
    expect([after.x + 100 / 2, after.y + 50 / 2, after.scale]).toEqual([110, 70, 2]);
    expect(zoomed({ x: 0, y: 0, scale: 0.9 }, 1.25, { x: 0, y: 0 }).scale).toBe(READABLE);
  });

  test("keeps some of the drawing in sight", () => {
    const far = panned({ x: 0, y: 0, scale: 1 }, -99_999, 99_999, { width: 500, height: 300 }, canvas);
    expect([far.x, far.y]).toEqual([440, -440]);
  });

  test("moves no further than needed", () => {
    const here = { x: 0, y: 0, scale: 1 };
    expect(broughtIntoView(here, { x: 500, y: 250 }, [], canvas)).toEqual(here);
    const moved = broughtIntoView(here, { x: 1_200, y: 250 }, [{ x: 1_400, y: 250 }], canvas);
    expect([moved.x, moved.y]).toEqual([1_400 + CARD.width / 2 + 24 - 1_000, 0]);
  });
});

test("arrows follow links up and down, and rows left and right", () => {
  const picture = pictureWith("a b", "a c", "b d", "c d", "a a");
  const places = layered(picture);
  const [left, right] = ["b", "c"].sort((one, other) => places.cards.get(one)!.x - places.cards.get(other)!.x);
  expect(["b", "c"]).toContain(stepFrom("a", "down", places, picture.paths));
  expect(stepFrom("d", "down", places, picture.paths)).toBeUndefined();
  expect(stepFrom("b", "up", places, picture.paths)).toBe("a");
  expect(stepFrom(left!, "right", places, picture.paths)).toBe(right);
  expect(stepFrom(left!, "left", places, picture.paths)).toBeUndefined();
});

test("loggers with a similar name have its name, or a word of it, as parts", () => {
  const names = [
    "shop.orders.payment",
    "shop.orders.stock",
    "shop.repayment",
    "shop.web",
    "payment",
    "in",
    "shop.inStock",
  ];
  expect(similarLoggers("payment", names)).toEqual(["payment", "shop.orders.payment"]);
  expect(similarLoggers("in-stock", names)).toEqual(["shop.inStock", "shop.orders.stock"]);
  expect(similarLoggers("a", names)).toEqual([]);
});

test("numbers are short", () => {
  expect([0, 0.01, 1.94, 31.44, 1_234.5].map(perSecond)).toEqual(["0/s", "< 0.1/s", "1.9/s", "31.4/s", "1,235/s"]);
  expect([0.01, 0.14, 9.97, 33.2, 999.7, 1_900].map(took)).toEqual([
    "< 0.1 ms",
    "0.1 ms",
    "10 ms",
    "33 ms",
    "1 s",
    "1.9 s",
  ]);
});
