/** What a writer asked of the fleet for one logger, in the order in which it asked. No two writers have the same logger. */
export interface Change {
  readonly name: string;
  /** `""`, `zone=odd` or `zone=even`. */
  readonly selector: string;
  /** Undefined: clear. */
  readonly level: string | undefined;
  /** `short` is over when the levels are checked, `long` is not. */
  readonly life: "lasting" | "short" | "long";
  readonly began: number;
  /** When it was answered; undefined: it is not known whether it happened. */
  ended?: number;
  generation?: number;
}

interface Level {
  readonly level: string;
  readonly order: number;
}

/** What an instance should have, by the rules of docs/fleet.md, after these changes. Written apart from the code that it checks. */
export function levelAfter(changes: readonly Change[], zone: string): string | undefined {
  const lasting = new Map<string, Level>();
  const temporary = new Map<string, Level>();
  changes.forEach(({ selector, level, life }, order) => {
    if (life === "lasting" || level === undefined) {
      // A level for all, and the end of one for all, replace what was set for some.
      for (const kept of [lasting, temporary]) {
        if (selector === "") kept.clear();
        kept.delete(selector);
      }
      if (level !== undefined) lasting.set(selector, { level, order });
    } else if (life === "short") temporary.delete(selector);
    else temporary.set(selector, { level, order });
  });
  const latest = (levels: ReadonlyMap<string, Level>) =>
    ["", `zone=${zone}`]
      .flatMap((selector) => levels.get(selector) ?? [])
      .sort((one, other) => other.order - one.order)[0];
  const [beneath, above] = [latest(lasting), latest(temporary)];
  return above !== undefined && above.order > (beneath?.order ?? -1) ? above.level : beneath?.level;
}

/** More changes of one logger without an answer would take too long to try. */
const MAX_UNKNOWN = 12;

/**
 * Checks the levels of one logger: there must be one choice of the changes without an answer by which every instance has what it should.
 *
 * @param levels by the zone of the instance
 * @returns what is wrong; undefined: nothing
 */
export function faultOf(
  changes: readonly Change[],
  levels: readonly { zone: string; level: string }[],
): string | undefined {
  const unknown = changes.filter(({ ended }) => ended === undefined);
  // Those before an answered change for all made no difference, unless they were temporary ones that are over.
  const decided = changes.findLastIndex(
    ({ selector, life, level, ended }) => selector === "" && ended !== undefined && (life === "lasting" || !level),
  );
  const open = unknown.filter((change) => changes.indexOf(change) > decided).slice(-MAX_UNKNOWN);
  for (let choice = 0; choice < 2 ** open.length; choice++) {
    const happened = changes.filter(
      (change) => change.ended !== undefined || (open.includes(change) && choice & (1 << open.indexOf(change))),
    );
    if (levels.every(({ zone, level }) => level === (levelAfter(happened, zone) ?? "info"))) return undefined;
  }
  const answered = changes.filter(({ ended }) => ended !== undefined);
  const expected = ["odd", "even"].map((zone) => `${zone}: ${levelAfter(answered, zone) ?? "info"}`).join(", ");
  const seen = levels.map(({ zone, level }) => `${zone}: ${level}`).join(", ");
  const last = changes.slice(-8).map(({ selector, level = "clear", life, generation = "?" }) => {
    return `${level} ${life} on ${selector || "all"} (${generation})`;
  });
  return `${changes[0]?.name}: should be ${expected}; is ${seen}; last changes: ${last.join("; ")}`;
}

/** Pairs of changes of which the later one has the smaller generation. */
export function disorders(changes: readonly Change[]): readonly string[] {
  const answered = changes.filter(({ generation }) => generation !== undefined);
  const byEnd = answered.toSorted((one, other) => one.ended! - other.ended!);
  let greatest = 0;
  let at = 0;
  const wrong: string[] = [];
  for (const change of answered.toSorted((one, other) => one.began - other.began)) {
    for (; at < byEnd.length && byEnd[at]!.ended! < change.began; at++) {
      greatest = Math.max(greatest, byEnd[at]!.generation!);
    }
    if (change.generation! <= greatest) wrong.push(`${change.name}: ${change.generation} after ${greatest}`);
  }
  return wrong;
}
