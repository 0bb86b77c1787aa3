import "../styles/panes.css";
import "../styles/overview.css";
import "./screen.css";
import { useEffect } from "preact/hooks";
import type { Instance } from "../../gen/actuator/v3/fleet_pb.ts";
import { Button } from "../components/button.tsx";
import { CommandText } from "../components/command.tsx";
import { Forbidden } from "../components/forbidden.tsx";
import { Icon } from "../components/icon.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { OverrideChip } from "../components/override-chip.tsx";
import { FaultState, Skeleton, State } from "../components/state.tsx";
import { Ago, duration } from "../components/time.tsx";
import { hrefOf } from "../state/route.ts";
import { may, serves, whyNot } from "../state/server.ts";
import { canary, finishCanary } from "./canary.ts";
import { askToReset, askToSet, clearLevel } from "./changing.tsx";
import { differences, fault, fleet, levels, readDifferences, unavailable, watchFleet } from "./model.ts";
import { Progress } from "./progress.tsx";

/** The instances of the fleet, the levels that it has, how far these have come, and where instances differ. */
export function Content() {
  const isServed = serves("FleetService");
  const mayRead = may("loggers:read");
  useEffect(() => (isServed && mayRead ? watchFleet() : undefined), [isServed, mayRead]);
  if (!isServed) {
    return (
      <State icon="ui-fleet" title="This application is not part of a fleet">
        <p>
          The option <code>fleet</code> of createActuator names its engine:
        </p>
        <CommandText text='createActuator({ fleet: redisFleet("redis://127.0.0.1") })' />
      </State>
    );
  }
  if (!mayRead) return <Forbidden title="You may not see the fleet" to="see the fleet" permission="loggers:read" />;
  if (fleet.value === undefined) {
    if (unavailable.value !== undefined) {
      return (
        <State icon="ui-error" title="The fleet’s engine does not answer">
          <p>{unavailable.value} The page shows the fleet as soon as it does.</p>
        </State>
      );
    }
    return fault.value === undefined ? (
      <Skeleton what="the fleet" />
    ) : (
      <FaultState fault={fault.value} what="the fleet" />
    );
  }
  return (
    <div class="ov fl">
      <Notes />
      <Canary />
      <Instances />
      <Levels />
      <Differences />
    </div>
  );
}

/** Beside the heading: the name of the fleet, and what keeps it. */
export function Heading() {
  const { name = "", engine } = fleet.value ?? {};
  if (engine === undefined) return null;
  return (
    <span class="t3 s12 nowrap">
      <Outside text={name} class="fl-cut" /> · {engine.kind}
      {unavailable.value !== undefined && ", not answering"}
    </span>
  );
}

function Notes() {
  const { engine } = fleet.value!;
  return (
    <>
      {unavailable.value !== undefined && (
        <p class="note fl-note" role="status">
          <Icon name="ui-warning" class="is-warn" />
          <span>
            {unavailable.value} Below is what was known before. Every instance keeps its levels, and catches up later.
          </span>
        </p>
      )}
      {engine?.notice && (
        <p class="note fl-note">
          <Icon name="ui-info" />
          <span>
            <Outside text={engine.notice} />
          </span>
        </p>
      )}
    </>
  );
}

function Canary() {
  const progress = canary.value;
  if (progress === undefined) return null;
  const { level } = progress.change ?? {};
  return (
    <section class="panel ov-changed" aria-labelledby="fl-canary">
      <div class="panel-head">
        <h2 id="fl-canary">Canary</h2>
        {!progress.isPromoted && (
          <span class="end fl-acts">
            <Button look="main-action" icon="ui-check" onClick={() => void finishCanary(true)}>
              Set it on all
            </Button>
            <Button icon="ui-undo" onClick={() => void finishCanary(false)}>
              Take it back
            </Button>
          </span>
        )}
      </div>
      <p class="fl-line">
        {level !== undefined && (
          <>
            <Outside class="mono" text={level.name} /> <LevelWord level={level.level} />{" "}
          </>
        )}
        <Progress change={progress.change} />{" "}
        <span class="t3">{progress.isPromoted ? "It was set on all." : "When this tab closes, it is taken back."}</span>
      </p>
    </section>
  );
}

function Instances() {
  const { instances } = fleet.value!;
  return (
    <section class="panel" aria-labelledby="fl-instances">
      <div class="panel-head">
        <h2 id="fl-instances">{counted(instances.length, "instance")}</h2>
      </div>
      {instances.length === 0 ? (
        <p class="fl-line">No instance has reported in the last minute.</p>
      ) : (
        <table class="tbl">
          <thead>
            <tr>
              <th scope="col">Instance</th>
              <th scope="col">State</th>
              <th scope="col">Application</th>
              <th scope="col">Labels</th>
              <th scope="col">Started</th>
              <th scope="col">Last heard</th>
            </tr>
          </thead>
          <tbody>
            {instances.map((instance) => (
              <Row key={instance.id} instance={instance} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ instance }: { instance: Instance }) {
  const { id, application, version, labels, startTime, heartbeat, isSelf } = instance;
  return (
    <tr>
      <td data-of="Instance">
        <span>
          <Outside text={id} class="med fl-cut" />
          {isSelf && <span class="t3"> answers this page</span>}
        </span>
      </td>
      <td data-of="State">
        <StateChip instance={instance} />
      </td>
      <td data-of="Application">
        <Outside text={`${application} ${version}`.trim()} class="fl-cut" />
      </td>
      <td data-of="Labels">
        <span class="fl-labels">
          {Object.entries(labels).map(([key, value]) => (
            <span class="chip line" key={key}>
              <Outside text={value === "true" ? key : `${key}=${value}`} class="fl-cut" />
            </span>
          ))}
        </span>
      </td>
      <td data-of="Started">{startTime !== undefined && <Ago time={startTime} />}</td>
      <td data-of="Last heard">{heartbeat !== undefined && <Ago time={heartbeat} />}</td>
    </tr>
  );
}

function StateChip({ instance: { isGone, lag } }: { instance: Instance }) {
  if (isGone) return <span class="chip bad">gone</span>;
  if (lag === undefined) return <span class="chip ok">up to date</span>;
  const ms = Number(lag.seconds) * 1_000 + lag.nanos / 1e6;
  return <span class="chip warn">{duration(ms)} behind</span>;
}

function Levels() {
  const found = levels.value;
  const reason =
    whyNot("loggers:write") ?? (unavailable.value === undefined ? undefined : "the engine does not answer");
  return (
    <section class="panel" aria-labelledby="fl-levels">
      <div class="panel-head">
        <h2 id="fl-levels">Levels of the fleet</h2>
        <span class="end fl-acts">
          {found !== undefined && found.length > 0 && (
            <Button icon="ui-undo" whyNot={reason} onClick={() => void askToReset()}>
              End all
            </Button>
          )}
          <Button icon="ui-plus" whyNot={reason} onClick={askToSet}>
            Set a level
          </Button>
        </span>
      </div>
      {found === undefined ? (
        <Skeleton what="levels" rows={2} />
      ) : found.length === 0 ? (
        <p class="fl-line">The fleet has no level. Each instance has its own.</p>
      ) : (
        <table class="tbl">
          <thead>
            <tr>
              <th scope="col">Logger</th>
              <th scope="col">Level</th>
              <th scope="col">On</th>
              <th scope="col">Lasts</th>
              <th scope="col">Set by</th>
              <th scope="col">Instances</th>
              <th scope="col">
                <span class="vh">Action</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {found.map(({ level, change }) => (
              <tr key={`${level.name} ${level.selector} ${level.generation}`}>
                <td data-of="Logger">
                  <a href={hrefOf("loggers", level.name)}>
                    <Outside text={level.name} class="mono fl-cut" />
                  </a>
                </td>
                <td data-of="Level">
                  <LevelWord level={level.level} />
                </td>
                <td data-of="On">
                  {level.selector === "" ? "all" : <Outside text={level.selector} class="mono fl-cut" />}
                </td>
                <td data-of="Lasts">
                  {level.override !== undefined && <OverrideChip name="" override={level.override} />}
                </td>
                <td data-of="Set by">
                  <span title={level.override?.reason}>
                    <Outside text={level.override?.actor || "an operator"} class="fl-cut" />
                  </span>
                </td>
                <td data-of="Instances">
                  <Progress change={change} />
                </td>
                <td class="fl-act">
                  <Button icon="ui-undo" look="plain" whyNot={reason} onClick={() => void clearLevel(level)}>
                    End
                    <span class="vh">
                      {" "}
                      the level of <Outside text={level.name} />
                    </span>
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Differences() {
  const found = differences.value;
  return (
    <section class="panel" aria-labelledby="fl-differences">
      <div class="panel-head">
        <h2 id="fl-differences">Where levels differ</h2>
        <span class="end">
          <Button
            look="icon"
            icon="ui-refresh"
            label="Ask the instances again"
            onClick={() => void readDifferences()}
          />
        </span>
      </div>
      <Difference found={found} />
    </section>
  );
}

function Difference({ found }: { found: typeof differences.value }) {
  if (found === undefined) return <Skeleton what="differences" rows={2} />;
  if ("code" in found)
    return <FaultState fault={found} what="the differences" onRetry={() => void readDifferences()} />;
  const { loggers, instances, unread, more } = found;
  return (
    <>
      {unread.map(({ instance, reason }) => (
        <p class="note fl-note" key={instance}>
          <Icon name="ui-warning" class="is-warn" />
          <span>
            <Outside text={instance} class="med" /> did not answer: <Outside text={reason} />
          </span>
        </p>
      ))}
      {loggers.length === 0 ? (
        <p class="fl-line">
          {instances > 1
            ? `Every logger has the same level on ${counted(instances, "instance")}.`
            : "Only one instance has answered."}
        </p>
      ) : (
        <ul class="fl-diff">
          {loggers.map(({ name, levels: shares }) => (
            <li key={name}>
              <a href={hrefOf("loggers", name)}>
                <Outside text={name} class="mono fl-cut" />
              </a>
              <span class="fl-labels">
                {shares.map(({ level, instances: ids }) => (
                  <span key={level} title={ids.join(", ")}>
                    <LevelWord level={level} />{" "}
                    <span class="t2">
                      <Outside text={ids.slice(0, 3).join(", ")} class="fl-cut" />
                      {ids.length > 3 && ` and ${ids.length - 3} more`}
                    </span>
                  </span>
                ))}
              </span>
            </li>
          ))}
          {more > 0 && <li class="t3">and {more} more</li>}
        </ul>
      )}
    </>
  );
}
