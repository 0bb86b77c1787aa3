import "../styles/panes.css";
import "../styles/overview.css";
import "../overview/screen.css";
import "./screen.css";
import { useEffect } from "preact/hooks";
import { Forbidden } from "../components/forbidden.tsx";
import { Icon } from "../components/icon.tsx";
import { Outside } from "../components/outside.tsx";
import { FaultState, Skeleton, State } from "../components/state.tsx";
import { clock } from "../components/time.tsx";
import { connection, link, may, serves } from "../state/server.ts";
import { Canary } from "./canary-view.tsx";
import { Differences } from "./differences.tsx";
import { Instances } from "./instances.tsx";
import { Levels } from "./levels.tsx";
import { fleet, levels, watchFleet } from "./model.ts";
import { headline, SYMBOLS } from "./summary.ts";

/** All instances of the application: whether they have what was set, and levels for all of them. */
export function Content() {
  const isServed = serves("FleetService");
  const mayRead = may("loggers:read");
  useEffect(() => (isServed && mayRead ? watchFleet() : undefined), [isServed, mayRead, link]);
  const { latest, unavailable, fault } = fleet.value;
  if (!isServed) {
    return (
      <State icon="ui-fleet" title="This application is in no fleet">
        <p>
          The option <code>fleet</code> of createActuator names what its instances share, such as Redis.
        </p>
      </State>
    );
  }
  if (!mayRead) return <Forbidden title="You may not see the fleet" to="see it" permission="loggers:read" />;
  if (fault !== undefined) return <FaultState fault={fault} what="the fleet" />;
  if (latest === undefined && unavailable === undefined) return <Skeleton what="the fleet" />;
  return (
    <div class="ov fl">
      <Headline />
      <Canary />
      <Levels />
      {latest !== undefined && (
        <>
          <Instances />
          <Differences />
        </>
      )}
    </div>
  );
}

/** Beside the heading: which fleet. */
export function Heading() {
  const { latest } = fleet.value;
  if (latest === undefined) return null;
  return (
    <span class="t3 s12 nowrap">
      <Outside text={latest.name} />
    </span>
  );
}

/** Moves to the filter of the instances. */
export function focusFilter(): void {
  document.querySelector<HTMLInputElement>("#fl-filter")?.select();
}

const LOOKS = { ok: "", warn: "warn", bad: "bad", unknown: "unknown" } as const;
const MAX_WHY = 5;

function Headline() {
  const { latest, at, unavailable } = fleet.value;
  const { tone, words, why } = headline(fleet.value, levels.value, connection.value.status === "live");
  const notice = latest?.engine?.notice ?? "";
  return (
    <section class={`ov-status fl-status ${LOOKS[tone]}`} aria-labelledby="fl-title">
      <span class="ov-mark">
        <Icon name={SYMBOLS[tone]} />
      </span>
      <div class="grow">
        <div role="status">
          <h2 id="fl-title">{words}</h2>
          {why.slice(0, MAX_WHY).map((each) => (
            <p key={each}>
              <Outside text={each} />
            </p>
          ))}
          {why.length > MAX_WHY && <p>and {why.length - MAX_WHY} more</p>}
          {unavailable !== undefined && latest !== undefined && (
            <p>What follows is as of {clock(at)}. The instances keep the levels that they have.</p>
          )}
        </div>
        {notice !== "" && (
          <p>
            <Outside text={notice} />
          </p>
        )}
      </div>
      {latest !== undefined && (
        <dl class="facts">
          <div>
            <dt>Fleet</dt>
            <dd>
              <Outside text={latest.name} />
            </dd>
          </div>
          <div>
            <dt>Engine</dt>
            <dd>{engineWords(latest.engine?.kind ?? "", unavailable === undefined && latest.engine?.isConnected)}</dd>
          </div>
          <div>
            <dt>Generation</dt>
            <dd class="num">{`${latest.generation}`}</dd>
          </div>
        </dl>
      )}
    </section>
  );
}

const ENGINES: Readonly<Record<string, string>> = {
  redis: "Redis",
  postgres: "PostgreSQL",
  nats: "NATS",
  serve: "connect-actuator serve",
  memory: "memory of the process",
};

function engineWords(kind: string, isConnected: boolean | undefined): string {
  return `${ENGINES[kind] ?? kind}, ${isConnected ? "connected" : "does not answer"}`;
}
