import { signal } from "@preact/signals";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import { CallError } from "../link/link.ts";
import { changed } from "./loggers.ts";
import { noteOwn } from "./own-changes.ts";
import { link } from "./server.ts";
import { toast } from "./toasts.ts";

/** How long a changed level lasts: milliseconds, until this tab closes, or permanently. */
export type Lasting = number | "tab" | "permanent";

export const TEN_MINUTES = 600_000;
export const ONE_HOUR = 3_600_000;

/** The names of the logger levels that this tab holds, with what releases each. */
export const heldHere = signal<ReadonlyMap<string, () => void>>(new Map());

/** Sets the level of a logger or group. Failures become a toast. Resolves to whether it was set. */
export async function setLevel(name: string, level: Level, lasting: Lasting, reason = ""): Promise<boolean> {
  releaseHold(name);
  noteOwn(name, { level, lasting, reason });
  if (lasting === "tab") return holdLevel(name, level, reason);
  const ttl = lasting === "permanent" ? undefined : { seconds: BigInt(Math.round(lasting / 1_000)), nanos: 0 };
  return attempt(() => link.call("loggers", "setLoggerLevel", { name, level, reason, ...(ttl && { ttl }) }));
}

/** Clears the level of a logger or group, so that it inherits. */
export async function inheritLevel(name: string, reason = ""): Promise<boolean> {
  noteOwn(name);
  releaseHold(name);
  return attempt(() => link.call("loggers", "clearLoggerLevel", { name, reason }));
}

/** Restores the baseline of a logger or group. */
export async function restoreLevel(name: string, reason = ""): Promise<boolean> {
  noteOwn(name);
  releaseHold(name);
  return attempt(() => link.call("loggers", "restoreLoggerLevel", { name, reason }));
}

/** Restores every changed level. */
export async function restoreAllLevels(reason = ""): Promise<boolean> {
  for (const { name } of changed.value) noteOwn(name);
  for (const name of heldHere.value.keys()) releaseHold(name);
  return attempt(() => link.call("loggers", "restoreAllLoggerLevels", { reason }));
}

/** Holds a level until this tab closes, releases it, or the server ends it. */
function holdLevel(name: string, level: Level, reason: string): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = link.stream(
      "loggers",
      "holdLoggerLevel",
      { name, level, reason },
      {
        message({ event }) {
          if (event.case === "held") resolve(true);
        },
        end(fault) {
          forget(name, stop);
          resolve(false);
          if (fault !== undefined) failed(fault.message);
        },
      },
    );
    heldHere.value = new Map(heldHere.value).set(name, stop);
  });
}

/** Ends the hold of this tab on a name, if there is one; the server restores the level. */
export function releaseHold(name: string): void {
  const stop = heldHere.value.get(name);
  if (stop === undefined) return;
  noteOwn(name);
  stop();
  forget(name, stop);
}

function forget(name: string, stop: () => void): void {
  if (heldHere.value.get(name) !== stop) return;
  const left = new Map(heldHere.value);
  left.delete(name);
  heldHere.value = left;
}

async function attempt(change: () => Promise<unknown>): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (error) {
    failed(error instanceof CallError ? error.fault.message : String(error));
    return false;
  }
}

function failed(message: string): void {
  toast({ icon: "ui-error", tone: "warn", text: message });
}

/** The seven levels, from the least verbose to the most. */
export const LEVELS: readonly Level[] = [
  Level.OFF,
  Level.FATAL,
  Level.ERROR,
  Level.WARN,
  Level.INFO,
  Level.DEBUG,
  Level.TRACE,
];

const NAMES = ["", "OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"] as const;

/** The name of a level, such as `DEBUG`; empty for none. */
export function levelName(level: Level): string {
  return NAMES[level] ?? "";
}
