import type { ConfiguredLevels, LevelTarget } from "./configured-levels.ts";
import { parentName, ROOT } from "./name.ts";
import type { LoggerNode } from "./registry.ts";
import { APPLICATION, type Configurable, type Setting } from "./setting.ts";
import { StateFile } from "./state-file.ts";
import { encodeState, type StoredLevel, type StoredSetting, type StoredState } from "./stored-state.ts";

/** The context of errors, for `onError`. */
const CONTEXT = "loggers.state";

/**
 * Restores the levels in the file, and stores every later change there. What cannot be read is reported to `onError` and as a
 * warning on ROOT, what cannot be written to `onError` only.
 *
 * @throws ActuatorError INVALID_ARGUMENT if the file cannot be used.
 */
export function keepLevels(
  path: string,
  ledger: ConfiguredLevels,
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
  const omitted = state === undefined ? 0 : restoreLevels(ledger, state);
  if (omitted > 0) tell(`${omitted} stored levels were left out, because there are too many loggers`);
  ledger.onChange(() => file.changed());
  return file;
}

/** The levels to store: those that operators set, permanent or timed. Levels that are held end with their lease. */
function storedLevels({ overridden, groups, prefixes, registry }: ConfiguredLevels): StoredState {
  const inForce = new Map<string, StoredLevel>();
  for (const [name, prefix] of prefixes) {
    const stored = storedOf(name, prefix);
    if (!isNothing(stored)) inForce.set(name, stored);
  }
  const loggers: StoredLevel[] = [];
  const add = (node: LoggerNode) => {
    const stored = storedOf(node.name, node);
    // A logger with the setting of its prefix gets it again when it is found; one with another setting must be stored.
    const prefix = node.parent && inForce.get(node.parent.key);
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
 * Restores stored levels, except those whose time is over; the others last for the rest of their time. Groups and prefixes that
 * are no longer configured are left out, but not the loggers that were changed through them. Returns the number of levels that
 * were left out because there are too many loggers.
 */
function restoreLevels(ledger: ConfiguredLevels, { loggers, groups, prefixes }: StoredState): number {
  for (const stored of prefixes) restore(ledger, ledger.prefixes.get(stored.name), stored);
  for (const stored of groups) restore(ledger, ledger.groups.get(stored.name), stored);
  let omitted = 0;
  for (const stored of loggers) {
    const isBelowPrefix = ledger.prefixes.get(parentName(stored.name))?.configured !== undefined;
    if (!isBelowPrefix && stored.lasting === undefined && !timedOf(stored).some((timed) => timeLeft(timed) > 0))
      continue;
    const node = ledger.registry.getOrCreateStored(stored.name);
    if (node === undefined) omitted++;
    else restore(ledger, node, stored);
  }
  return omitted;
}

function restore(ledger: ConfiguredLevels, on: LevelTarget | undefined, stored: StoredLevel): void {
  if (on === undefined) return;
  const { lasting } = stored;
  // A logger below a prefix may have the prefix's setting already.
  if (lasting !== undefined || on.override !== undefined) {
    ledger.apply(on, lasting ?? APPLICATION, { kind: "SET", silent: true });
  }
  for (const setting of timedOf(stored)) {
    const ttlMs = timeLeft(setting);
    if (ttlMs > 0) ledger.apply(on, setting, { kind: "SET", silent: true, ttlMs });
  }
}

/** The timed levels, from the oldest to the latest. */
function timedOf({ temporary, earlier = [] }: StoredLevel): readonly StoredSetting[] {
  return temporary === undefined ? earlier : [...earlier, temporary];
}

/** Milliseconds; never more than it was set for, even if the clock was changed since. */
function timeLeft({ override }: StoredSetting): number {
  const { setTime, expireTime = setTime } = override;
  return Math.max(0, Math.min(expireTime - Date.now(), expireTime - setTime));
}

function storedOf(name: string, { configured, override, permanent, temporary }: Configurable): StoredLevel {
  const lasting = settingOf(temporary === undefined ? { level: configured, override } : permanent);
  const timed = temporary?.flatMap((each) => (each.lease === undefined ? (settingOf(each) ?? []) : [])) ?? [];
  const until = timed.at(-1);
  const earlier = timed.slice(0, -1);
  return {
    name,
    ...(lasting && { lasting }),
    ...(until && { temporary: until }),
    ...(earlier.length > 0 && { earlier }),
  };
}

function settingOf(setting: Setting | undefined): StoredSetting | undefined {
  const { level, override } = setting ?? {};
  return level === undefined || override === undefined ? undefined : { level, override };
}

function isNothing({ lasting, temporary }: StoredLevel): boolean {
  return lasting === undefined && temporary === undefined;
}

/** Whether the same changes led to both. */
function isSame(one: StoredLevel, other: StoredLevel): boolean {
  const [mine, theirs] = [timedOf(one), timedOf(other)];
  return (
    isSameSetting(one.lasting, other.lasting) &&
    mine.length === theirs.length &&
    mine.every((timed, index) => isSameSetting(timed, theirs[index]))
  );
}

function isSameSetting(one: StoredSetting | undefined, other: StoredSetting | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const [a, b] = [one.override, other.override];
  // A change that was stored for two names gives two objects when it is read.
  const isSameOverride =
    a.setTime === b.setTime &&
    a.expireTime === b.expireTime &&
    a.actor === b.actor &&
    a.reason === b.reason &&
    a.instance === b.instance;
  return one.level === other.level && (a === b || isSameOverride);
}
