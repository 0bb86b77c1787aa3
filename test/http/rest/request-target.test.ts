import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ActuatorError } from "../../../src/common/error.ts";
import { decodeSegment } from "../../../src/http/rest/request-target.ts";

const REFUSED = Symbol("refused");

function decoded(segment: string): string | typeof REFUSED {
  try {
    return decodeSegment(segment);
  } catch (error) {
    expect(error).toBeInstanceOf(ActuatorError);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
    return REFUSED;
  }
}

/** What RFC 3986 and Unicode say, one byte at a time: a byte stands for itself or is written `%XX`. */
function model(bytes: Uint8Array): string | typeof REFUSED {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return /[\p{Cc}/\\]/u.test(text) ? REFUSED : text;
  } catch {
    return REFUSED;
  }
}

function encoded(bytes: Uint8Array, plain: (byte: number) => boolean): string {
  return Array.from(bytes, (byte) => {
    return plain(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}

const isUnreserved = (byte: number) => /[\w.~-]/.test(String.fromCharCode(byte)) && byte < 0x80;

describe("a segment is decoded as RFC 3986 and UTF-8 say", () => {
  test("any bytes, each encoded", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        expect(decoded(encoded(bytes, () => false))).toBe(model(bytes));
      }),
      { numRuns: 3000 },
    );
  });

  test("any text, encoded where it must be", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const bytes = new TextEncoder().encode(text);
        expect(decoded(encoded(bytes, isUnreserved))).toBe(model(bytes));
      }),
      { numRuns: 2000 },
    );
  });

  test("any text with a matrix part, which is cut off", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (name, matrix) => {
        const bytes = new TextEncoder().encode(name);
        const part = new TextEncoder().encode(matrix);
        const expected = model(part) === REFUSED ? REFUSED : model(bytes);
        expect(decoded(`${encoded(bytes, isUnreserved)};${encoded(part, isUnreserved)}`)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test("anything else is refused, never thrown at", () => {
    const fragment = fc.constantFrom("%", "%2", "%zz", "%41", "%ff", "%e2%82%ac", "a", ";", "/", "\\", ".", "é");
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 8 }), (fragments) => {
        const segment = fragments.join("");
        const result = decoded(segment);
        if (result !== REFUSED && /[%;]/.test(segment)) expect(result).toBe(decodeURIComponent(segment.split(";")[0]!));
      }),
      { numRuns: 2000 },
    );
  });
});
