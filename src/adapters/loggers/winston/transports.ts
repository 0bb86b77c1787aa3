import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { type LevelSet, levelSet } from "./level-set.ts";
import { type NativeLevels, type NativeTransport, transportName } from "./native.ts";

/** The records on which a level that an operator set has decided, and whether they are written. */
const verdicts = new WeakMap<object, boolean>();

/** Notes whether a record is written; with undefined, winston decides. */
export function decide(record: unknown, verdict: boolean | undefined): void {
  if (typeof record !== "object" || record === null) return;
  if (verdict === undefined) verdicts.delete(record);
  else verdicts.set(record, verdict);
}

/** Whether a record is written; undefined if winston decides. */
export function verdictOn(record: unknown): boolean | undefined {
  return verdicts.get(record as object);
}

/**
 * The level that the application gave the logger to which a transport was added; undefined if that is what the transport finds
 * there anyway.
 */
export type LevelToLend = (transport: NativeTransport) => string | undefined;

interface TakenTransport {
  users: number;
  readonly undo: () => void;
}

const taken = new WeakMap<NativeTransport, TakenTransport>();

/**
 * Lets a transport without a level of its own write the records that an operator's level let through, whatever the level of the
 * logger that it was added to; for all others it keeps the level that the application gave that logger.
 */
export function takeOver(transport: NativeTransport, levelToLend: LevelToLend): void {
  const known = taken.get(transport);
  if (known !== undefined) {
    known.users++;
    return;
  }
  // A transport written for winston 2 looks at no level but its own, except for records that have waited.
  const methods = transport.transport === undefined ? ["_write", "_accept"] : ["_accept"];
  const undo = undoing(methods.map((name) => lendLevel(transport, name, levelToLend)));
  taken.set(transport, { users: 1, undo });
}

/** Ends {@link takeOver}. The last call restores the transport. */
export function release(transport: NativeTransport): void {
  const known = taken.get(transport);
  if (known === undefined || --known.users > 0) return;
  taken.delete(transport);
  known.undo();
}

/** Replaces a method that looks at the transport's level, which it has while the method runs. */
function lendLevel(transport: NativeTransport, name: string, levelToLend: LevelToLend): () => void {
  let lent: string | undefined;
  return placeMethod(transport, name, (method) => {
    return function (this: unknown, first, encoding, done) {
      const self = this as NativeTransport;
      const before = self.level;
      // A record that has waited may be written while another one is.
      const isLent = lent !== undefined && before === lent;
      if ((before && !isLent) || self.levels === undefined) return method.call(this, first, encoding, done);
      const record = name === "_accept" ? (first as { readonly chunk: unknown }).chunk : first;
      const label = verdictOn(record) ? levelSet(self.levels).mostVerbose : levelToLend(self);
      if (label === undefined && !isLent) return method.call(this, first, encoding, done);
      const outer = lent;
      lent = self.level = label;
      try {
        return method.call(this, first, encoding, done);
      } finally {
        if (self.level === label) self.level = before;
        lent = outer;
      }
    };
  });
}

/** Warnings for the operator about what a transport does whatever level its loggers have. */
export function transportLimits(transport: NativeTransport, { values, mostVerbose }: LevelSet): readonly string[] {
  const { level, levels, silent } = transport;
  const name = JSON.stringify(transportName(transport));
  if (silent) return [`the transport ${name} is silent: it writes nothing at any level`];
  const limits: string[] = [];
  if (level && level !== mostVerbose) {
    limits.push(`the transport ${name} keeps its own level (${level}); less severe records are not written to it`);
  }
  if (levels !== undefined && !sameLevels(levels, values)) {
    limits.push(`the transport ${name} filters by the levels of another logger, to which it was added first`);
  }
  return limits;
}

function sameLevels(one: NativeLevels, other: NativeLevels): boolean {
  const labels = Object.keys(one);
  return labels.length === Object.keys(other).length && labels.every((label) => one[label] === other[label]);
}
