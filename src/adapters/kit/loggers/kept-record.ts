import type { RecordContent, RecordError, WrittenRecord } from "../../../loggers/adapter.ts";
import { isError, snapshotOf } from "./snapshot.ts";

/** What is known of a record besides its content. */
export type RecordHead = Pick<WrittenRecord, "verbosity" | "nativeLevel" | "hidden">;

/** What a call of a logger says, as the application gave it. */
export interface GivenContent {
  /** Default: that of the error. */
  readonly message: string;
  readonly fields: object;
  readonly error?: unknown;
  /** The stack of the error, if the application gave only that. */
  readonly stack?: string | undefined;
}

/**
 * A record with a copy of its content, for libraries that hand over objects of the application.
 *
 * @example
 * ```ts
 * const head = { verbosity: LEVELS.indexOf("WARN"), nativeLevel: "warning", hidden: false };
 * const record = keptRecord(head, { message: "refused", fields: { order: 7 }, error: new Error("no card") });
 * ```
 */
export function keptRecord(head: RecordHead, { message, fields, error, stack }: GivenContent): WrittenRecord {
  const { data, size } = snapshotOf(fields);
  const shown = error == null ? undefined : keptError(error, stack);
  const content: RecordContent = {
    message: message || (shown?.message ?? ""),
    fields: data as Readonly<Record<string, unknown>>,
    error: shown ?? stackError(stack),
  };
  const errorSize = (content.error?.message.length ?? 0) + (content.error?.stack?.length ?? 0);
  return { ...head, size: content.message.length + errorSize + size, read: () => content };
}

/** The first of these fields that is an error, and the others; fields without an error are returned as they are. */
export function splitError(fields: object): { readonly fields: object; readonly error?: unknown } {
  const found = Object.entries(fields).find(([, value]) => isError(value));
  if (found === undefined) return { fields };
  const [key, error] = found;
  const others: Record<string, unknown> = { ...fields };
  delete others[key];
  return { fields: others, error };
}

/** The error with the stacks of its causes. What it has besides is left out. */
function keptError(error: unknown, given: string | undefined): RecordError {
  const copy = snapshotOf(error).data as Partial<RecordError> & { readonly cause?: unknown };
  const stacks: string[] = [];
  for (let at: unknown = copy; isCopiedError(at); at = at.cause) stacks.push(at.stack);
  const stack = stacks.length === 0 ? given : stacks.join("\ncaused by: ");
  return { type: copy.type ?? "Error", message: copy.message ?? String(copy), stack };
}

function isCopiedError(copy: unknown): copy is { readonly stack: string; readonly cause?: unknown } {
  return typeof copy === "object" && copy !== null && typeof (copy as { stack?: unknown }).stack === "string";
}

/** An error of which only the stack is known. */
function stackError(stack: string | undefined): RecordError | undefined {
  if (!stack) return undefined;
  const [, type = "Error", message = ""] = /^(?:Uncaught )?(\w*Error)?(?:: )?(.*)/.exec(stack) ?? [];
  return { type, message, stack };
}
