import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAuthorization } from "../../src/access/credentials.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("Authorization", () => {
  test.each([
    ["Bearer abc", "bearer", "abc"],
    ["bearer abc", "bearer", "abc"],
    ["BEARER   abc==", "bearer", "abc=="],
    ["Bearer a.b-c_d~e+f/g", "bearer", "a.b-c_d~e+f/g"],
    [`Basic ${base64("alice:secret")}`, "basic", "secret"],
    [`basic ${base64(":secret")}`, "basic", "secret"],
    [`Basic ${base64("alice:")}`, "basic", ""],
    [`Basic ${base64("alice:a:b")}`, "basic", "a:b"],
  ])("%s", (value, scheme, token) => {
    expect(parseAuthorization(value)).toEqual({ scheme, token });
  });

  test.each([
    ["nothing", ""],
    ["no credentials", "Bearer"],
    ["empty credentials", "Bearer "],
    ["no scheme", "abc"],
    ["another scheme", "Digest abc"],
    ["two, as a proxy joins them", "Bearer abc, Bearer def"],
    ["a space at the end", "Bearer abc "],
    ["a space before", " Bearer abc"],
    ["a tab", "Bearer\tabc"],
    ["a quoted token", 'Bearer "abc"'],
    ["padding in the middle", "Bearer a=b"],
    ["a line break", "Bearer abc\n"],
    ["a NUL", "Bearer abc\0"],
    ["Basic without a colon", `Basic ${base64("alice")}`],
    ["Basic without its padding", `Basic ${base64("alice:secret!").replace(/=+$/, "")}`],
    ["Basic in base64url", "Basic _____w=="],
    ["Basic with bits that say nothing", "Basic YTpiYx=="],
    ["Basic that is not base64", "Basic a:b"],
    ["more than anybody sends", `Bearer ${"a".repeat(9_000)}`],
  ])("is not taken with %s", (_, value) => {
    expect(parseAuthorization(value)).toBeUndefined();
  });

  test("whatever stands in it, nothing is thrown", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: "binary" }).map((text) => `Basic ${text}`),
        ),
        (value) => {
          const read = parseAuthorization(value);
          return read === undefined || typeof read.token === "string";
        },
      ),
    );
  });

  test("every user and password without a colon in the user come through", () => {
    const latin = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      maxLength: 64,
    });
    fc.assert(
      fc.property(
        latin.map((user) => user.replaceAll(":", "")),
        latin,
        (user, password) => {
          expect(parseAuthorization(`Basic ${base64(`${user}:${password}`)}`)).toEqual({
            scheme: "basic",
            token: password,
          });
        },
      ),
    );
  });
});
