import { requireLoggers } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import { isRecord } from "../../common/record.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { LEVELS, type Level, levelFromText } from "../../loggers/level.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { loggerName } from "../../loggers/name.ts";
import type { Logger, LoggerGroup, LoggersOverview } from "../../loggers/view.ts";
import type { RequestContext } from "../gate/request-context.ts";
import { visibleLogger, visibleNotices, visibleOverview } from "../visible-loggers.ts";
import { ACTUATOR_BODY } from "./body.ts";
import { contentDisposition } from "./content-disposition.ts";
import { noticeHeader } from "./notice-header.ts";
import type { Operation } from "./operation.ts";
import { Refusal } from "./problem.ts";
import { isCurrent, Representation } from "./representation.ts";

/** How REST sets levels. */
export interface LevelSettings {
  /** Whether DEBUG and TRACE are temporary. */
  readonly temporaryLevels?: boolean | undefined;
}

/** GET of all loggers and groups, encoded once per revision. */
export function listLoggers(loggers: Loggers): Operation {
  const represent = overviewOf(loggers);
  return {
    run: ({ context }) => ({ status: 200, representation: represent(context), tagged: true }),
  };
}

/** Makes a function that represents what a caller sees of all loggers. */
function overviewOf(loggers: Loggers): (context: RequestContext) => Representation {
  let encoded: LoggersOverview | undefined;
  let whole: Representation;
  return ({ caller }) => {
    const overview = loggers.list();
    if (caller?.loggers !== undefined)
      return new Representation(overviewJson(visibleOverview(overview, caller.loggers)));
    if (overview !== encoded) {
      whole = new Representation(overviewJson(overview));
      encoded = overview;
    }
    return whole;
  };
}

/** GET of one logger or group; 404 without a body if there is neither. */
export function readLogger(loggers: Loggers): Operation {
  return {
    run({ context, parameter, segment }) {
      context.subject = { logger: parameter };
      const found = visibleLogger(loggers, parameter, context.caller!);
      if (found === undefined) return { status: 404 };
      const representation =
        found.type === "logger" ? LOGGERS.get(loggerJson(found))! : new Representation(groupJson(found));
      const headers = contentDisposition(segment);
      return headers === undefined ? { status: 200, representation } : { status: 200, representation, headers };
    },
  };
}

/**
 * POST of a level, for a logger or for every member of a group; with a fleet, on all of its instances. `If-Match` has an entity tag of
 * the overview.
 */
export function writeLevel(loggers: Loggers, fleet: Fleet | undefined, { temporaryLevels }: LevelSettings): Operation {
  const ttl = temporaryLevels ? "default" : undefined;
  const represent = overviewOf(loggers);
  return {
    body: { types: ACTUATOR_BODY, typeRequired: true },
    run({ request, context, parameter, body }) {
      const caller = context.caller!;
      context.subject = { logger: parameter };
      requireLoggers(caller, fleet === undefined ? loggers.reach(parameter) : [loggerName(parameter)]);
      const level = levelFromBody(body);
      context.subject = { logger: parameter, level: level ?? null, ...(fleet && { scope: "fleet" }) };
      const expected = request.headers["if-match"];
      if (expected !== undefined && !isCurrent(expected, represent(context))) {
        throw new Refusal(412, "The loggers have changed since the overview with this entity tag. Read them again.");
      }
      const asked = { actor: caller.name, ttlMs: ttl } as const;
      if (fleet !== undefined)
        return fleet.setLevel(parameter, level, { ...asked, reach: caller.loggers }).then(() => ({ status: 204 }));
      const { notices } = loggers.setLevel(parameter, level, asked);
      if (notices.length === 0) return { status: 204 };
      return { status: 204, headers: { "Actuator-Notice": noticeHeader(visibleNotices(notices, caller.loggers)) } };
    },
  };
}

/**
 * Returns the level that a body asks to set, or undefined to clear it. A missing body, null, and an object whose `configuredLevel` is
 * missing, null or blank clear; `false` is OFF, because YAML reads `off` as false.
 *
 * @throws ActuatorError INVALID_ARGUMENT for anything else
 */
export function levelFromBody(body: unknown): Level | undefined {
  if (body === undefined || body === null) return undefined;
  if (!isRecord(body)) throw invalidLevel("The body must be a JSON object.");
  const value = Object.hasOwn(body, "configuredLevel") ? body.configuredLevel : null;
  if (value === null) return undefined;
  if (value === false) return "OFF";
  if (typeof value !== "string") throw invalidLevel(LEVEL_RULE);
  if (BLANK.test(value)) return undefined;
  const level = value.isWellFormed() ? levelFromText(value) : undefined;
  if (level === undefined) throw invalidLevel(LEVEL_RULE);
  return level;
}

/** Other spaces of Unicode are a mistake, and not a way to clear. */
const BLANK = /^[ \t\r\n]*$/;

const LEVEL_RULE = `configuredLevel must be one of ${LEVELS.join(", ")}, or null to inherit.`;

function invalidLevel(message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_LEVEL", message, { field: "configuredLevel" });
}

type LoggerLevels = Pick<Logger, "configuredLevel" | "effectiveLevel">;

/** A logger as section 2.2 of the specification shows it. */
export function loggerJson({ configuredLevel, effectiveLevel }: LoggerLevels): string {
  return TEXTS.get(configuredLevel)!.get(effectiveLevel)!;
}

/** The 56 different texts of a logger, by its levels. */
const TEXTS: ReadonlyMap<Level | undefined, ReadonlyMap<Level, string>> = new Map(
  [undefined, ...LEVELS].map((configuredLevel) => [
    configuredLevel,
    new Map(LEVELS.map((effectiveLevel) => [effectiveLevel, JSON.stringify({ configuredLevel, effectiveLevel })])),
  ]),
);

/** Their bytes. */
const LOGGERS: ReadonlyMap<string, Representation> = new Map(
  [...TEXTS.values()].flatMap((texts) => [...texts.values()].map((json) => [json, new Representation(json)])),
);

/** A group as section 2.3 of the specification shows it. */
export function groupJson({ configuredLevel, members }: LoggerGroup): string {
  return JSON.stringify({ configuredLevel, members });
}

/** All loggers and groups as section 2.4 shows them. Keys are written by hand: an object would move names like `42` to the front. */
export function overviewJson({ levels, loggers, groups }: LoggersOverview): string {
  return `{"levels":${JSON.stringify(levels)},"loggers":${byName(loggers, loggerJson)},"groups":${byName(groups, groupJson)}}`;
}

function byName<Item extends { readonly name: string }>(items: readonly Item[], json: (item: Item) => string): string {
  return `{${items.map((item) => `${JSON.stringify(item.name)}:${json(item)}`).join(",")}}`;
}
