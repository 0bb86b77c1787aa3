import { ActuatorError } from "../../common/error.ts";
import type { Application } from "../../operations/health/application.ts";
import type { Health, HealthReport } from "../../operations/health/health.ts";
import type { ComponentHealth, HealthStatus } from "../../operations/health/health-status.ts";
import type { Answer, Call, Operation } from "./operation.ts";
import { Representation } from "./representation.ts";

/** What has a status of its own below `/health`, though it is none of the components. */
const GROUPS = ["liveness", "readiness"];

/** A load balancer sends nothing to who is DOWN or OUT_OF_SERVICE, and goes by the status of HTTP. */
const STATUS_CODES: Readonly<Record<HealthStatus, number>> = { UP: 200, UNKNOWN: 200, DOWN: 503, OUT_OF_SERVICE: 503 };

const BARE = Object.fromEntries(
  Object.keys(STATUS_CODES).map((status) => [status, answerOf({ status: status as HealthStatus })]),
) as Readonly<Record<HealthStatus, Answer>>;

/**
 * GET of the health: 503 while the process is draining or a check fails, so that load balancers look elsewhere. What the
 * health is made of is shown only to those who may read about the application, and only where there are checks.
 */
export function readHealth(health: Health): Operation {
  const answer = (report: HealthReport, call: Call) => {
    return health.hasChecks && seesMore(call) ? reportAnswer(report) : BARE[report.status];
  };
  return {
    run(call) {
      const report = health.check();
      return report instanceof Promise ? report.then((checked) => answer(checked, call)) : answer(report, call);
    },
  };
}

/**
 * GET of a part of the health. `liveness`: the process answers, whatever it needs. `readiness`: requests are welcome. Both
 * are for everybody; a component is not there for those who do not see components. Undefined where there are no checks, and
 * so no parts.
 */
export function readHealthPart(health: Health): Operation | undefined {
  if (!health.hasChecks) return undefined;
  const whole = readHealth(health);
  return {
    run(call) {
      if (call.parameter === "liveness") return BARE.UP;
      if (call.parameter === "readiness") return whole.run(call);
      const component = seesMore(call) ? health.checkComponent(call.parameter) : undefined;
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

function seesMore({ context }: Call): boolean {
  return context.caller?.permissions.has("info:read") ?? false;
}

function reportAnswer({ status, components }: HealthReport): Answer {
  const shown = Object.fromEntries(Array.from(components, ([name, health]) => [name, componentJson(health)]));
  return answerOf({ status, components: shown, groups: GROUPS });
}

function componentAnswer(health: ComponentHealth): Answer {
  return answerOf(componentJson(health));
}

function componentJson({ status, error, code }: ComponentHealth) {
  return error === undefined ? { status } : { status, details: { error, code } };
}

function answerOf<Json extends { readonly status: HealthStatus }>(json: Json): Answer {
  return { status: STATUS_CODES[json.status], representation: new Representation(JSON.stringify(json)) };
}
