import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { count } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { OverrideChip } from "../components/override-chip.tsx";
import { FaultState, Skeleton } from "../components/state.tsx";
import { hrefOf, route } from "../state/route.ts";
import { canary } from "./canary.ts";
import { askAndReset, clearFleetLevel, restoreFleetLevel, whyNotChange, whyNotReset } from "./changes.tsx";
import { askForFleetLevel } from "./level-dialog.tsx";
import { levels, readLevels } from "./model.ts";
import { Selected, StateChip, Statuses, UnknownName } from "./parts.tsx";
import type { LevelRow } from "./state.ts";
import { missing, progressOf } from "./summary.ts";

/** The levels that the fleet has, how far each has come, and the ways to change them. */
export function Levels() {
  const { isLoaded, rows, more, fault } = levels.value;
  const refusal = whyNotChange();
  return (
    <section class={`panel ${rows.length > 0 ? "ov-changed" : ""}`} aria-labelledby="fl-levels">
      <div class="panel-head fl-head">
        <h2 id="fl-levels">Levels of the fleet</h2>
        {isLoaded && <span class="chip">{count(rows.length + more)}</span>}
        <span class="fl-acts">
          <Button icon="ui-plus" whyNot={refusal} onClick={() => askForFleetLevel()}>
            Set a level
          </Button>
          <Button
            whyNot={refusal ?? (isCanaryOn() ? "a canary of this tab is running" : undefined)}
            onClick={() => askForFleetLevel({ isCanary: true })}
          >
            Canary
          </Button>
          {rows.length > 0 && (
            <Button look="quiet-danger" icon="ui-undo" whyNot={whyNotReset()} onClick={() => void askAndReset()}>
              End all
            </Button>
          )}
        </span>
      </div>
      {fault !== undefined && isLoaded && (
        <p class="note" role="status">
          <Icon name="ui-warning" class="is-warn" />
          These are the levels as of the last answer: {fault.message}
        </p>
      )}
      {isLoaded ? (
        <List rows={rows} />
      ) : fault === undefined ? (
        <Skeleton what="the levels" rows={2} />
      ) : (
        <FaultState fault={fault} what="the levels" onRetry={() => void readLevels()} />
      )}
      {more > 0 && <p class="ov-line">{count(more)} more levels: “connect-actuator fleet levels” lists them.</p>}
    </section>
  );
}

function isCanaryOn(): boolean {
  const { ended, fault } = canary.value ?? {};
  return canary.value !== undefined && ended === undefined && fault === undefined;
}

function List({ rows }: { rows: readonly LevelRow[] }) {
  if (rows.length === 0) {
    return (
      <p class="ov-line">
        <Icon name="ui-ok" class="is-ok" />
        No level is set for the fleet.
      </p>
    );
  }
  return (
    <ul class="rl">
      {rows.map((row) => (
        <Row key={`${row.level.generation}`} row={row} />
      ))}
    </ul>
  );
}

function Row({ row: { level: entry, change } }: { row: LevelRow }) {
  const { name, selector, level, override } = entry;
  const { actor = "", reason = "", held = false } = override ?? {};
  const refusal = whyNotChange();
  return (
    <li class={`rl-row fl-row ${route.value.subject === name ? "is-linked" : ""}`}>
      <div class="rl-what">
        <a class="mono strong" href={hrefOf("loggers", name)}>
          <Outside text={name} />
        </a>
        <span class="s12">
          <span class="t3">for</span> <Selected selector={selector} />
        </span>
        <span class="t3 s12 fl-any">
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
        <LevelWord level={level} />
      </span>
      <span class="fl-progress">
        <StateChip said={progressOf(change)} />
        <Statuses statuses={missing(change)} />
        <UnknownName change={change} />
      </span>
      <span class="rl-left">{override !== undefined && <OverrideChip name={name} override={override} long />}</span>
      <span class="rl-act">
        {held ? (
          <span class="t3 s12">ends with the call that holds it</span>
        ) : (
          <>
            <Button
              label={`Clear ${name}`}
              title="What each instance had of its own comes back"
              whyNot={refusal}
              onClick={() => void clearFleetLevel(entry)}
            >
              Clear
            </Button>
            <Button
              icon="ui-undo"
              label={`Restore ${name}`}
              title="The application’s own level applies on every instance"
              whyNot={refusal}
              onClick={() => void restoreFleetLevel(entry)}
            >
              Restore
            </Button>
          </>
        )}
      </span>
    </li>
  );
}
