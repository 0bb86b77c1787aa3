import type { KvEntry } from "@nats-io/kv";
import type { FleetDocument } from "../../../fleet/engine.ts";

/** A document as it is stored: its version in the first line. */
export function storedText({ version, text }: FleetDocument): string {
  return `${JSON.stringify(version)}\n${text}`;
}

/** The document in an entry; the empty one if there is none, or if it was deleted. */
export function documentIn(entry: KvEntry | null): FleetDocument {
  if (entry?.operation !== "PUT") return { version: "", text: "" };
  const value = entry.string();
  const end = value.indexOf("\n");
  return { version: JSON.parse(value.slice(0, end)), text: value.slice(end + 1) };
}

/** The key of the report of an instance. Keys have fewer characters than ids, and dots only in their middle. */
export function keyOf(id: string): string {
  const escaped = (character: string) => Buffer.from(character).toString("hex").replaceAll(/../g, "=$&");
  return id.replaceAll(/[^-\w]/gu, escaped);
}

/** The id of the instance whose report has this key; undefined if no instance made it. */
export function idOf(key: string): string | undefined {
  try {
    return decodeURIComponent(key.replaceAll("=", "%"));
  } catch {
    return undefined;
  }
}
