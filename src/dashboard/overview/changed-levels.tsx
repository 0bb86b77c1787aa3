import { Level } from "../../gen/actuator/v3/level_pb.ts";
import type { Logger, LoggerGroup } from "../../gen/actuator/v3/loggers_pb.ts";
import { Button } from "../components/button.tsx";
import { FleetMark } from "../components/fleet-mark.tsx";
import { Icon } from "../components/icon.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { count, counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { OverrideChip } from "../components/override-chip.tsx";
import { FaultState, Skeleton } from "../components/state.tsx";
import { msOf } from "../components/time.tsx";
import { askAndRestoreAll, restoreLevel, setLevel, TEN_MINUTES } from "../state/levels.ts";
import { changed, isFleetReader, loggers } from "../state/loggers.ts";
import { hrefOf } from "../state/route.ts";
import { whyNot } from "../state/server.ts";

/** More are in the tree of loggers. */
const MAX_ROWS = 50;

/** The levels that operators have changed, until when, and the way back. */
export function ChangedLevels() {
  const { isLoaded, fault, loggers: all } = loggers.value;
  const { length } = changed.value;
  if (isLoaded && length === 0) {
    return (
      <section class="panel ov-none" id="changed" aria-label="Levels changed by operators">
        <Icon name="ui-ok" class="is-ok" />
        All levels are at their baseline.
      </section>
    );
  }
  const rows = changed.value.slice(0, MAX_ROWS);
  return (
    <section class={`panel ${isLoaded ? "ov-changed" : "ov-none-yet"}`} id="changed" aria-labelledby="ov-changed">
      <div class="panel-head">
        <h2 id="ov-changed">Levels changed by operators</h2>
        {isLoaded && (
          <>
            <span class="chip">
              {count(length)} of {counted(all.size, "logger")}
            </span>
            <Button
              look="end"
              icon="ui-undo"
              keys="Shift+B"
              whyNot={whyNot("loggers:write")}
              onClick={() => void askAndRestoreAll()}
            >
              {isFleetReader.value ? "End all levels of the fleet" : "Restore all levels"}
            </Button>
          </>
        )}
      </div>
      {isLoaded ? (
        <ul class="rl">
          {rows.map((subject) => (
            <Row key={subject.name} subject={subject} />
          ))}
          {length > rows.length && (
            <li class="ov-more">
              <a href={hrefOf("loggers", "", { only: "changed" })}>{count(length - rows.length)} more</a>
            </li>
          )}
        </ul>
      ) : fault === undefined ? (
        <Skeleton what="the changed levels" rows={2} />
      ) : (
        <FaultState fault={fault} what="loggers" />
      )}
    </section>
  );
}

/** The level that a logger has once it is restored: its baseline, or what it inherits then. */
function levelAfter({ name, baselineLevel }: Logger): Level {
  const { loggers: all } = loggers.value;
  if (baselineLevel !== Level.UNSPECIFIED) return baselineLevel;
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
    const level = end < name.length ? all.get(name.slice(0, end))?.effectiveLevel : undefined;
    if (level) return level;
  }
  return (name !== "ROOT" && all.get("ROOT")?.effectiveLevel) || Level.UNSPECIFIED;
}

function Row({ subject }: { subject: Logger | LoggerGroup }) {
  const { name, configuredLevel, override } = subject;
  const { actor, reason, expireTime, held } = override!;
  const isGroup = "members" in subject;
  const refusal = whyNot("loggers:write");
  const extend = () => {
    const left = Math.max(0, msOf(expireTime!) - Date.now());
    void setLevel(name, configuredLevel, left + TEN_MINUTES, reason);
  };
  return (
    <li class="rl-row">
      <div class="rl-what">
        <a class="mono strong" href={hrefOf("loggers", name)}>
          <Outside text={name} />
        </a>
        <span class="t3 s12 ov-why">
          {isGroup && `group of ${counted(subject.members.length, "logger")} · `}
          <Outside text={actor || "an operator"} />
          {reason !== "" && (
            <>
              {" · "}
              <Outside text={reason} />
            </>
          )}
        </span>
      </div>
      <span class="rl-lv">
        {!isGroup && (
          <>
            <LevelWord level={levelAfter(subject)} />
            <span class="t3" aria-hidden="true">
              →
            </span>
            <span class="vh">to</span>
          </>
        )}
        <LevelWord level={configuredLevel} />
      </span>
      <span class="rl-left">
        <OverrideChip name={name} override={override!} long /> <FleetMark override={override} />
      </span>
      <span class="rl-act">
        {expireTime !== undefined && !held && (
          <Button icon="ui-plus" label={`10 min more for ${name}`} whyNot={refusal} onClick={extend}>
            10 min
          </Button>
        )}
        <Button icon="ui-undo" label={`Restore ${name}`} whyNot={refusal} onClick={() => void restoreLevel(name)}>
          Restore
        </Button>
      </span>
    </li>
  );
}
