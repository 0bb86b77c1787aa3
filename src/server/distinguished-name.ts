import { type DerValue, derValues } from "./der.ts";

/** How the kinds of text in a name are written, by their tags (X.680 §8.6). */
const TEXT: Readonly<Record<number, (bytes: Buffer) => string>> = {
  12: (bytes) => bytes.toString("utf8"),
  19: (bytes) => bytes.toString("latin1"),
  20: (bytes) => bytes.toString("latin1"),
  22: (bytes) => bytes.toString("latin1"),
  26: (bytes) => bytes.toString("latin1"),
  30: (bytes) => Buffer.from(bytes).swap16().toString("utf16le"),
};

/**
 * The name of an authority in one form, whatever kind of text it is written in, and whatever its capitals and spaces: as names
 * are compared (RFC 5280 §7.1) and OpenSSL compares them. Programs that sign lists write the name of the authority anew.
 *
 * @throws RangeError for what is none
 */
export function canonicalName(name: DerValue): string {
  const parts = [...derValues(name.content)].map(({ content }) => [...derValues(content)].map(attribute).sort());
  return JSON.stringify(parts);
}

function attribute({ content }: DerValue): string {
  const [type, value] = derValues(content);
  if (type === undefined || value === undefined) throw new RangeError("a name is not whole");
  return `${type.content.toString("hex")} ${textOf(value)}`;
}

function textOf({ tag, content, bytes }: DerValue): string {
  const text = TEXT[tag]?.(content);
  return text === undefined ? bytes.toString("hex") : text.trim().replace(/\s+/g, " ").toLowerCase();
}
