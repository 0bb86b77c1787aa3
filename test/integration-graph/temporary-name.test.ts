import fc from "fast-check";
import { expect, test } from "vitest";
import { ActuatorError } from "../../src/common/error.ts";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { temporaryNames } from "../../src/integration-graph/temporary-name.ts";

test.each([
  ["amq.gen-mTT3ylA5gBXzF2yJ", "amq.gen-*"],
  ["amq.gen-", "amq.gen-*"],
  ["amq.rabbitmq.reply-to.g1hkABNyZXBseUAx", "amq.rabbitmq.reply-to*"],
  ["amq.rabbitmq.reply-to", "amq.rabbitmq.reply-to*"],
  ["_INBOX.xyz.1", "_INBOX.*"],
  ["sum.reply", "*.reply"],
  ["sum/reply", "*/reply"],
  ["reply-3f2504e0-4f89-11d3-9a0c-0305e82c3301", "reply-*"],
  ["3F2504E0-4F89-11D3-9A0C-0305E82C3301", "*"],
  ["a.3f2504e0-4f89-11d3-9a0c-0305e82c3301.b.3f2504e0-4f89-11d3-9a0c-0305e82c3302", "a.*.b.*"],
  ["orders", "orders"],
  ["amq.topic", "amq.topic"],
  ["orders.replies", "orders.replies"],
  ["my_INBOX.x", "my_INBOX.x"],
  ["3f2504e0-4f89-11d3-9a0c", "3f2504e0-4f89-11d3-9a0c"],
])("%s is shown as %s", (name, shown) => {
  expect(temporaryNames()(name)).toBe(shown);
});

test("a name that is shown is shown the same when it is asked for again", () => {
  const shown = temporaryNames();
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("amq.gen-", "_INBOX.", ".reply", "*", "x", "/reply"), { maxLength: 6 }),
      (parts) => {
        const once = shown(parts.join(""));
        expect(shown(once)).toBe(once);
      },
    ),
  );
});

test("patterns of one's own take the place of the others", () => {
  const { graph } = integrationGraph({ app: "shop", temporaryNames: ["job-*-done-*-x", "exact", /\d+/] });
  const shown: string[] = [];
  graph.attach({
    name: "library",
    attach(host) {
      for (const name of ["job-a-done-b-x", "job-done-x", "job-a-done-x", "exact", "a1b22", "amq.gen-x"]) {
        shown.push(host.shownName(name));
      }
      return () => {};
    },
  });
  expect(shown).toEqual(["job-*-done-*-x", "job-done-x", "job-a-done-x", "exact", "a*b*", "amq.gen-x"]);
});

test.each(["", "*", "**"])("the pattern %j would stand for every name and is refused", (pattern) => {
  expect(() => integrationGraph({ app: "shop", temporaryNames: [pattern] })).toThrow(ActuatorError);
});

test("a whole-name pattern is what a regular expression of the same meaning is", () => {
  const piece = fc.stringMatching(/^[ab*]{0,6}$/).filter((text) => /[ab]/.test(text));
  fc.assert(
    fc.property(piece, fc.stringMatching(/^[ab]{0,8}$/), (pattern, name) => {
      const same = new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(name);
      expect(temporaryNames([pattern])(name)).toBe(same ? pattern : name);
    }),
    { numRuns: 2_000 },
  );
});
