import { ActuatorError } from "../../common/error.ts";
import type { Application } from "../../operations/health/application.ts";
import type { Health, HealthReport } from "../../operations/health/health.ts";
import type { ComponentHealth, HealthStatus } from "../../operations/health/health-status.ts";
import type { TrustedProxies } from "../../server/peer.ts";
import type { Answer, Call, Operation } from "./operation.ts";
import { Representation } from "./representation.ts";
import { requestOrigin } from "./request-target.ts";

/** What the index needs to know of the gateway. */
export interface IndexSettings {
  readonly basePath: string;
  readonly trustedProxies?: TrustedProxies | undefined;
  /** Paths below the base path that others serve. Default: none. */
  readonly links?: readonly string[] | undefined;
}

/** GET of the index: every path that is served, under the name that monitoring servers look for. */
export function readIndex(
  { basePath, trustedProxies, links = [] }: IndexSettings,
  routes: () => readonly { readonly path: string; readonly listed: boolean }[],
): Operation {
  return {
    run(call) {
      const paths = routes().flatMap(({ path, listed }) => (listed ? [path] : []));
      const json = indexJson(requestOrigin(call, trustedProxies) + call.mount + basePath, [...paths, ...links]);
      return { status: 200, representation: new Representation(json) };
    },
  };
}

/** The index of these paths below `base`. */
export function indexJson(base: string, paths: Iterable<string>): string {
  const links: Record<string, { href: string; templated: boolean }> = {};
  for (const path of paths) links[linkName(path)] = { href: base + path, templated: path.includes("{") };
  return JSON.stringify({ _links: links });
}

/** `self` for the base path, `loggers` for `/loggers`, `loggers-name` for `/loggers/{name}`. */
function linkName(path: string): string {
  return path === "" ? "self" : path.slice(1).replace(/\/\{(.*)\}/, "-$1");
}

/** Parts of the health that have a path of their own and are not components. */
const GROUPS = ["liveness", "readiness"];

/** A load balancer looks at the HTTP status, and sends nothing to an application that is DOWN or OUT_OF_SERVICE. */
const STATUS_CODES: Readonly<Record<HealthStatus, number>> = { UP: 200, UNKNOWN: 200, DOWN: 503, OUT_OF_SERVICE: 503 };

const STATUS_ONLY = Object.fromEntries(
  Object.keys(STATUS_CODES).map((status) => [status, answerOf({ status: status as HealthStatus })]),
) as Readonly<Record<HealthStatus, Answer>>;

/**
 * GET of the health: 503 while the process drains or a check fails, so that load balancers choose another instance. The components are
 * shown only to callers with `info:read`, and only if there are checks.
 */
export function readHealth(health: Health): Operation {
  const answer = (report: HealthReport, call: Call) => {
    return health.hasChecks && seesComponents(call) ? reportAnswer(report) : STATUS_ONLY[report.status];
  };
  return {
    run(call) {
      const report = health.check();
      return report instanceof Promise ? report.then((checked) => answer(checked, call)) : answer(report, call);
    },
  };
}

/**
 * GET of a part of the health. `liveness`: the process responds, whatever the state of its dependencies. `readiness`: requests are
 * accepted. Both are public; a component answers 404 to callers who may not see components. Undefined if there are no checks, and so no
 * parts.
 */
export function readHealthPart(health: Health): Operation | undefined {
  if (!health.hasChecks) return undefined;
  const whole = readHealth(health);
  return {
    run(call) {
      if (call.parameter === "liveness") return STATUS_ONLY.UP;
      if (call.parameter === "readiness") return whole.run(call);
      const component = seesComponents(call) ? health.checkComponent(call.parameter) : undefined;
      if (component === undefined) {
        throw new ActuatorError("NOT_FOUND", "COMPONENT_NOT_FOUND", "The health has no component of this name.");
      }
      return component instanceof Promise ? component.then(componentAnswer) : componentAnswer(component);
    },
  };
}

/** GET of the application's name, version and uptime in seconds. */
export function readInfo(application: Application): Operation {
  return {
    run() {
      const { name, version, startTime } = application;
      const uptime = Math.max(0, Date.now() - startTime) / 1000;
      return { status: 200, representation: new Representation(JSON.stringify({ name, version, uptime })) };
    },
  };
}

function seesComponents({ context }: Call): boolean {
  return context.caller?.permissions.has("info:read") ?? false;
}

function reportAnswer({ status, components }: HealthReport): Answer {
  const shown = Object.fromEntries(Array.from(components, ([name, health]) => [name, componentJson(health)]));
  return answerOf({ status, components: shown, groups: GROUPS });
}

function componentAnswer(health: ComponentHealth): Answer {
  return answerOf(componentJson(health));
}

function componentJson({ status, error, code, warnings }: ComponentHealth) {
  return error === undefined && warnings === undefined ? { status } : { status, details: { error, code, warnings } };
}

function answerOf<Json extends { readonly status: HealthStatus }>(json: Json): Answer {
  return { status: STATUS_CODES[json.status], representation: new Representation(JSON.stringify(json)) };
}
