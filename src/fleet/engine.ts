/** What an instance says of itself with each beat. The engine keeps the text as it is. */
export interface Report {
  /** The id of the instance, unique in its fleet. */
  readonly id: string;
  /** JSON, at most some kilobytes. */
  readonly text: string;
}

/** A report as the engine keeps it. */
export interface SeenReport extends Report {
  /** When it was written, in milliseconds since the epoch by the engine's clock. */
  readonly seen: number;
}

/** The one document that an engine keeps for a fleet. */
export interface FleetDocument {
  /** Its version, chosen by its writer: two documents never have the same one. Empty: nothing was ever stored. */
  readonly version: string;
  /** JSON. Empty if nothing was ever stored. */
  readonly text: string;
}

/** The answer to {@link FleetEngine.exchange}. */
export interface Exchanged {
  /** The engine's clock, in milliseconds since the epoch. */
  readonly now: number;
  /** The document; undefined if its version is the one that the caller named. */
  readonly document: FleetDocument | undefined;
}

/** The server has answered a call with a refusal: nothing has happened. */
export class FleetRefusal extends Error {}

/**
 * What a fleet keeps in common: a register that holds one document and is changed by compare and swap, a table of the instances'
 * reports, a hint when the document changes, and a clock. An engine only carries texts; what they mean is the fleet's own affair.
 *
 * Every call rejects if the engine does not answer. Whether it was heard is then not known, unless the error is a {@link FleetRefusal}
 * or an ActuatorError, which says itself what is wrong. A call need not have a deadline of its own:
 * the fleet gives up after 4 seconds and calls {@link reset}. A client's own command timeout must be left out, because it keeps a dead
 * connection. Calls are never kept for later while there is no connection: they reject.
 */
export interface FleetEngine {
  /** The name of the software, such as "redis". */
  readonly kind: string;
  /** What an operator should know, such as that a pooler makes hints impossible. Undefined: nothing. */
  readonly notice?: string | undefined;
  /** The time between two beats, in milliseconds, if it must differ from the usual 5,000: without hints, 2,000. */
  readonly beatMs?: number | undefined;
  /**
   * Stores a report, if there is one, and reads the clock and the document, in one round trip.
   *
   * @param version of the document that the caller has; empty for none
   */
  exchange(version: string, report?: Report): Promise<Exchanged>;
  /**
   * Replaces the document if its version is still `version`, then gives `hint` to the listeners of all instances.
   *
   * @param hint what has changed, as the fleet wrote it; an engine that cannot carry it gives an empty hint
   * @returns whether it was replaced
   */
  store(next: FleetDocument, version: string, hint: string): Promise<boolean>;
  /** The latest report of each instance. Reports that are older than a minute may be missing. */
  instances(): Promise<readonly SeenReport[]>;
  /**
   * Calls the listener when the document has changed, with the hint of its writer; without one if the hint may have been missed, as
   * after a reconnect. Called once, before any other call. Hints may be lost, repeated or late.
   */
  onHint(listener: (hint?: string) => void): void;
  /** Throws away the connection, which may be dead, and connects again. Resolves at once. */
  reset(): Promise<void>;
  /** Removes the report of the instance `id`, if there is a connection, and ends. Does not wait for an engine that is away. */
  close(id?: string): Promise<void>;
}

/** Where a fleet keeps what it has in common. */
export interface FleetEngineSource {
  /** The name of the software, such as "redis". */
  readonly kind: string;
  /**
   * Opens an engine for one fleet. Fleets of other names in the same server see nothing of each other. Connects by itself, and again
   * whenever the connection breaks; does not wait for it.
   *
   * @param fleet the name: letters, digits, `_`, `-` and `.`, at most 100
   */
  open(fleet: string): FleetEngine;
}
