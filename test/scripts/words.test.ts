import { expect, test } from "vitest";
import { oddWords } from "../../scripts/words.ts";

test("finds a word in any case, with its line and what to write", () => {
  const text = "A token is required.\nNobody is asked for one.";
  expect(oddWords(text)).toEqual([{ line: 2, found: "Nobody", advice: expect.stringContaining("the caller") }]);
});

test("finds a phrase that continues on the next line of a comment", () => {
  const found = oddWords("/**\n * What the listener puts up\n * with.\n */").map(({ line, found }) => ({
    line,
    found,
  }));
  expect(found).toEqual([{ line: 2, found: "puts up with" }]);
});

test("finds a replaced name as a whole word and in its own case only", () => {
  const names = (text: string) => oddWords(text).map(({ found }) => found);
  expect(names("class Visit implements WaitingRoom {}")).toEqual(["Visit", "WaitingRoom"]);
  expect(names("await visit(node); visitNode(); class Visitor {}")).toEqual([]);
});

test.each(["If there is none, the default applies.", "It knows none of them.", "The somebodyElse variable."])(
  "accepts %j",
  (text) => expect(oddWords(text)).toEqual([]),
);

test("finds several on one line, in order", () => {
  expect(oddWords("Whoever knocks first is served.").map(({ found }) => found)).toEqual(["Whoever", "knocks"]);
});
