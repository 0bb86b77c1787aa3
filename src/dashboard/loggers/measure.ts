import { signal } from "@preact/signals";
import type { MeasureLoggersResponse } from "../../gen/actuator/v3/loggers_pb.ts";
import { ROOT } from "../../loggers/name.ts";
import { warningToast } from "../components/level-toasts.tsx";
import { affectedBy } from "../state/followers.ts";
import { LEVELS } from "../state/levels.ts";
import { loggers } from "../state/loggers.ts";
import { type LevelVolume, measurements, type Volumes } from "../state/measurements.ts";
import { link } from "../state/server.ts";

export const MEASURED_MS = 10_000;

/** The logger or group that is being measured by this tab; undefined: none. */
export const measuring = signal<{ readonly name: string; stop(): void } | undefined>(undefined);

/** Counts for ten seconds how often the loggers that a level would change are called. */
export function measure(name: string): void {
  measuring.peek()?.stop();
  const { groups } = loggers.peek();
  const isWhole = name === ROOT || groups.has(name);
  const counted = affectedBy(name, loggers.peek());
  const put = (volumes: Volumes | undefined) => {
    const all = new Map(measurements.peek());
    if (volumes === undefined) all.delete(name);
    else all.set(name, volumes);
    measurements.value = all;
  };
  const before = measurements.peek().get(name);
  const finish = () => {
    if (measuring.peek() === mine) measuring.value = undefined;
  };
  const stop = link.stream(
    "loggers",
    "measureLoggers",
    { namePrefix: isWhole ? "" : name },
    {
      message: (report) => put(volumesOf(report, name, counted)),
      end(fault) {
        finish();
        if (measurements.peek().get(name)?.at === undefined) put(before);
        if (fault !== undefined) warningToast(fault.message);
      },
    },
  );
  const mine = {
    name,
    stop() {
      stop();
      finish();
      if (measurements.peek().get(name)?.at === undefined) put(before);
    },
  };
  measuring.value = mine;
}

/** What a report says of the loggers that count. */
export function volumesOf(report: MeasureLoggersResponse, name: string, counted: ReadonlySet<string>): Volumes {
  const elapsedMs = Number(report.elapsed?.seconds ?? 0n) * 1_000 + (report.elapsed?.nanos ?? 0) / 1e6;
  const isRoot = name === ROOT;
  const lists =
    isRoot && report.more
      ? [report.total]
      : report.loggers
          .filter((each) => counted.has(each.name) || (!isRoot && each.name === name))
          .map(({ levels }) => levels);
  const levels = LEVELS.slice(1).map((level): LevelVolume => {
    let [written, suppressed] = [0, 0];
    for (const list of lists) {
      for (const each of list) {
        if (each.level !== level) continue;
        written += Number(each.emitted);
        suppressed += Number(each.suppressed);
      }
    }
    const seconds = Math.max(elapsedMs, 1) / 1_000;
    return { level, written: written / seconds, suppressed: suppressed / seconds };
  });
  return {
    levels: elapsedMs === 0 ? levels.map(({ level }) => ({ level, written: 0, suppressed: 0 })) : levels,
    elapsedMs,
    at: report.last ? Date.now() : undefined,
    unmeasured: report.unmeasuredKinds,
  };
}
