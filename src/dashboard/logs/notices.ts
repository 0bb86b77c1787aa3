import {
  type WatchLogsResponse_Dropped as Dropped,
  WatchLogsResponse_Dropped_Reason as DropReason,
  type WatchLogsResponse_RaiseEnded as RaiseEnded,
  WatchLogsResponse_RaiseEnded_Reason as RaiseEndReason,
} from "../../gen/actuator/v3/logs_pb.ts";
import { count, counted } from "../components/number.ts";
import type { Notice } from "./lines.ts";

const WHY_DROPPED: Readonly<Record<number, string>> = {
  [DropReason.SLOW_READER]: "this page did not read them in time",
  [DropReason.RATE]: "more in a second than the service looks at",
  [DropReason.GAP]: "written while there was no connection, or no longer kept",
  [DropReason.REDACTION]: "the application's function for redaction failed",
};

/** Records are missing before the next ones. */
export function droppedNotice({ reason, count: missing }: Dropped): Notice {
  const why = WHY_DROPPED[reason] ?? "the service does not say why";
  const text = missing === 0n ? `Records may be missing: ${why}` : `${counted(missing, "record")} dropped: ${why}`;
  return { icon: "ui-warning", isWarning: true, text };
}

/** A raised level ended before its tail. `returnsTo` is what applies now, `by` the actor of what overruled it. */
export function raiseEndedNotice({ reason, maxPerSecond }: RaiseEnded, returnsTo: string, by: string): Notice {
  const restored = returnsTo === "" ? "Level restored" : `Level restored to ${returnsTo}`;
  if (reason === RaiseEndReason.VOLUME) {
    return warning(
      `${restored}: over ${count(maxPerSecond)} lines per second. Fewer loggers, or DEBUG instead of TRACE, write less`,
    );
  }
  if (reason === RaiseEndReason.OVERRULED) {
    return warning(`The raised level has ended: ${by === "" ? "another level was set" : `${by} set another level`}`);
  }
  return { icon: "ui-clock", isWarning: false, text: `${restored}: its time is over` };
}

/** The stream is open again. What is missing is told by a notice of its own. */
export function reconnectedNotice(awayMs: number, raised: string): Notice {
  const again = raised === "" ? "" : ` · raised to ${raised} again`;
  return {
    icon: "ui-offline",
    isWarning: false,
    text: `Reconnected after ${Math.max(1, Math.round(awayMs / 1_000))} s${again}`,
  };
}

export function warning(text: string): Notice {
  return { icon: "ui-warning", isWarning: true, text };
}

export function information(text: string): Notice {
  return { icon: "ui-info", isWarning: false, text };
}
