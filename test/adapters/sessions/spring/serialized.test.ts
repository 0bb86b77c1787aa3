import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { numberOf, textOf, writingsOf, zeroLike } from "../../../../src/adapters/sessions/spring/serialized.ts";
import { longName, recordedHashes, repositories, zoe } from "./recorded.ts";

const LONG =
  "aced00057372000e6a6176612e6c616e672e4c6f6e673b8be490cc8f23df0200014a000576616c7565" +
  "787200106a6176612e6c616e672e4e756d62657286ac951d0b94e08b0200007870";
const INTEGER =
  "aced0005737200116a6176612e6c616e672e496e746567657212e2a0a4f781873802000149000576616c7565" +
  "787200106a6176612e6c616e672e4e756d62657286ac951d0b94e08b0200007870";

const hex = (text: string) => Buffer.from(text, "hex");

describe("numbers", () => {
  test.each([
    ["java.lang.Long", hex(`${LONG}000001a1fdcb9172`), 1795259339122],
    ["a negative java.lang.Long", hex(`${LONG}ffffffffffffffff`), -1],
    ["java.lang.Integer", hex(`${INTEGER}00000708`), 1800],
    ["a negative java.lang.Integer", hex(`${INTEGER}ffffffff`), -1],
    ["JSON", Buffer.from("1795259339122"), 1795259339122],
    ["negative JSON", Buffer.from("-1"), -1],
    ["JSON with its class", Buffer.from('["java.lang.Long",1795259339122]'), 1795259339122],
  ])("%s is read", (_, value, number) => {
    expect(numberOf(value)).toBe(number);
  });

  test.each([
    ["nothing", Buffer.alloc(0)],
    ["a truncated java.lang.Long", hex(`${LONG}000001a1fdcb91`)],
    ["a java.lang.Long with more behind it", hex(`${LONG}000001a1fdcb917200`)],
    ["a java.lang.Integer of eight bytes", hex(`${INTEGER}0000000000000708`)],
    ["another class", hex(`${LONG}000001a1fdcb9172`.replace("4c6f6e67", "4c6f6e68"))],
    ["a fraction", Buffer.from("1800.5")],
    ["an exponent", Buffer.from("18e2")],
    ["a text", Buffer.from('"1800"')],
    ["another class in JSON", Buffer.from('["java.math.BigInteger",1800]')],
    ["digits without end", Buffer.from("1".repeat(1_000_000))],
  ])("%s is none", (_, value) => {
    expect(numberOf(value)).toBeUndefined();
    expect(zeroLike(value)).toBeUndefined();
  });

  test.each(repositories.filter(({ kind }) => kind === "indexed"))(
    "0 is written as Spring itself wrote it into a deleted session of $namespace",
    ({ namespace }) => {
      const intervals = [...recordedHashes(namespace).values()].map(({ maxInactiveInterval }) => maxInactiveInterval!);
      const zero = intervals.find((interval) => numberOf(interval) === 0);
      expect(zero).toBeDefined();
      for (const interval of intervals) expect(zeroLike(interval)).toEqual(zero);
    },
  );

  test("0 keeps the class that it had", () => {
    expect(zeroLike(Buffer.from('["java.lang.Integer",1800]'))?.toString()).toBe('["java.lang.Integer",0]');
  });
});

describe("texts", () => {
  test.each(repositories.filter(({ kind }) => kind === "indexed"))(
    "as Spring wrote them in $namespace",
    ({ namespace }) => {
      const field =
        "sessionAttr:org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME";
      const names = [...recordedHashes(namespace).values()].flatMap((hash) => (hash[field] ? [hash[field]] : []));
      expect(names.map(textOf)).toEqual(expect.arrayContaining([zoe, longName, "alice", "deleted"]));
      for (const name of names) expect(textOf(name)).toEqual(expect.any(String));
    },
  );

  test("what is written is read, in each writing", () => {
    const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
    fc.assert(
      fc.property(anyText, (text) => {
        expect(writingsOf(text).map(textOf)).toEqual([text, text]);
      }),
    );
  });

  test("Java writes 0 and what is beyond the basic plane in its own way", () => {
    expect(writingsOf("\0é🦊")[0]?.toString("hex")).toBe("aced000574000ac080c3a9eda0beedb68a");
  });

  test.each([
    ["nothing", ""],
    ["no length", "aced000574"],
    ["half a length", "aced00057400"],
    ["a greater length than there is", "aced0005740005616c6963"],
    ["more than its length", "aced0005740005616c69636565"],
    ["a broken character", "aced0005740002c361"],
    ["a character that is cut off", "aced0005740001c3"],
    ["a byte that begins none", "aced0005740001ff"],
    ["an object", `${INTEGER}00000708`],
    ["JSON that is cut off", Buffer.from('"alic').toString("hex")],
    ["a number", Buffer.from("1800").toString("hex")],
  ])("%s is none", (_, text) => {
    expect(textOf(hex(text))).toBeUndefined();
  });
});
