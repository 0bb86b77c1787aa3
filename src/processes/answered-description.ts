import { ActuatorError } from "../common/error.ts";
import type { Origin, ProcessDescription } from "./description.ts";
import type { Place } from "./socket-name.ts";

type Fields = Readonly<Record<string, unknown>>;

const ORIGINS: readonly unknown[] = ["preloaded", "attached", "created by the application"] satisfies Origin[];

/**
 * Reads what a process answered to `describe`: it may be any version of this package, or another program. The name of its socket says
 * which process it is. Texts may contain control characters.
 *
 * @throws ActuatorError UNAVAILABLE (PROCESS_ANSWER) for an answer that is no description.
 */
export function descriptionFrom(answer: unknown, { pid, thread }: Place): ProcessDescription {
  const fields = fieldsOf(answer);
  const { name, version, startTime, origin, script, addresses, clusterWorker, notices } = fields;
  const shows = fieldsOf(fields.shows);
  if (typeof name !== "string" || !isTime(startTime) || !ORIGINS.includes(origin)) {
    throw new ActuatorError("UNAVAILABLE", "PROCESS_ANSWER", "does not describe itself");
  }
  return {
    pid,
    thread,
    name,
    version: textOf(version),
    startTime,
    origin: origin as Origin,
    script: textOf(script),
    shows: {
      loggers: textsOf(shows.loggers),
      sessions: textsOf(shows.sessions),
      integrationGraph: textsOf(shows.integrationGraph),
    },
    addresses: textsOf(addresses),
    clusterWorker: typeof clusterWorker === "number" ? clusterWorker : undefined,
    notices: textsOf(notices),
  };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** Whether a value is a time that a Date can have. */
function isTime(value: unknown): value is number {
  return typeof value === "number" && !Number.isNaN(new Date(value).getTime());
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
