import type { NativeLogger, PinoCopy } from "./native.ts";

/** The lowest value of pino's standard levels: a stream with this level takes everything. */
const TRACE_VALUE = 10;

/**
 * A warning for the operator if the destination of a logger filters records again, whatever level the logger has; undefined if
 * it writes everything that the logger lets through.
 */
export function streamLimit(copy: PinoCopy, logger: NativeLogger): string | undefined {
  const stream = logger[copy.stream] as { streams?: unknown; worker?: unknown; [key: symbol]: unknown } | undefined;
  if (stream === undefined) return undefined;
  if (Array.isArray(stream.streams)) return multistreamLimit(logger, stream.streams as { level: number }[]);
  if (typeof stream.worker === "object" && stream.worker !== null) return transportLimit(copy, stream);
  return undefined;
}

function multistreamLimit(logger: NativeLogger, streams: readonly { level: number }[]): string | undefined {
  if (!streams.some(({ level }) => level > TRACE_VALUE)) return undefined;
  const label = (value: number): string =>
    Object.entries(logger.levels.values).find(([, known]) => known === value)?.[0] ?? String(value);
  const levels = streams.map(({ level }) => label(level)).join(", ");
  return `pino.multistream: its ${streams.length} streams keep levels of their own (${levels}); less severe records are not written to them`;
}

function transportLimit(copy: PinoCopy, stream: { [key: symbol]: unknown }): string | undefined {
  const filters = stream[Symbol.for("pino.transport.usesMultistream")];
  // pino 8 and 9 do not mark the transports whose targets filter.
  if (filters !== true && !copy.freezesChildren) return undefined;
  const verb = filters === true ? "keep" : "may keep";
  return `pino.transport: its targets ${verb} levels of their own (info, if several are given without one); they run in a worker and can neither be read nor changed`;
}
