import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import {
  HoldLoggerLevelResponse_Ended_Reason as EndReason,
  type Logger,
  type LoggerGroup,
  type Notice,
  type Override,
  Scope,
  type SetLoggerLevelResponse,
} from "../../gen/actuator/v3/loggers_pb.ts";
import { faultOf } from "../components/call-fault.ts";
import { durationOf } from "../components/duration.ts";
import { changeToast, type DoneChange, restoredAllToast, warningToast } from "../components/level-toasts.tsx";
import { msOf } from "../components/timestamp.ts";
import { CallError } from "../link/link.ts";
import { followersOf, levelWithout } from "./followers.ts";
import { changed, isFleetReader, loggers, onLoggersChange } from "./loggers.ts";
import { addedBy } from "./measurements.ts";
import { noteOwn } from "./own-changes.ts";
import { hasFleet, link, whyNot } from "./server.ts";

/** How long a changed level lasts: milliseconds, until this tab closes, or permanently. */
export type Lasting = number | "tab" | "permanent";

export const TEN_MINUTES = 600_000;
export const ONE_HOUR = 3_600_000;

/** Raises that would add more lines a second than this are asked about first. */
const MAX_ADDED = 100;
/** Raises that more loggers than this would follow are asked about first. */
const MAX_FOLLOWERS = 20;
/** How long to wait for the watch to show what the server has answered. */
const SHOWN_WITHIN_MS = 2_000;
const MAX_UNDO_ATTEMPTS = 5;

/** Is told why something failed. */
type OnFault = (message: string, code: string) => void;

/** The names of the logger levels that this tab holds, with what releases each. */
export const heldHere = signal<ReadonlyMap<string, () => void>>(new Map());

/** Levels that were asked for and that the server has not confirmed yet; UNSPECIFIED: to inherit or to be restored. */
export const pending = signal<ReadonlyMap<string, Level>>(new Map());

/** Sets the level of a logger or group. What came of it becomes a toast, or is told to `onFault`. Resolves to whether it was set. */
export async function setLevel(
  name: string,
  level: Level,
  lasting: Lasting,
  reason = "",
  onFault?: OnFault,
): Promise<boolean> {
  if (lasting === "tab") return holdLevel(name, level, reason, onFault);
  const call = () => {
    releaseHold(name);
    noteOwn(name, { level, lasting, reason });
    return setFor(name, level, lasting, reason);
  };
  return change(name, { does: "set", level, lasting }, call, onFault);
}

/** Clears the level of a logger or group, so that it inherits. */
export async function inheritLevel(name: string, reason = ""): Promise<boolean> {
  return change(name, { does: "inherit", level: Level.UNSPECIFIED }, () => {
    releaseHold(name);
    noteOwn(name);
    return link.call("loggers", "clearLoggerLevel", { name, reason });
  });
}

/** Restores the baseline of a logger or group. */
export async function restoreLevel(name: string, reason = ""): Promise<boolean> {
  return change(name, { does: "restore", level: Level.UNSPECIFIED }, () => {
    releaseHold(name);
    noteOwn(name);
    return link.call("loggers", "restoreLoggerLevel", { name, reason });
  });
}

/** Restores every changed level. */
export async function restoreAllLevels(reason = ""): Promise<boolean> {
  for (const { name } of changed.peek()) noteOwn(name);
  for (const name of heldHere.peek().keys()) releaseHold(name);
  const answer = await attempt(
    () => link.call("loggers", "restoreAllLoggerLevels", { reason }),
    (message, code) => {
      // Where changes are for the fleet unless they say otherwise.
      const ofFleet = { label: "End all of the fleet …", run: () => void endFleetLevels() };
      warningToast(message, hasFleet() && code === "FAILED_PRECONDITION" ? ofFleet : undefined);
    },
  );
  if (answer === undefined) return false;
  restoredAllToast(answer.restored);
  return true;
}

async function endFleetLevels(): Promise<void> {
  const { askAndReset } = await import("../fleet/changes.tsx");
  await askAndReset();
}

/** Restores every changed level, or ends those of the fleet if it has only these, after the operator has confirmed it. */
export async function askAndRestoreAll(): Promise<void> {
  const all = changed.peek();
  if (all.length === 0 || refused()) return;
  if (isFleetReader.peek()) return endFleetLevels();
  const { askToRestoreAll } = await import("../components/level-dialogs.tsx");
  if (await askToRestoreAll(all, heldHere.peek())) await restoreAllLevels();
}

/**
 * Does what a click on a level means: the level to which a changed logger returns restores it, a more verbose one is raised, and a less
 * verbose one is set permanently.
 */
export async function chooseLevel(name: string, level: Level): Promise<void> {
  const known = loggers.peek();
  const subject = subjectOf(name);
  const base = levelWithout(name, known);
  if (subject?.override !== undefined && level === base) await restoreLevel(name);
  else if (level > base) await raise(name, level);
  else await setLevel(name, level, "permanent");
}

/**
 * Makes a logger more verbose: for ten minutes and at once, with a toast. Asks first if it would last permanently, add many lines or change
 * many loggers.
 */
export async function raise(name: string, level: Level, lasting: Lasting = TEN_MINUTES): Promise<void> {
  if (refused()) return;
  const added = addedBy(name, level);
  const followers = followersOf(name, loggers.peek());
  if (lasting !== "permanent" && (added ?? 0) <= MAX_ADDED && followers <= MAX_FOLLOWERS) {
    await setLevel(name, level, lasting);
    return;
  }
  const { askToRaise } = await import("../components/level-dialogs.tsx");
  askToRaise({ name, level, lasting, followers, added });
}

function setFor(name: string, level: Level, lasting: number | "permanent", reason: string, ifRevision = 0n) {
  const ms = lasting === "permanent" ? 0 : Math.max(1, Math.round(lasting));
  return link.call("loggers", "setLoggerLevel", { name, level, reason, ttl: durationOf(ms), ifRevision });
}

/** What set, clear and restore answer alike. */
type Answer = Pick<SetLoggerLevelResponse, "result" | "revision" | "notices">;

async function change(
  name: string,
  done: Pick<DoneChange, "does" | "level" | "lasting">,
  call: () => Promise<Answer>,
  onFault?: OnFault,
): Promise<boolean> {
  if (refused()) return false;
  const before = subjectOf(name);
  const base = levelWithout(name, loggers.peek());
  const answer = await whilePending(name, done.level, call, onFault);
  if (answer === undefined) return false;
  finished(name, before, base, done, answer);
  return true;
}

function finished(
  name: string,
  before: Logger | LoggerGroup | undefined,
  base: Level,
  done: Pick<DoneChange, "does" | "level" | "lasting">,
  { result: { value: after }, notices }: Answer,
): void {
  changeToast({
    ...done,
    name,
    base,
    after,
    undo: canUndo(before) && after !== undefined ? () => void undo(before, after, 0) : undefined,
    explain:
      after?.override !== undefined && done.lasting !== "tab" ? () => void explain(after, done.lasting!) : undefined,
  });
  for (const { message } of notices.slice(0, 2) satisfies Notice[]) warningToast(message);
}

/** A level that another client holds cannot be put back under its hold. */
function canUndo(before: Logger | LoggerGroup | undefined): boolean {
  return !before?.override?.held || heldHere.peek().has(before.name);
}

/** Puts back what was before, unless it was changed again since. */
async function undo(
  before: Logger | LoggerGroup | undefined,
  after: Logger | LoggerGroup,
  attempts: number,
): Promise<void> {
  const { name } = after;
  const { revision } = loggers.peek();
  if (!isSame(subjectOf(name)?.override, after.override)) {
    const actor = subjectOf(name)?.override?.actor;
    warningToast(`${name} was changed again${actor ? ` by ${actor}` : ""}: it stays as it is.`);
    return;
  }
  releaseHold(name);
  noteOwn(name);
  const { override, configuredLevel } = before ?? {};
  // A change for the fleet is on no revision of one instance.
  const ifRevision = after.override?.scope === Scope.FLEET ? 0n : revision;
  try {
    if (override === undefined) {
      await link.call("loggers", "restoreLoggerLevel", { name, reason: "undone" });
    } else if (configuredLevel === Level.UNSPECIFIED) {
      await link.call("loggers", "clearLoggerLevel", { name, reason: override.reason, ifRevision });
    } else {
      const left = override.expireTime === undefined ? "permanent" : msOf(override.expireTime) - Date.now();
      if (override.held) await holdLevel(name, configuredLevel!, override.reason);
      else if (left !== "permanent" && left < 1_000)
        await link.call("loggers", "restoreLoggerLevel", { name, reason: "undone" });
      else await setFor(name, configuredLevel!, left, override.reason, ifRevision);
    }
  } catch (error) {
    const isOvertaken = error instanceof CallError && error.fault.reason === "REVISION_CHANGED";
    if (!isOvertaken || attempts >= MAX_UNDO_ATTEMPTS) return failed(error);
    // The revision moves with every logger: what has changed may be another one. The watch says so within a moment.
    await shown(revision + 1n);
    await undo(before, after, attempts + 1);
  }
}

/** Adds a reason to what was just set. */
async function explain(after: Logger | LoggerGroup, lasting: Lasting): Promise<void> {
  const { askForReason } = await import("../components/level-dialogs.tsx");
  askForReason(after.name, async (reason) => {
    const { name, override, configuredLevel } = after;
    if (!isSame(subjectOf(name)?.override, override)) return `${name} was changed again: the reason was not added.`;
    const left = override?.expireTime === undefined ? lasting : msOf(override.expireTime) - Date.now();
    if (typeof left === "number" && left < 1_000) return undefined;
    noteOwn(name, { level: configuredLevel, lasting: left, reason });
    let fault: string | undefined;
    await attempt(
      () => setFor(name, configuredLevel, left === "tab" ? "permanent" : left, reason),
      (message) => {
        fault = message;
      },
    );
    return fault;
  });
}

/** Holds a level until this tab closes, releases it, or the server ends it. */
async function holdLevel(name: string, level: Level, reason: string, onFault?: OnFault): Promise<boolean> {
  if (refused()) return false;
  releaseHold(name);
  noteOwn(name, { level, lasting: "tab", reason });
  const before = subjectOf(name);
  const base = levelWithout(name, loggers.peek());
  const hold = () => {
    return new Promise<Answer>((resolve, reject) => {
      let isConfirmed = false;
      const stop = link.stream(
        "loggers",
        "holdLoggerLevel",
        { name, level, reason },
        {
          message({ event }) {
            if (event.case === "held") {
              isConfirmed = true;
              resolve(event.value);
            } else if (event.case === "ended") {
              forget(name, stop);
              const why =
                event.value.reason === EndReason.OVERRULED ? "it was changed permanently" : "its time is over";
              warningToast(`This tab no longer holds ${name}: ${why}.`);
            }
          },
          end(fault) {
            const wasHeld = heldHere.peek().get(name) === stop;
            forget(name, stop);
            if (!isConfirmed)
              reject(fault === undefined ? new Error("The server ended the call.") : new CallError(fault));
            else if (wasHeld) {
              warningToast(`The connection broke: ${name} is no longer held and was restored.`, {
                label: "Raise again",
                run: () => void holdLevel(name, level, reason),
              });
            }
          },
        },
      );
      heldHere.value = new Map(heldHere.peek()).set(name, stop);
    });
  };
  const isHeld = await whilePending(name, level, hold, onFault);
  if (isHeld === undefined) return false;
  finished(name, before, base, { does: "set", level, lasting: "tab" }, isHeld);
  return true;
}

/** Ends the hold of this tab on a name, if there is one; the server restores the level. */
export function releaseHold(name: string): void {
  const stop = heldHere.peek().get(name);
  if (stop === undefined) return;
  noteOwn(name);
  stop();
  forget(name, stop);
}

function forget(name: string, stop: () => void): void {
  if (heldHere.peek().get(name) !== stop) return;
  const left = new Map(heldHere.peek());
  left.delete(name);
  heldHere.value = left;
}

/** Shows the level as asked for until the server has answered and the watch has it. */
async function whilePending(
  name: string,
  level: Level,
  call: () => Promise<Answer>,
  onFault?: OnFault,
): Promise<Answer | undefined> {
  pending.value = new Map(pending.peek()).set(name, level);
  const answer = await attempt(call, onFault);
  const done = () => {
    const left = new Map(pending.peek());
    left.delete(name);
    pending.value = left;
  };
  if (answer === undefined) done();
  else void shown(answer.revision).then(done);
  return answer;
}

/** Resolves as soon as the watch has this revision. */
function shown(revision: bigint): Promise<void> {
  if (loggers.peek().revision >= revision) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(finish, SHOWN_WITHIN_MS);
    const stop = onLoggersChange((each) => each.revision >= revision && finish());
  });
}

function subjectOf(name: string): Logger | LoggerGroup | undefined {
  const { loggers: all, groups } = loggers.peek();
  return groups.get(name) ?? all.get(name);
}

function isSame(a: Override | undefined, b: Override | undefined): boolean {
  const [one, other] = [a?.setTime, b?.setTime];
  return one?.seconds === other?.seconds && one?.nanos === other?.nanos;
}

/** Says why this caller may not change levels, if so. */
function refused(): boolean {
  const why = whyNot("loggers:write");
  if (why !== undefined) warningToast(`Levels cannot be changed: ${why}.`);
  return why !== undefined;
}

async function attempt<T>(call: () => Promise<T>, onFault?: OnFault): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    failed(error, onFault);
    return undefined;
  }
}

function failed(error: unknown, onFault: OnFault = (message) => warningToast(message)): void {
  const { message, code } = faultOf(error);
  onFault(message, code);
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

/** How long a level lasts, in words. */
export function lastingWords(lasting: Lasting): ComponentChildren {
  if (lasting === "permanent") return "permanently";
  if (lasting === "tab") return "until this tab closes";
  return lasting === ONE_HOUR ? "for 1 h" : `for ${Math.round(lasting / 60_000)} min`;
}
