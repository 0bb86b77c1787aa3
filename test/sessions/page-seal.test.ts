import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PageSeal } from "../../src/sessions/page-seal.ts";

const seal = new PageSeal(randomBytes(32));
const refused = expect.objectContaining({ code: "INVALID_ARGUMENT", reason: "INVALID_PAGE_TOKEN" });

describe("a page token", () => {
  it("returns the position, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (position, filters) => {
        expect(seal.open(seal.seal(position, filters), filters)).toBe(position);
      }),
    );
  });

  it("never shows the position, nor that two are the same", () => {
    const tokens = [seal.seal("secret-id", "all"), seal.seal("secret-id", "all")];
    expect(tokens[0]).not.toBe(tokens[1]);
    for (const token of tokens) expect(Buffer.from(token, "base64url").toString("latin1")).not.toContain("secret");
  });

  it("is refused if a single bit was changed or a byte cut off", () => {
    const bytes = Buffer.from(seal.seal("42", "all"), "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = Buffer.from(bytes);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => seal.open(altered.toString("base64url"), "all")).toThrow(refused);
    }
    for (let length = 0; length < bytes.length; length++) {
      expect(() => seal.open(bytes.subarray(0, length).toString("base64url"), "all")).toThrow(refused);
    }
  });

  it("is refused for other filters, under another key, and in another spelling", () => {
    const token = seal.seal("42", "all");
    expect(() => seal.open(token, "active")).toThrow(refused);
    expect(() => new PageSeal(randomBytes(32)).open(token, "all")).toThrow(refused);
    for (const spelling of [`${token}=`, `${token}\n`, ` ${token}`, `${token}!`]) {
      expect(() => seal.open(spelling, "all")).toThrow(refused);
    }
  });

  it.each(["", "x", "not a token", "WyJ4Il0"])("is not %j", (token) => {
    expect(() => seal.open(token, "all")).toThrow(refused);
  });
});
