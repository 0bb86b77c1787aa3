import type { LoggerDifference } from "../../gen/actuator/v3/fleet_pb.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { count, counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { FaultState, Skeleton } from "../components/state.tsx";
import { clock } from "../components/time.tsx";
import { hrefOf } from "../state/route.ts";
import { compare, differences } from "./model.ts";

/** More are listed by the command line. */
const MAX_ROWS = 50;
const MAX_NAMED = 5;

/** The loggers whose level is not the same on all instances. */
export function Differences() {
  const { latest, at, isReading, fault } = differences.value;
  return (
    <section class="panel" aria-labelledby="fl-differences">
      <div class="panel-head">
        <h2 id="fl-differences">Where levels differ</h2>
        {latest !== undefined && <span class="chip">{count(latest.loggers.length + latest.more)}</span>}
        {at > 0 && <span class="t3 s12">as of {clock(at)}</span>}
        <Button
          look="end"
          icon="ui-refresh"
          whyNot={isReading ? "the instances are being asked" : undefined}
          onClick={() => void compare()}
        >
          Compare
        </Button>
      </div>
      {latest === undefined ? (
        fault === undefined ? (
          <Skeleton what="what differs" rows={2} />
        ) : (
          <FaultState fault={fault} what="the differences" onRetry={() => void compare()} />
        )
      ) : (
        <>
          {fault !== undefined && (
            <p class="note" role="status">
              <Icon name="ui-warning" class="is-warn" />
              {fault.message}
            </p>
          )}
          {latest.unread.length > 0 && (
            <div class="note">
              <Icon name="ui-warning" class="is-warn" />
              <ul>
                {latest.unread.slice(0, MAX_ROWS).map(({ instance, reason }) => (
                  <li key={instance}>
                    <Outside class="mono" text={instance} /> was not compared: <Outside text={reason} />
                  </li>
                ))}
              </ul>
            </div>
          )}
          {latest.loggers.length === 0 ? (
            <p class="ov-line">
              <Icon name="ui-ok" class="is-ok" />
              No logger differs on {latest.instances === 1 ? "the one instance" : counted(latest.instances, "instance")}{" "}
              that answered.
            </p>
          ) : (
            <ul class="rl">
              {latest.loggers.slice(0, MAX_ROWS).map((each) => (
                <Row key={each.name} difference={each} />
              ))}
            </ul>
          )}
          {latest.loggers.length + latest.more > MAX_ROWS && (
            <p class="ov-line">
              {count(latest.loggers.length + latest.more - MAX_ROWS)} more: “connect-actuator fleet differences” lists
              them.
            </p>
          )}
        </>
      )}
    </section>
  );
}

function Row({ difference: { name, levels } }: { difference: LoggerDifference }) {
  return (
    <li class="rl-row fl-differs">
      <a class="mono strong fl-any" href={hrefOf("loggers", name)}>
        <Outside text={name} />
      </a>
      <ul class="fl-shares">
        {levels.map(({ level, instances }) => (
          <li key={level}>
            <LevelWord level={level} />{" "}
            <span class="s12 t2 fl-any">
              {instances.slice(0, MAX_NAMED).map((id, at) => (
                <>
                  {at > 0 && ", "}
                  <Outside class="mono" text={id} />
                </>
              ))}
              {instances.length > MAX_NAMED && ` and ${count(instances.length - MAX_NAMED)} more`}
            </span>
          </li>
        ))}
      </ul>
    </li>
  );
}
