import { Level } from "../../gen/actuator/v3/level_pb.ts";
import { LevelWord } from "../components/level-word.tsx";
import { rate } from "../components/number.ts";
import { clock } from "../components/time.tsx";
import { now } from "../state/clock.ts";
import type { LogTail } from "./tail.ts";
import { VOLUME_SECONDS } from "./volume.ts";

const [WIDTH, HEIGHT] = [600, 48];
const PARTS = ["rest", "added", "warn", "error"] as const;
const LOOKS = { rest: "h-info", added: "h-debug", warn: "h-warn", error: "h-error" } as const;
const KEY = [Level.FATAL, Level.ERROR, Level.INFO, Level.WARN, Level.DEBUG, Level.TRACE];
const ALWAYS = new Set<Level>([Level.ERROR, Level.INFO, Level.WARN, Level.DEBUG]);

/** The volume of five minutes, as this tail received it, and the present rate of each level. */
export function Histogram({ tail }: { tail: LogTail }) {
  const at = now.value;
  const bars = tail.volume.bars(at);
  const most = Math.max(1, ...bars.map(({ rest, added, warn, error }) => rest + added + warn + error));
  const step = WIDTH / bars.length;
  const words = `Records that this tail received in the last five minutes: now ${rate(tail.volume.rate(at))} per second`;
  return (
    <div class="lo-hist" title="Counts the records that this tail received">
      <div>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
          {bars.map((bar, index) => {
            let y = HEIGHT;
            return PARTS.map((part) => {
              if (bar[part] === 0) return null;
              // One error among thousands must still be seen.
              const height = Math.max(1.5, (bar[part] / most) * (HEIGHT - 4));
              y = Math.max(0, y - height);
              return (
                <rect
                  key={`${index} ${part}`}
                  class={LOOKS[part]}
                  x={index * step}
                  y={y}
                  width={step - 1.5}
                  height={height}
                />
              );
            });
          })}
        </svg>
        <div class="axis" aria-hidden="true">
          <span>{clock(at - VOLUME_SECONDS * 1_000)}</span>
          <span>{clock(at - VOLUME_SECONDS * 500)}</span>
          <span>now</span>
        </div>
      </div>
      <div class="lo-key">
        {KEY.map((level) => {
          const perSecond = tail.volume.rate(at, level);
          if (perSecond === 0 && !ALWAYS.has(level)) return null;
          return (
            <span key={level}>
              <LevelWord level={level} />
              {rate(perSecond)}/s
            </span>
          );
        })}
      </div>
    </div>
  );
}
