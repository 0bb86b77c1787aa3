import { randomUUID } from "node:crypto";
import { ActuatorError } from "../../../common/error.ts";
import {
  type Exchanged,
  type FleetDocument,
  type FleetEngine,
  FleetRefusal,
  type Report,
  type SeenReport,
} from "../../../fleet/engine.ts";
import { ReplacedConnection } from "../../kit/fleet/connection.ts";
import { documentIn, idOf, keyOf, storedText } from "./entry.ts";
import type { Link, NatsUse } from "./link.ts";

const STATE = "state";
/** Begins the keys that are no report: that of a report has no `==`. */
const NO_REPORT = "==";
const CLOCK_FOR_MS = 60_000;
/** For the headers of a message. */
const HEADER_BYTES = 512;

/** Codes of JetStream: another writer was faster. */
const CONFLICTS = new Set<unknown>([10071, 10164]);
const STREAM_NOT_FOUND = 10059;
/** Errors of the client: wrong credentials, and a subject that the user may not use. */
const DENIED = new Set(["AuthorizationError", "PermissionViolationError"]);

/**
 * One fleet in NATS JetStream. The document is the key `state` of the bucket `ca_<fleet>`, with its version in the first line; the
 * reports are in the bucket `ca_<fleet>_instances`, in memory, for a minute. Hints are messages with the subject `ca.<fleet>.hint`. In
 * these names, `_` of the fleet's name is `__`, and `.` is `_d`.
 */
export class NatsEngine implements FleetEngine {
  readonly kind = "nats";
  readonly #connection: ReplacedConnection<Link>;
  readonly #clockKey = `${NO_REPORT}${randomUUID()}`;
  /** The server's clock is this much ahead of `performance.now()`. */
  #offset = 0;
  #measured = -Infinity;

  constructor(fleet: string, dial: (use: NatsUse) => Promise<Link>) {
    const name = fleet.replaceAll("_", "__").replaceAll(".", "_d");
    const names = { bucket: `ca_${name}`, subject: `ca.${name}.hint` };
    this.#connection = new ReplacedConnection({
      unready: "NATS is not ready",
      isRefusal: isAnswer,
      make: (use) => {
        this.#measured = -Infinity;
        return dial({ ...use, ...names });
      },
    });
    this.#connection.connect();
  }

  exchange(version: string, report?: Report): Promise<Exchanged> {
    return this.#connection.ask(async (link) => {
      const key = report === undefined ? this.#clockKey : keyOf(report.id);
      const text = sized(report?.text ?? "", link, "report of this instance");
      const sent = performance.now();
      const written = link.reports.put(key, text).then(() => (sent + performance.now()) / 2);
      const [middle, entry] = await Promise.all([written, link.state.get(STATE)]);
      // Without a report the caller is about to write, and needs the clock as it is now.
      if (report === undefined || middle - this.#measured > CLOCK_FOR_MS) {
        const own = await link.reports.get(key);
        if (own === null) throw new Error("NATS has lost a report that it had just accepted.");
        this.#offset = own.created.getTime() - middle;
        this.#measured = middle;
      }
      const document = documentIn(entry);
      const now = Math.round(middle + this.#offset);
      return { now, document: document.version === version ? undefined : document };
    }, isBroken);
  }

  store(next: FleetDocument, version: string, hint: string): Promise<boolean> {
    return this.#connection.ask(async (link) => {
      const value = sized(storedText(next), link, "document of the fleet");
      const entry = await link.state.get(STATE);
      // Revisions begin again in a bucket that was lost and made anew, so that they alone say nothing.
      if (documentIn(entry).version !== version) return false;
      try {
        await link.state.put(STATE, value, { previousSeq: entry?.revision ?? 0 });
      } catch (error) {
        if (CONFLICTS.has(codeOf(error))) return false;
        throw isAnswer(error) ? new FleetRefusal((error as Error).message, { cause: error }) : error;
      }
      // The document is stored, whatever becomes of the hint.
      if (link === this.#connection.link) link.publish(Buffer.byteLength(hint) > link.maxPayload ? "" : hint);
      return true;
    }, isBroken);
  }

  instances(): Promise<readonly SeenReport[]> {
    return this.#connection.ask(async (link) => {
      const entries = await link.reportsWhose((key) => !key.startsWith(NO_REPORT));
      return entries.flatMap((entry) => {
        const id = idOf(entry.key);
        return id === undefined ? [] : [{ id, text: entry.string(), seen: entry.created.getTime() }];
      });
    }, isBroken);
  }

  onHint(listener: (hint?: string) => void): void {
    this.#connection.onHint(listener);
  }

  async reset(): Promise<void> {
    this.#connection.connect();
  }

  close(id?: string): Promise<void> {
    return this.#connection.close(id === undefined ? undefined : ({ reports }) => reports.delete(keyOf(id)));
  }
}

/** The client refuses it, too, in words that do not say what is too large. */
function sized(value: string, { maxPayload }: Link, what: string): string {
  const bytes = Buffer.byteLength(value) + HEADER_BYTES;
  if (bytes <= maxPayload) return value;
  const message = `The ${what} needs a message of ${bytes} bytes. The NATS server accepts ${maxPayload}; increase its max_payload.`;
  throw new ActuatorError("RESOURCE_EXHAUSTED", "MESSAGE_TOO_LARGE", message);
}

/** Whether neither the server nor this engine has answered: the connection does not work. */
function isBroken(error: Error): boolean {
  return !isAnswer(error) && !(error instanceof ActuatorError) && !(error instanceof FleetRefusal);
}

/** Whether the server has answered, and JetStream has its streams. */
function isAnswer(error: unknown): boolean {
  const { name, cause } = error as Error & { readonly cause?: Error };
  if (DENIED.has(name) || DENIED.has(cause?.name ?? "")) return true;
  const code = codeOf(error);
  return typeof code === "number" && code > 10_000 && code !== STREAM_NOT_FOUND;
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
