import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { LevelChange_Kind as Kind, type LevelChange } from "../../gen/actuator/v3/loggers_pb.ts";
import { isOfFleet } from "../components/fleet-mark.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { Outside } from "../components/outside.tsx";
import { FaultState, Skeleton } from "../components/state.tsx";
import { clock, duration, exact, msOf } from "../components/time.tsx";
import { CallError } from "../link/link.ts";
import type { Fault } from "../link/messages.ts";
import { now } from "../state/clock.ts";
import { onLoggersChange } from "../state/loggers.ts";
import { hrefOf } from "../state/route.ts";
import { link } from "../state/server.ts";

const MAX_ROWS = 12;
/** How often they are read at most, however often levels change, in milliseconds. */
const READ_MS = 500;

const changes = signal<readonly LevelChange[] | undefined>(undefined);
const fault = signal<Fault | undefined>(undefined);

/** Reads the latest changes now and after each change, not more often than twice a second. */
function follow(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDue = false;
  const read = async () => {
    isDue = false;
    timer = setTimeout(() => {
      timer = undefined;
      if (isDue) void read();
    }, READ_MS);
    try {
      // Changes of the members of a group are left out: that of the group itself says it.
      const { changes: found } = await link.call("loggers", "listLevelChanges", { pageSize: 4 * MAX_ROWS });
      changes.value = found.filter(({ group }) => group === "").slice(0, MAX_ROWS);
      fault.value = undefined;
    } catch (error) {
      if (error instanceof CallError) fault.value = error.fault;
    }
  };
  const stop = onLoggersChange(() => {
    isDue = true;
    if (timer === undefined) void read();
  });
  void read();
  return () => {
    stop();
    isDue = false;
    clearTimeout(timer);
  };
}

/** Who changed which level lately. */
export function RecentChanges() {
  useEffect(follow, []);
  const rows = changes.value;
  return (
    <section class="panel ov-who" aria-labelledby="ov-recent">
      <div class="panel-head">
        <h2 id="ov-recent">Recent changes</h2>
        <a class="btn plain end" href={hrefOf("loggers", "", { history: "1" })}>
          All changes
        </a>
      </div>
      {rows === undefined ? (
        fault.value === undefined ? (
          <Skeleton what="recent changes" rows={4} />
        ) : (
          <FaultState fault={fault.value} what="the changes of levels" />
        )
      ) : rows.length === 0 ? (
        <p class="ov-line">No level has been changed since the application started.</p>
      ) : (
        <ol class="ch">
          {rows.map((change) => (
            <li class="ch-row" key={`${change.revision} ${change.name}`}>
              <Time ms={msOf(change.time!)} />
              <span>
                <Sentence change={change} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Time({ ms }: { ms: number }) {
  const isOld = now.value - ms > 86_400_000;
  return (
    <time class="t3 s12" dateTime={new Date(ms).toISOString()} title={exact(ms)}>
      {isOld ? DAY.format(ms) : clock(ms)}
    </time>
  );
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** A change in words: `alice raised shop.orders INFO → DEBUG for 10 min`. */
function Sentence({ change }: { change: LevelChange }) {
  const { name, previousLevel, level, override, kind } = change;
  const { actor = "", reason = "", held = false, setTime, expireTime } = override ?? {};
  const who = (
    <strong class="med">
      <Outside text={actor || "an operator"} />
    </strong>
  );
  const ofFleet = isOfFleet(change);
  const logger = (
    <>
      <a class="mono" href={hrefOf("loggers", name)}>
        <Outside text={name} />
      </a>
      {ofFleet && " for the fleet"}
    </>
  );
  const step = (
    <>
      <LevelWord level={previousLevel} /> <span aria-hidden="true">→</span>
      <span class="vh">to</span> <LevelWord level={level} />
    </>
  );
  const why: ComponentChildren = reason !== "" && (
    <span class="t3">
      {" · "}
      <Outside text={reason} />
    </span>
  );
  if (kind === Kind.APPLICATION) {
    return (
      <>
        <strong class="med">the application</strong> set {logger} to <LevelWord level={level} />
      </>
    );
  }
  if (kind === Kind.EXPIRED || kind === Kind.VOLUME) {
    return (
      <>
        {logger} went back {step} {kind === Kind.EXPIRED ? "when its time was up" : "because it made too many records"}
      </>
    );
  }
  if (kind === Kind.RESTORED || (kind === Kind.CLEARED && ofFleet)) {
    return (
      <>
        {who} {kind === Kind.RESTORED ? "restored" : "cleared"} {logger} {step}
        {why}
      </>
    );
  }
  if (kind === Kind.CLEARED) {
    return (
      <>
        {who} let {logger} inherit, which was <LevelWord level={previousLevel} />
        {why}
      </>
    );
  }
  if (held) {
    return (
      <>
        {who} holds {logger} at <LevelWord level={level} />
        {why}
      </>
    );
  }
  const verb = previousLevel === 0 || previousLevel === level ? "set" : level > previousLevel ? "raised" : "lowered";
  const lasting =
    setTime && expireTime && ` for ${duration(Math.round((msOf(expireTime) - msOf(setTime)) / 1_000) * 1_000)}`;
  return (
    <>
      {who} {verb} {logger}{" "}
      {verb === "set" ? (
        <>
          {" "}
          to <LevelWord level={level} />
        </>
      ) : (
        step
      )}
      {lasting}
      {why}
    </>
  );
}
