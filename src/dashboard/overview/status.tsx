import type { ApplicationHealth, HealthComponent } from "../../gen/actuator/v3/application_pb.ts";
import { Icon } from "../components/icon.tsx";
import { Outside } from "../components/outside.tsx";
import { Skeleton } from "../components/state.tsx";
import { clock, duration, exact, msOf } from "../components/time.tsx";
import { activity } from "../state/activity.ts";
import { now } from "../state/clock.ts";
import { application, may } from "../state/server.ts";
import { checksOf, healthTitle, uptime } from "./summary.ts";

/** How the application is, in one line, and what it is. */
export function Status() {
  const { latest, fault } = activity.value;
  const health = latest?.health;
  if (health === undefined && fault === undefined) return <Skeleton what="the health" rows={1} />;
  const isBad = health !== undefined && health.status !== "UP" && health.status !== "UNKNOWN";
  const isUnknown = health === undefined || health.status === "UNKNOWN";
  return (
    <section class={`ov-status ${isBad ? "bad" : isUnknown ? "unknown" : ""}`} aria-labelledby="ov-title">
      <span class="ov-mark">
        <Icon name={isBad ? "ui-error" : isUnknown ? "ui-question" : "ui-ok"} />
      </span>
      <div class="grow" role="status">
        <h2 id="ov-title">
          {health === undefined ? "Health unknown" : healthTitle(health.status, checksOf(health.components))}
        </h2>
        <p>{health === undefined ? fault!.message : <Reason health={health} />}</p>
      </div>
      <Facts />
    </section>
  );
}

function Reason({ health }: { health: ApplicationHealth }) {
  const checks = checksOf(health.components);
  const failing = checks.filter(({ status }) => status === "DOWN");
  if (failing.length > 0) return <Failing failing={failing} />;
  if (health.status === "OUT_OF_SERVICE") return "It ends, and takes no more requests.";
  if (health.status === "DOWN") return "The checks are not shown to you: they need info:read.";
  const warnings = checks.filter(({ status, detail }) => status === "UP" && detail !== "").length;
  if (warnings > 0) return `${warnings === 1 ? "One check warns" : `${warnings} checks warn`}; see below.`;
  if (checks.length > 0) return health.status === "UP" ? "No check fails." : "Not every check has answered yet.";
  return may("info:read") ? "No checks are configured." : "The checks are not shown to you: they need info:read.";
}

function Failing({ failing }: { failing: readonly HealthComponent[] }) {
  const [first] = [...failing].sort((a, b) => sinceOf(a) - sinceOf(b));
  const { name, detail, sinceTime } = first!;
  const others = failing.length - 1;
  const since = sinceTime && msOf(sinceTime);
  return (
    <>
      <strong>
        <Outside text={name} />
      </strong>
      {others > 0 && ` and ${others} ${others === 1 ? "other" : "others"}`}
      {since !== undefined && (
        <>
          {others > 0 ? ", the first since " : " fails since "}
          <time dateTime={new Date(since).toISOString()} title={exact(since)}>
            {clock(since)}
          </time>
          , {duration(now.value - since)} ago
        </>
      )}
      {detail !== "" && others === 0 && (
        <>
          : <Outside text={detail} />
        </>
      )}
      .
    </>
  );
}

function sinceOf({ sinceTime }: HealthComponent): number {
  return sinceTime === undefined ? 0 : msOf(sinceTime);
}

function Facts() {
  const { version, instance, startTime } = application.value ?? {};
  if (instance === undefined) return null;
  const started = startTime && msOf(startTime);
  return (
    <dl class="facts">
      {version !== "" && <Fact name="Version" text={version!} />}
      <Fact name="Instance" text={instance} />
      {started !== undefined && (
        <>
          <div>
            <dt>Up for</dt>
            <dd>{uptime(now.value - started)}</dd>
          </div>
          <div>
            <dt>Started</dt>
            <dd>
              <time dateTime={new Date(started).toISOString()} title={exact(started)}>
                {DAY_AND_TIME.format(started).replace(",", "")}
              </time>
            </dd>
          </div>
        </>
      )}
    </dl>
  );
}

const DAY_AND_TIME = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Outside text={text} />
      </dd>
    </div>
  );
}
