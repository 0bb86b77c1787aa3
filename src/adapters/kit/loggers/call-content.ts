import { format, inspect } from "node:util";
import { isRecord } from "../../../common/record.ts";
import type { GivenContent } from "./kept-record.ts";
import { isError, snapshotOf } from "./snapshot.ts";

/** The placeholders of `util.format` that take an argument, and `%%`, which takes none. */
const PLACEHOLDERS = /%[sdifjoOc%]/g;

/**
 * What a call says that is written with `util.format`. Objects beside the text become fields, where secrets are found by their names,
 * and the first error is the record's.
 */
export function callContent(args: readonly unknown[], fields: object = {}): GivenContent {
  const [first] = args;
  const inText = typeof first === "string" ? 1 + placeholders(first) : 0;
  return content(args.slice(0, inText), args.slice(inText), fields, (texts) => format(...texts));
}

/** The same for values that are written one after the other, without placeholders. */
export function valuesContent(values: readonly unknown[], fields: object = {}): GivenContent {
  return content([], values, fields, (texts) => texts.map(textOf).join(" "));
}

function content(
  inText: readonly unknown[],
  beside: readonly unknown[],
  given: object,
  textFrom: (texts: readonly unknown[]) => string,
): GivenContent {
  const texts = [...inText];
  const fields: Record<string, unknown> = { ...given };
  let error = inText.find(isError);
  for (const value of beside) {
    if (isError(value)) {
      if (error === undefined) error = value;
      else texts.push(String(value));
    } else if (typeof value === "object" && value !== null) {
      const { data } = snapshotOf(value);
      if (Array.isArray(data)) fields.values = [...((fields.values as unknown[]) ?? []), data];
      else if (!isRecord(data)) texts.push(data);
      else if (Object.keys(data).length > 0) Object.assign(fields, data);
      // What JSON does not show, such as a Map, may hold secrets, which are not found in text.
      else texts.push(inspect(value, { depth: -1 }));
    } else {
      texts.push(value);
    }
  }
  return { message: texts.length === 0 ? "" : textFrom(texts), fields, error };
}

function placeholders(text: string): number {
  return (text.match(PLACEHOLDERS) ?? []).filter((found) => found !== "%%").length;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : inspect(value);
}
