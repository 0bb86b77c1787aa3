import type { ActuatorOptions } from "../actuator-options.ts";
import type { ProcessDescription } from "../processes/description.ts";

type Shows = ProcessDescription["shows"];

/** What was found, for a description. */
export function shownOf(shows: Readonly<Record<keyof Shows, ReadonlySet<string>>>): Shows {
  const { loggers, sessions, integrationGraph } = shows;
  return { loggers: [...loggers], sessions: [...sessions], integrationGraph: [...integrationGraph] };
}

/** What an actuator shows that the application has made itself. */
export function shownBy({ loggers, sessions, integrationGraph }: ActuatorOptions): Shows {
  const store = sessions && ("findById" in sessions ? sessions : sessions.store);
  return {
    loggers: loggers?.adapters?.map(({ kind }) => kind) ?? [],
    sessions: store === undefined ? [] : [store.kind],
    integrationGraph: integrationGraph === undefined ? [] : ["declared"],
  };
}
