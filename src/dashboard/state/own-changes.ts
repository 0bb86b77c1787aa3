import type { Level } from "../../gen/actuator/v3/level_pb.ts";

/** A level that this page has asked for. */
export interface OwnRaise {
  readonly level: Level;
  readonly lasting: number | "tab" | "permanent";
  readonly reason: string;
}

const HELD_BACK_MS = 10_000;
const raises = new Map<string, OwnRaise & { readonly at: number }>();
const asked = new Map<string, number>();

/** Records what this page asks for, so that changes of others are told from its own; `raise` is undefined for restoring and clearing. */
export function noteOwn(name: string, raise?: OwnRaise): void {
  asked.set(name, Date.now());
  if (raise === undefined) raises.delete(name);
  else raises.set(name, { ...raise, at: Date.now() });
}

/** Whether this page has just asked for a change of the name. */
export function isOwn(name: string): boolean {
  return Date.now() - (asked.get(name) ?? 0) < HELD_BACK_MS;
}

/** The level that this page has set on a name, if it could still be in force. */
export function ownRaise(name: string): OwnRaise | undefined {
  const raise = raises.get(name);
  return raise && (typeof raise.lasting !== "number" || Date.now() < raise.at + raise.lasting) ? raise : undefined;
}

/** All names with such a level. */
export function ownRaises(): string[] {
  return [...raises.keys()].filter(ownRaise);
}
