import type { RecordError } from "../loggers/adapter.ts";
import type { Level } from "../loggers/level.ts";

/** What a logger wrote: data of the application, redacted, at most 64 KiB. */
export interface LogRecord {
  /** Grows with every record of the same conditions. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The name of its logger, or of the nearest logger with a name. */
  readonly logger: string;
  readonly level: Level;
  /** The library's own name for its level. */
  readonly nativeLevel: string;
  /** The library, such as "pino". */
  readonly kind: string;
  readonly message: string;
  /** Its other fields, as JSON; the values of secret ones are "[redacted]". */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly error: RecordError | undefined;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  /** The component of the integration graph in whose handler it was written. */
  readonly node: HandlerNode | undefined;
  /** Whether the application's own destinations did not get it. */
  readonly onlyHere: boolean;
  /** Whether it was longer than 64 KiB and is not complete. */
  readonly cut: boolean;
}

/** A component of the integration graph. */
export interface HandlerNode {
  readonly id: number;
  readonly name: string;
}
