import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { closestName, nameFilter } from "../../src/dashboard/loggers/filter.ts";
import { type Asked, listing } from "../../src/dashboard/loggers/rows.ts";
import { effectiveLevel, inheritsFrom, LoggerTree, returnsTo } from "../../src/dashboard/loggers/tree.ts";
import { affectedBy, followersOf, levelWithout } from "../../src/dashboard/state/followers.ts";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { type Logger, LoggerGroupSchema, LoggerSchema } from "../../src/gen/actuator/v3/loggers_pb.ts";

function logger(name: string, configuredLevel: Level = Level.UNSPECIFIED, more: Partial<Logger> = {}): Logger {
  return create(LoggerSchema, {
    name,
    configuredLevel,
    effectiveLevel: configuredLevel || Level.INFO,
    ...more,
  } as object);
}

const all: Asked = { filter: undefined, only: "all", isFlat: false, open: new Map() };

function shown(tree: LoggerTree, asked: Partial<Asked> = {}): string[] {
  return listing(tree, [], { ...all, ...asked }).rows.map(
    ({ depth, node, isPath, isOpen, text }) =>
      `${" ".repeat(depth - 1)}${text ?? node!.part}${isPath ? " (path)" : ""}${isOpen === false ? " +" : ""}`,
  );
}

describe("tree", () => {
  test("names become branches, also those between that are no loggers", () => {
    const tree = new LoggerTree([
      logger("ROOT", Level.INFO),
      logger("shop.orders.b"),
      logger("shop.orders.a"),
      logger("app:http/in"),
    ]);
    expect(shown(tree)).toEqual(["ROOT", " app", "  http", "   in", " shop", "  orders", "   a", "   b"]);
    expect(tree.root.below).toBe(3);
    expect(tree.get("app:http/in")).toBe(tree.get("app.http.in"));
    expect(tree.get("shop.orders")?.logger).toBeUndefined();
  });

  test("odd names keep a place of their own", () => {
    const tree = new LoggerTree(
      ["ROOT", ".a", "a.", "a..b", ".", "root.x", "<img src=x onerror=alert(1)>"].map((each) => logger(each)),
    );
    expect(shown(tree)).toEqual(["ROOT", " .", " .a", " <img src=x onerror=alert(1)>", " a", "  .", "   b", " root.x"]);
    expect(shown(tree, { isFlat: true })).toHaveLength(7);
  });

  test("loggers come and go one at a time", () => {
    const tree = new LoggerTree([logger("ROOT"), logger("b"), logger("d")]);
    expect(tree.put(logger("c.x"))).toBe(true);
    expect(tree.put(logger("c.x", Level.DEBUG))).toBe(false);
    expect(shown(tree)).toEqual(["ROOT", " b", " c", "  x", " d"]);
    expect(tree.root.below).toBe(3);
    expect(tree.remove("c.x")).toBe(true);
    expect(tree.remove("c.x")).toBe(false);
    expect(shown(tree)).toEqual(["ROOT", " b", " d"]);
    expect(tree.root.below).toBe(2);
  });

  test("a name that is no logger follows the nearest one above", () => {
    const tree = new LoggerTree([
      logger("ROOT", Level.INFO),
      logger("a", Level.DEBUG),
      logger("a.b.c", Level.UNSPECIFIED, { effectiveLevel: Level.DEBUG }),
      logger("a.d", Level.WARN),
      logger("a.d.e"),
    ]);
    expect(effectiveLevel(tree.get("a.b")!)).toBe(Level.DEBUG);
    expect(inheritsFrom(tree.get("a.b.c")!)).toBe(tree.get("a"));
    expect(returnsTo(tree.get("a")!)).toBe(Level.INFO);
  });
});

describe("followers", () => {
  const known = {
    loggers: new Map(
      [
        logger("ROOT", Level.INFO),
        logger("a", Level.DEBUG),
        logger("a:b:c"),
        logger("a.d", Level.WARN),
        logger("a.d.e"),
        logger("a.f", Level.UNSPECIFIED, { override: {} as never, baselineLevel: Level.UNSPECIFIED }),
        logger("ab"),
      ].map((each) => [each.name, each]),
    ),
    groups: new Map([["g", create(LoggerGroupSchema, { name: "g", members: ["a.d", "a.b.*"] })]]),
  };

  test("are the loggers that inherit, up to the next one with a level", () => {
    expect([...affectedBy("a", known)]).toEqual(["a", "a:b:c", "a.f"]);
    expect(followersOf("a", known)).toBe(2);
    expect(followersOf("ROOT", known)).toBe(1);
    expect([...affectedBy("g", known)]).toEqual(["a:b:c", "a.d", "a.d.e"]);
  });

  test("a changed logger without a level of its own returns to the one above", () => {
    expect(levelWithout("a.f", known)).toBe(Level.DEBUG);
    expect(levelWithout("a.d.e", known)).toBe(Level.INFO);
  });
});

describe("filter", () => {
  const names = ["shop", "shop.orders", "shop.orders.http", "shop.orders.payment.http", "shop.web", "workshop.web"];
  test.each([
    ["shop.orders.**", ["shop.orders", "shop.orders.http", "shop.orders.payment.http"]],
    ["shop.orders.** !*.http", ["shop.orders"]],
    ["*.http", ["shop.orders.http", "shop.orders.payment.http"]],
    ["shop.*.http", ["shop.orders.http"]],
    ["shop.**.http", ["shop.orders.http", "shop.orders.payment.http"]],
    ["shop.*", ["shop.orders", "shop.orders.http", "shop.orders.payment.http", "shop.web"]],
    ["SHOP WEB", ["shop.web", "workshop.web"]],
    ["shop:web", ["shop.web", "workshop.web"]],
    ["shop.web, shop.o*", []],
    ["*.web,shop.o*", ["shop.orders", "shop.orders.http", "shop.orders.payment.http", "shop.web", "workshop.web"]],
    ["!shop", []],
    ["!work !http", ["shop", "shop.orders", "shop.web"]],
    ["s?op", []],
    ["(", []],
  ])("%s", (text, kept) => {
    expect(names.filter((name) => nameFilter(text)!.matches(name))).toEqual(kept);
  });

  test("nothing but spaces is no filter", () => {
    expect(nameFilter(" , !")).toBeUndefined();
  });

  test("marks what it names, and the way there", () => {
    const marked = (filter: string, name: string) => {
      const range = nameFilter(filter)!.markOf(name);
      return range === undefined ? undefined : name.slice(...range);
    };
    expect(marked("pay", "shop.Payment")).toBe("Pay");
    expect(marked("shop.orders.**", "shop")).toBe("shop");
    expect(marked("shop.orders.**", "shop.orders")).toBe("shop.orders");
    expect(marked("shop.orders.**", "shop.orders.x")).toBeUndefined();
  });

  test("finds the name that was probably meant", () => {
    expect(closestName("shop.payments.**", [...names, "shop.orders.payment", "x"])).toBe("shop.orders.payment");
    expect(closestName("zzz", names)).toBeUndefined();
    expect(closestName("**", names)).toBeUndefined();
  });
});

describe("rows", () => {
  const override = { setTime: { seconds: 1n, nanos: 0 } } as never;
  const tree = new LoggerTree([
    logger("ROOT", Level.INFO),
    logger("shop", Level.UNSPECIFIED),
    logger("shop.orders", Level.WARN),
    logger("shop.orders.payment", Level.DEBUG, { override }),
    logger("shop.web"),
  ]);

  test("a filter keeps the way to what matches, greyed", () => {
    const asked = { filter: nameFilter("payment") };
    expect(shown(tree, asked)).toEqual(["ROOT (path)", " shop (path)", "  orders (path)", "   payment"]);
    expect(listing(tree, [], { ...all, ...asked }).counts).toEqual({ all: 1, configured: 1, changed: 1 });
  });

  test("only configured, only changed", () => {
    expect(shown(tree, { only: "configured" })).toEqual(["ROOT", " shop (path)", "  orders", "   payment"]);
    expect(shown(tree, { only: "changed" })).toEqual(["ROOT (path)", " shop (path)", "  orders (path)", "   payment"]);
    expect(listing(tree, [], { ...all, only: "changed" }).counts).toEqual({ all: 5, configured: 3, changed: 1 });
  });

  test("branches close and open", () => {
    expect(shown(tree, { open: new Map([["shop.orders", false]]) })).toEqual(["ROOT", " shop", "  orders +", "  web"]);
    expect(shown(tree, { open: new Map([["ROOT", false]]) })).toEqual(["ROOT +"]);
  });

  test("a list has whole names", () => {
    expect(shown(tree, { isFlat: true, filter: nameFilter("!ROOT") })).toEqual([
      "shop",
      "shop.orders",
      "shop.orders.payment",
      "shop.web",
    ]);
  });

  test("groups come first, with their members", () => {
    const group = create(LoggerGroupSchema, { name: "money", members: ["shop.orders", "shop.none", "shop.*"] });
    const rows = (asked: Partial<Asked>) => listing(tree, [group], { ...all, ...asked }).rows;
    expect(rows({})[0]).toMatchObject({ id: "group money", isOpen: false, text: "money" });
    expect(rows({ open: new Map([["group money", true]]) }).slice(1, 4)).toMatchObject([
      { text: "shop.orders", node: { key: "shop.orders" }, depth: 2 },
      { text: "shop.none", node: undefined },
      { text: "shop.*", node: undefined },
    ]);
    expect(rows({ filter: nameFilter("orders") })[0]!.id).toBe("group money");
    expect(rows({ filter: nameFilter("web") })[0]!.id).toBe("ROOT");
  });

  test("a large tree begins with its outermost branches", () => {
    const large = new LoggerTree(Array.from({ length: 300 }, (_, index) => logger(`a${index % 3}.b${index}`)));
    expect(shown(large)).toEqual(["ROOT", " a0 +", " a1 +", " a2 +"]);
  });
});
