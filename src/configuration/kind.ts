import { durationFromText } from "../common/duration.ts";

/**
 * What kind of value a setting takes: `list` is one of texts, `texts` an object of texts, `lists` an object of lists of texts,
 * `json` whatever its check lets through.
 */
export type Kind = "text" | "flag" | "count" | "number" | "milliseconds" | "list" | "lists" | "texts" | "json";

/** How values of a kind are written. */
export interface Writing {
  /** What a variable of the environment says; undefined where it says no such thing. */
  fromText(text: string): unknown;
  /** What is wrong with the text, as the rest of a sentence about it. */
  readonly expected: string;
  /** The JSON Schema of such a value in a file. */
  readonly schema: object;
}

const texts = { type: "array", items: { type: "string" } };
const number = (text: string) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined);
const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false };

/** By kind, how its values are written in the environment and in a file. */
export const WRITINGS: Readonly<Record<Kind, Writing>> = {
  text: { fromText: (text) => text, expected: "must be a text", schema: { type: "string", minLength: 1 } },
  flag: {
    fromText: (text) => FLAGS[text.toLowerCase()],
    expected: "must be true or false",
    schema: { type: "boolean" },
  },
  count: { fromText: number, expected: "must be a whole number", schema: { type: "integer", minimum: 0 } },
  number: { fromText: number, expected: "must be a number", schema: { type: "number", minimum: 0 } },
  milliseconds: {
    fromText: (text) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : durationFromText(text)),
    expected: "must be a duration such as 500ms, 90s, 10m or 1h30m, or a number of milliseconds",
    schema: {
      oneOf: [
        { type: "number", minimum: 0 },
        { type: "string", pattern: "^(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?$", minLength: 2 },
      ],
    },
  },
  list: {
    fromText: (text) => {
      const entries = text.split(",").map((entry) => entry.trim());
      return entries.includes("") ? undefined : entries;
    },
    expected: "must be texts with commas between them, none of them empty",
    schema: texts,
  },
  lists: {
    fromText: json,
    expected: 'must be JSON such as {"web":["shop.web","shop.api"]}',
    schema: { type: "object", additionalProperties: texts },
  },
  texts: {
    fromText: json,
    expected: 'must be JSON such as {"name":"value"}',
    schema: { type: "object", additionalProperties: { type: "string" } },
  },
  json: { fromText: json, expected: "must be JSON", schema: {} },
};
