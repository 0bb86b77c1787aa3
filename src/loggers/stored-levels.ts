import type { LevelLedger, Subject } from "./ledger.ts";
import { parentName, ROOT } from "./name.ts";
import type { LoggerNode } from "./registry.ts";
import type { Configurable, Setting } from "./setting.ts";
import { StateFile } from "./state-file.ts";
import { encodeState, type StoredLevel, type StoredSetting, type StoredState } from "./stored-state.ts";

/** Where an error happened, for its handler. */
const CONTEXT = "loggers.state";

/**
 * Puts the levels in the file back in force, and keeps those of the ledger in it from then on. `onError` and a warning on ROOT
 * tell of what was not read, and `onError` alone of what cannot be written.
 *
 * @throws ActuatorError INVALID_ARGUMENT where the file cannot be used.
 */
export function keepLevels(
  path: string,
  ledger: LevelLedger,
  onError: (error: unknown, context: string) => void,
): StateFile {
  const file = new StateFile(path, {
    content: () => encodeState(storedLevels(ledger)),
    onError: (error) => onError(error, CONTEXT),
  });
  const tell = (problem: string) => {
    ledger.registry.warnings.add(ROOT, problem);
    onError(new Error(problem), CONTEXT);
  };
  const { state, problem } = file.load();
  if (problem !== undefined) tell(problem);
  const left = state === undefined ? 0 : recallLevels(ledger, state);
  if (left > 0) tell(`${left} stored levels were left out: there may be no more loggers`);
  ledger.onChange(() => file.changed());
  return file;
}

/** What is to survive of the levels: those that somebody set, for good or for a time. What is held ends with its holder. */
function storedLevels({ overridden, groups, prefixes, registry }: LevelLedger): StoredState {
  const inForce = new Map<string, StoredLevel>();
  for (const [name, prefix] of prefixes) {
    const stored = storedOf(name, prefix);
    if (!isNothing(stored)) inForce.set(name, stored);
  }
  const loggers: StoredLevel[] = [];
  const add = (node: LoggerNode) => {
    const stored = storedOf(node.name, node);
    // A logger that has what its prefix has will have it again when it appears; one that has not must be told apart.
    const prefix = node.parent && inForce.get(node.parent.name);
    if (prefix === undefined ? !isNothing(stored) : !isSame(stored, prefix)) loggers.push(stored);
  };
  for (const on of overridden) if ("parent" in on) add(on);
  for (const name of inForce.keys()) {
    for (const node of registry.childrenOf(name)) if (node.override === undefined) add(node);
  }
  const ofGroups = [...groups].map(([name, group]) => storedOf(name, group)).filter((stored) => !isNothing(stored));
  return { loggers, groups: ofGroups, prefixes: [...inForce.values()] };
}

/**
 * Puts stored levels back in force: those whose time is over are left out, and the others last for what is left of it. Answers
 * how many found no place, because there may be no more loggers. Groups and prefixes that are no longer configured are left
 * out; the loggers that were changed through them are not.
 */
function recallLevels(ledger: LevelLedger, { loggers, groups, prefixes }: StoredState): number {
  for (const stored of prefixes) recall(ledger, ledger.prefixes.get(stored.name), stored);
  for (const stored of groups) recall(ledger, ledger.groups.get(stored.name), stored);
  let left = 0;
  for (const stored of loggers) {
    const apart = ledger.prefixes.get(parentName(stored.name))?.configured !== undefined;
    if (!apart && stored.lasting === undefined && timeLeft(stored.temporary) === 0) continue;
    const node = ledger.registry.recall(stored.name);
    if (node === undefined) left++;
    else recall(ledger, node, stored);
  }
  return left;
}

function recall(ledger: LevelLedger, on: Subject | undefined, { lasting, temporary }: StoredLevel): void {
  if (on === undefined) return;
  const level = on === ledger.registry.root ? ledger.inherited(ledger.registry.root) : undefined;
  ledger.apply(on, lasting ?? { level, override: undefined }, { kind: "SET", silent: true });
  const ttl = timeLeft(temporary);
  if (ttl > 0) ledger.apply(on, temporary!, { kind: "SET", silent: true, ttlMs: ttl });
}

/** Milliseconds; never more than it was set for, whatever was done to the clock since. */
function timeLeft(temporary: StoredSetting | undefined): number {
  if (temporary === undefined) return 0;
  const { setTime, expireTime = setTime } = temporary.override;
  return Math.max(0, Math.min(expireTime - Date.now(), expireTime - setTime));
}

function storedOf(name: string, { configured, override, beneath, temporary }: Configurable): StoredLevel {
  const timed = temporary?.findLast(({ lease }) => lease === undefined);
  const lasting = settingOf(temporary === undefined ? { level: configured, override } : beneath);
  const until = settingOf(timed);
  return { name, ...(lasting && { lasting }), ...(until && { temporary: until }) };
}

function settingOf(setting: Setting | undefined): StoredSetting | undefined {
  const { level, override } = setting ?? {};
  return level === undefined || override === undefined ? undefined : { level, override };
}

function isNothing({ lasting, temporary }: StoredLevel): boolean {
  return lasting === undefined && temporary === undefined;
}

/** Whether both came about by the very same changes. */
function isSame(one: StoredLevel, other: StoredLevel): boolean {
  return isSameSetting(one.lasting, other.lasting) && isSameSetting(one.temporary, other.temporary);
}

function isSameSetting(one: StoredSetting | undefined, other: StoredSetting | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const [a, b] = [one.override, other.override];
  // Of one change there are two objects where it was stored for two names and read again.
  const isSameOverride =
    a.setTime === b.setTime &&
    a.expireTime === b.expireTime &&
    a.actor === b.actor &&
    a.reason === b.reason &&
    a.instance === b.instance;
  return one.level === other.level && (a === b || isSameOverride);
}
