import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { documentOf } from "./documents.ts";

interface Shown {
  readonly place: string;
  readonly schema: unknown;
  readonly value: unknown;
}

const document = JSON.parse(JSON.stringify(documentOf("everything, secured")));
const ajv = new Ajv2020({ strict: true, allErrors: true, validateSchema: false, allowUnionTypes: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addVocabulary(Object.keys(document)).addSchema(document, "openapi");

/** Every example in the document, with the schema beside it. */
function examplesIn(value: unknown, place = ""): Shown[] {
  if (typeof value !== "object" || value === null) return [];
  const { schema, example, examples, ...rest } = value as Record<string, unknown>;
  const inside = Object.entries(rest).flatMap(([key, member]) => examplesIn(member, `${place}/${key}`));
  if (schema === undefined) return [...inside, ...examplesIn(examples, `${place}/examples`)];
  const named = Object.entries((examples ?? {}) as Record<string, { value: unknown }>);
  return [
    ...inside,
    ...(example === undefined ? [] : [{ place, schema, value: example }]),
    ...named.map(([name, { value }]) => ({ place: `${place}/examples/${name}`, schema, value })),
  ];
}

const EXAMPLES = examplesIn(document);

describe("an example", () => {
  test.each(EXAMPLES)("fits its schema: $place", ({ schema, value }) => {
    const validate = ajv.compile(absolute(schema) as object);
    expect({ fits: validate(value), errors: validate.errors }).toEqual({ fits: true, errors: null });
  });

  test.each(["/paths/", "/components/responses/", "/components/headers/"])("is there for %s", (part) => {
    expect(EXAMPLES.filter(({ place }) => place.startsWith(part)).length).toBeGreaterThan(3);
  });

  test("shows every body", () => {
    const bare = bodiesIn(document).filter(
      (place) => !EXAMPLES.some((example) => example.place === place || example.place.startsWith(`${place}/`)),
    );
    expect(bare).toEqual([]);
  });
});

test.each(Object.entries(document.components.schemas))("the schema %s is one of JSON Schema 2020-12", (_, schema) => {
  expect(new Ajv2020().validateSchema(schema as object)).toBe(true);
});

describe("a level", () => {
  const fits = ajv.compile({ $ref: "openapi#/components/schemas/LevelChange" });
  test.each([
    [{ configuredLevel: "DEBUG" }],
    [{ configuredLevel: "debug" }],
    [{ configuredLevel: " Debug " }],
    [{ configuredLevel: "d-e_b u g" }],
    [{ configuredLevel: "False" }],
    [{ configuredLevel: false }],
    [{ configuredLevel: null }],
    [{ configuredLevel: " \t\r\n" }],
    [{ configuredLevel: "warn", more: {} }],
    [{}],
    [null],
  ])("may be written %j", (body) => {
    expect(fits(body)).toBe(true);
  });

  test.each([
    [{ configuredLevel: "loud" }],
    [{ configuredLevel: "debug1" }],
    [{ configuredLevel: "-" }],
    [{ configuredLevel: true }],
    [{ configuredLevel: 1 }],
    [{ configuredLevel: ["INFO"] }],
    ["INFO"],
    [[]],
    [7],
  ])("may not be written %j", (body) => {
    expect(fits(body)).toBe(false);
  });
});

/** The places of all bodies of requests and answers. */
function bodiesIn(value: unknown, place = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === "content" && member !== null
      ? Object.keys(member).map((type) => `${place}/content/${type}`)
      : bodiesIn(member, `${place}/${key}`),
  );
}

/** The same schema outside of the document. */
function absolute(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/'));
}
