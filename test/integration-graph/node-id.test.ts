import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { channelKey, endpointKey, hash31, keyParts, NodeIds, nodeKey } from "../../src/integration-graph/node-id.ts";

test.each([
  ["channel:orders", 551692092],
  ["channel:nullChannel", 1726609611],
  ["endpoint:shop:filter:in-stock", 1378660337],
])("the id of %s never changes", (key, id) => {
  expect(new NodeIds().take(key)).toBe(id);
});

test.each([
  ["message_channel", "orders", "channel:orders"],
  ["publish_subscribe_channel", "a:b", "channel:a:b"],
  ["filter", "a:b", "endpoint:shop:filter:a:b"],
] as const)("the key of a %s %j is %s", (pattern, name, key) => {
  expect(nodeKey("shop", pattern, name)).toBe(key);
});

test("keys of different applications never meet", () => {
  expect(nodeKey("a:filter:b", "filter", "c")).not.toBe(nodeKey("a", "filter", "b:filter:c"));
  expect(nodeKey("a%3A", "filter", "c")).not.toBe(nodeKey("a:", "filter", "c"));
});

describe("the key of a broker's channel", () => {
  const text = fc.string({ minLength: 1, maxLength: 12 });
  const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);

  test("names system, broker, kind and name, so that two sources make the same", () => {
    expect(channelKey("rabbitmq", "rabbit@node1", "queue", "//orders")).toBe(
      "channel:rabbitmq:rabbit@node1:queue://orders",
    );
    expect(channelKey("redis", "10.0.0.1:6379/0", "stream", "0/a:b")).toBe(
      "channel:redis:10.0.0.1%3A6379/0:stream:0/a:b",
    );
  });

  test("is another one for every other broker or name", () => {
    const parts = fc.tuple(word, text, word, text);
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        fc.pre(!one.concat(other).some((part) => part.includes("://")));
        expect(channelKey(...one) === channelKey(...other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  test("says what it was made of", () => {
    const broker = text.filter((broker) => !broker.startsWith("/") && !broker.includes("://"));
    fc.assert(
      fc.property(word, broker, word, text, (system, broker, kind, name) => {
        expect(keyParts(channelKey(system, broker, kind, name))).toEqual({ system, broker, kind });
      }),
    );
    expect(keyParts(endpointKey("a:b%", "filter", "x:y"))).toEqual({ app: "a:b%" });
    for (const key of ["channel:orders", "channel:a:b", "other:a:b:c:d", ""]) expect(keyParts(key)).toEqual({});
  });

  test("keeps a name with an @ in the virtual host / as it is, but no credentials", () => {
    const { graph } = integrationGraph({ app: "shop" });
    const key = (declared: string) => graph.declare({ name: "x", pattern: "message_channel", key: declared }).key;
    const queue = channelKey("rabbitmq", "main", "queue", "//celery@w1.pidbox");
    expect(queue).toBe("channel:rabbitmq:main:queue://celery@w1.pidbox");
    expect(key(queue)).toBe(queue);
    expect(channelKey("mqtt", "mqtt://u:p@h:1", "topic", "t")).toBe("channel:mqtt:mqtt%3A//h%3A1:topic:t");
    for (const open of ["channel:amqp://u:p@h:8080/x", "channel:x:http://u:p@h:1", "amqp://u:p@h"]) {
      expect(key(open)).not.toContain("p@");
    }
  });
});

test("channels of the same name have the same id in every application, endpoints do not", () => {
  const ids = (app: string) => {
    const g = integrationGraph({ app });
    return [g.channel("it").node.id, g.filter("other").node.id];
  };
  const [one, two] = [ids("one"), ids("two")];
  expect(one[0]).toBe(two[0]);
  expect(one[1]).not.toBe(two[1]);
});

test("an id is a positive int32", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (key) => {
      const id = hash31(key);
      return Number.isInteger(id) && id > 0 && id < 2 ** 31;
    }),
  );
});

test("20,000 similar keys have 20,000 ids", () => {
  expect(new Set(Array.from({ length: 20_000 }, (_, index) => hash31(`channel:order-${index}`))).size).toBe(20_000);
});

describe("where hashes collide", () => {
  const ids = (size: number) => new NodeIds((key) => (hash31(key) % size) + 1);

  test("a key is hashed again, the same way in every run", () => {
    const take = () => {
      const crowded = ids(100);
      return Array.from({ length: 60 }, (_, index) => crowded.take(`key-${index}`));
    };
    expect(new Set(take()).size).toBe(60);
    expect(take()).toEqual(take());
  });

  test("every key keeps its id, whoever comes and goes", () => {
    const keys = fc.integer({ min: 0, max: 11 }).map((index) => `key-${index}`);
    fc.assert(
      fc.property(fc.array(fc.record({ key: keys, leaves: fc.boolean() }), { maxLength: 100 }), (steps) => {
        const crowded = ids(16);
        const present = new Map<string, number>();
        const known = new Map<string, number>();
        for (const { key, leaves } of steps) {
          if (leaves) {
            if (present.has(key)) crowded.release(present.get(key)!);
            present.delete(key);
          } else {
            const id = crowded.take(key);
            expect(known.get(key) ?? id).toBe(id);
            known.set(key, id);
            present.set(key, id);
            expect(new Set(present.values()).size).toBe(present.size);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test("names that are made up without end do not fill the memory", () => {
    const few = new NodeIds((key) => (key === "first" || key === "second" ? 1 : hash31(key)));
    expect(few.take("first")).toBe(1);
    for (let index = 0; index < 30_000; index++) few.take(`reply-${index}`);
    few.release(1);
    expect(few.take("second")).toBe(1);
  });
});
