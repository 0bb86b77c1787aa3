import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type PageKeyShape, pageKeyFrom, pageTokenFrom } from "../../../src/http/rpc/page.ts";

const FILTERS = ["changes", ""];

/** A token as its maker would write it, whatever the key is made of. */
function forged(...key: unknown[]): string {
  const digest = createHash("sha256").update(JSON.stringify(FILTERS)).digest("base64url").slice(0, 12);
  return Buffer.from(JSON.stringify([digest, ...key])).toString("base64url");
}

test("a token gives back its key, and the empty one none", () => {
  expect(pageKeyFrom(FILTERS, pageTokenFrom(FILTERS, [1.5, "a"]), ["number", "text"])).toEqual([1.5, "a"]);
  expect(pageKeyFrom(FILTERS, "", ["text"])).toBeUndefined();
});

test.each<[unknown[], PageKeyShape]>([
  [[1.5], ["integer"]],
  [["7"], ["integer"]],
  [[null], ["number"]],
  [[7], ["text"]],
  [[{ toString: 1, valueOf: 1 }], ["text"]],
  [[[]], ["text"]],
  [[], ["text"]],
  [["a", "b"], ["text"]],
])("a token with the key %j is not one of a list by %j", (key, shape) => {
  expect(() => pageKeyFrom(FILTERS, forged(...key), shape)).toThrow(
    expect.objectContaining({ code: "INVALID_ARGUMENT", reason: "INVALID_PAGE_TOKEN" }),
  );
});
