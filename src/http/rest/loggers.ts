import { requireLoggers } from "../../access/caller.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import type { LoggersOverview } from "../../loggers/view.ts";
import { contentDisposition } from "./content-disposition.ts";
import { levelFromBody } from "./level-request.ts";
import { groupJson, loggerJson, overviewJson } from "./loggers-json.ts";
import { ACTUATOR_BODY } from "./media-type.ts";
import type { Answer, Operation } from "./operation.ts";
import { Representation } from "./representation.ts";

/** How levels are set over REST. */
export interface LevelSettings {
  /** Whether DEBUG and TRACE last only for a while. */
  readonly temporaryLevels?: boolean | undefined;
}

/** GET of everything, encoded once for each revision. */
export function listLoggers(loggers: Loggers): Operation {
  let encoded: LoggersOverview | undefined;
  let answer: Answer;
  return {
    run() {
      const overview = loggers.list();
      if (overview !== encoded) {
        answer = { status: 200, representation: new Representation(overviewJson(overview)), tagged: true };
        encoded = overview;
      }
      return answer;
    },
  };
}

/** GET of one logger or group; 404 without a body where the name is neither. */
export function readLogger(loggers: Loggers): Operation {
  return {
    run({ parameter, segment }) {
      const found = loggers.get(parameter);
      if (found === undefined) return { status: 404 };
      const representation =
        found.type === "logger" ? representationOf(loggerJson(found)) : new Representation(groupJson(found));
      const headers = contentDisposition(segment);
      return headers === undefined ? { status: 200, representation } : { status: 200, representation, headers };
    },
  };
}

/** POST of a level, for a logger or for every member of a group. */
export function writeLevel(loggers: Loggers, { temporaryLevels }: LevelSettings): Operation {
  const ttl = temporaryLevels ? "default" : undefined;
  return {
    body: { types: ACTUATOR_BODY, typeRequired: true },
    run({ context, parameter, body }) {
      const caller = context.caller!;
      context.subject = { logger: parameter };
      requireLoggers(caller, loggers.reach(parameter));
      const level = levelFromBody(body);
      context.subject = { logger: parameter, level: level ?? null };
      loggers.setLevel(parameter, level, { actor: caller.name, ttlMs: ttl });
      return { status: 204 };
    },
  };
}

const representations = new Map<string, Representation>();

/** Every logger shows one of few texts: their bytes are made once. */
function representationOf(json: string): Representation {
  let known = representations.get(json);
  if (known === undefined) representations.set(json, (known = new Representation(json)));
  return known;
}
