import { Level } from "../../gen/actuator/v3/level_pb.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { rate } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { duration } from "../components/time.tsx";
import { now } from "../state/clock.ts";
import { levelName } from "../state/levels.ts";
import { type LevelVolume, measurements } from "../state/measurements.ts";
import { whyNot } from "../state/server.ts";
import { MEASURED_MS, measure, measuring } from "./measure.ts";

/** Above this, a raise of a tail ends at once. */
const MAX_RAISED = 2_000;
const WIDTH = 200;

/** What each level writes, and what it would add. Measured only when asked: it makes every call of the loggers count. */
export function VolumeSection({ name, level, base }: { name: string; level: Level; base: Level }) {
  const found = measurements.value.get(name);
  const isRunning = measuring.value?.name === name;
  const shown = found?.levels.filter((each) => each.level > Level.FATAL || each.written + each.suppressed > 0) ?? [];
  const most = Math.max(1, ...shown.map((each) => each.written + each.suppressed));
  const left = Math.max(0, Math.ceil((MEASURED_MS - (found?.elapsedMs ?? 0)) / 1_000));
  return (
    <section class="sec" aria-labelledby="h-volume">
      <div class="sec-head">
        <Icon name="ui-measure" class="t3" />
        <h3 id="h-volume">Volume by level</h3>
        <span class="t3 s12">
          {isRunning
            ? `measuring, ${left} s left`
            : found?.at &&
              `measured for ${Math.round(found.elapsedMs / 1_000)} s, ${duration(now.value - found.at)} ago`}
        </span>
        <span class="end">
          {isRunning ? (
            <Button look="plain" icon="ui-x" onClick={() => measuring.peek()?.stop()}>
              Stop
            </Button>
          ) : (
            <Button
              look="plain"
              icon={found === undefined ? "ui-measure" : "ui-refresh"}
              keys="m"
              whyNot={whyNot("loggers:write")}
              onClick={() => measure(name)}
            >
              {found === undefined ? "Measure for 10 s" : "Measure again"}
            </Button>
          )}
        </span>
      </div>
      {isRunning && (
        <progress
          class="lg-progress"
          max={MEASURED_MS}
          value={found?.elapsedMs ?? 0}
          aria-label={`Measuring ${name.slice(0, 200)}`}
        />
      )}
      {found === undefined && !isRunning && (
        <p class="t3 s12">Counts calls for 10 s at every level, and so shows what a level would add.</p>
      )}
      {shown.length > 0 && (
        <div class="meas">
          {shown.map((each) => (
            <VolumeRow key={each.level} volume={each} most={most} isAdded={each.level > base && each.level <= level} />
          ))}
        </div>
      )}
      {found !== undefined && !isRunning && <Guard levels={found.levels} level={level} />}
      {found !== undefined && found.unmeasured.length > 0 && (
        <p class="t3 s12">
          Not counted, because the library cannot be measured: <Outside text={found.unmeasured.join(", ")} />
        </p>
      )}
    </section>
  );
}

function VolumeRow({ volume, most, isAdded }: { volume: LevelVolume; most: number; isAdded: boolean }) {
  const { level, written, suppressed } = volume;
  const width = (value: number) => (value === 0 ? 0 : Math.max(2, (WIDTH * value) / most));
  const isAlso = isAdded || (written === 0 && suppressed > 0);
  return (
    <>
      <span>
        <LevelWord level={level} />
      </span>
      <span>
        <svg class="bar" viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden="true">
          <rect class="bar-bg" width={WIDTH} height="8" rx="2" />
          <rect class={isAdded ? "bar-add" : "bar-now"} width={width(written)} height="8" rx="2" />
          {suppressed > 0 && (
            <rect
              class="bar-line"
              x={written === 0 ? 0 : width(written)}
              width={Math.max(2, Math.min(width(suppressed), WIDTH - width(written)))}
              height="8"
              rx="2"
            />
          )}
        </svg>
      </span>
      <span class="num">
        {isAlso && "+"}
        {rate(written > 0 || suppressed === 0 ? written : suppressed)}/s
        {written > 0 && suppressed > 0 && <span class="vh">, and {rate(suppressed)}/s not written</span>}
      </span>
    </>
  );
}

/** Says which level would write more than a tail may raise. */
function Guard({ levels, level }: { levels: readonly LevelVolume[]; level: Level }) {
  let added = 0;
  for (const each of levels) {
    added += each.suppressed;
    if (added <= MAX_RAISED || each.level <= level) continue;
    return (
      <p class="lg-guard is-warn">
        <Icon name="ui-warning" size={12} />
        {levelName(each.level)} would exceed 2,000 lines per second: a tail that raises to it is restored at once.
      </p>
    );
  }
  return null;
}
