import { describe, expect, test } from "vitest";
import { JsonFault, parseJson } from "../../src/configuration/json.ts";

test.each([
  '{"a":[1,-2.5e3,true,false,null,"x\\u00e9\\n"],"b":{"c":{}},"d":[]}',
  ' \n"text"\t',
  "[[[]]]",
  "0",
  '{"":1,"__proto__":2}',
])("%s is read as JSON.parse reads it", (text) => {
  expect(JSON.stringify(parseJson(text).value)).toBe(JSON.stringify(JSON.parse(text)));
});

test("a byte order mark is skipped, as editors write it", () => {
  expect(parseJson('\ufeff{"a":1}').value).toEqual({ a: 1 });
});

test("a name such as __proto__ is only a name", () => {
  const value = parseJson('{"__proto__":{"polluted":true}}').value as object;
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect((value as { polluted?: unknown }).polluted).toBeUndefined();
});

test("the place of each value is known", () => {
  const { places } = parseJson('{\n  "limits": { "max": 1 },\n  "list": [\n    true\n  ]\n}');
  expect(places.get("limits.max")).toEqual({ line: 2, column: 22 });
  expect(places.get("list.0")).toEqual({ line: 4, column: 5 });
});

describe("what is wrong, and where", () => {
  test.each([
    ["", 1, 1, "expected a value, found the end of the file"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected "," or "}", found "\\""'],
    ['{ "a": 1, }', 1, 11, 'expected a name in double quotes, found "}"'],
    ["{ a: 1 }", 1, 3, 'expected a name in double quotes, found "a"'],
    ['{ "a" 1 }', 1, 7, 'expected ":" after "a", found "1"'],
    ["[1 2]", 1, 4, 'expected "," or "]", found "2"'],
    ['{"a": 1} x', 1, 10, 'expected the end of the file, found "x"'],
    ['{"a": 1,\n "a": 2}', 2, 2, '"a" stands here a second time'],
    ['{"a": "x\ny"}', 1, 7, "a text has no end, or a line break or control character in it"],
    ['["\\q"]', 1, 2, "a text has an escape that does not exist"],
    ['{"a": // why\n 1}', 1, 7, 'expected a value, found "/"'],
    ["01", 1, 2, 'expected the end of the file, found "1"'],
    ["[".repeat(100), 1, 34, "more than 32 levels deep"],
  ])("%j", (text, line, column, message) => {
    let fault: unknown;
    try {
      parseJson(text);
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(JsonFault);
    expect(fault).toMatchObject({ message, place: { line, column } });
  });
});
