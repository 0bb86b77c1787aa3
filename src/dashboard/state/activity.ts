import { signal } from "@preact/signals";
import type { ActivitySample, WatchActivityResponse } from "../../gen/actuator/v3/application_pb.ts";
import type { Fault } from "../link/messages.ts";
import { link, onLink } from "./server.ts";

/** Health and activity, kept current by a watch. */
export interface ActivityState {
  /** The latest message; undefined until the first one. */
  readonly latest: WatchActivityResponse | undefined;
  /** Oldest first, an hour at most. */
  readonly history: readonly ActivitySample[];
  readonly fault: Fault | undefined;
}

export const activity = signal<ActivityState>({ latest: undefined, history: [], fault: undefined });

const HOUR_S = 3_600n;

function secondsOf(sample: ActivitySample | undefined): bigint {
  return sample?.time?.seconds ?? 0n;
}

onLink(() => {
  const followed = link;
  let history: readonly ActivitySample[] = [];
  followed.watch("activity", {
    message(latest) {
      if (followed !== link) return;
      // After an interruption the whole history comes again; if the service has restarted, it goes on.
      const [oldest, newest] = [secondsOf(latest.samples[0]), secondsOf(latest.samples.at(-1))];
      if (latest.samples.length > 0) {
        const before = history.filter((each) => secondsOf(each) < oldest && secondsOf(each) > newest - HOUR_S);
        history = [...before, ...latest.samples];
      }
      activity.value = { latest, history, fault: undefined };
    },
    end: (fault) => {
      if (followed === link) activity.value = { ...activity.value, fault };
    },
  });
});
