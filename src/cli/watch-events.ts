import { create } from "@bufbuild/protobuf";
import { type WatchLoggersResponse, WatchLoggersResponseSchema } from "../gen/actuator/v3/loggers_pb.ts";
import type { NameFilter } from "./name-filter.ts";

/**
 * The events of a watch as they were before the server took large ones to pieces: a snapshot, then changes. What does not
 * pass the filter is left out, and so are heartbeats and changes of which nothing is left.
 */
export async function* wholeEvents(
  pieces: AsyncIterable<WatchLoggersResponse>,
  { passes }: NameFilter,
): AsyncGenerator<WatchLoggersResponse> {
  let whole: ReturnType<typeof emptyEvent> | undefined;
  for await (const { event, revision, more } of pieces) {
    if (event.case !== "snapshot" && event.case !== "change") continue;
    // A snapshot goes on in changes, and stays one.
    whole ??= emptyEvent(event.case);
    const { loggers, groups } = whole.event.value;
    for (const logger of event.value.loggers) if (passes(logger.name)) loggers.push(logger);
    for (const group of event.value.groups) if (passes(group.name)) groups.push(group);
    if (event.case === "change" && whole.event.case === "change") {
      whole.event.value.removed.push(...event.value.removed.filter(passes));
    }
    whole.revision = revision;
    if (more) continue;
    if (!isEmpty(whole)) yield whole;
    whole = undefined;
  }
}

type Whole = WatchLoggersResponse & {
  readonly event: Extract<WatchLoggersResponse["event"], { readonly case: "snapshot" | "change" }>;
};

function emptyEvent(kind: "snapshot" | "change"): Whole {
  return create(WatchLoggersResponseSchema, { event: { case: kind, value: {} } }) as Whole;
}

/** An empty snapshot says that there is nothing; an empty change says nothing. */
function isEmpty({ event }: Whole): boolean {
  if (event.case === "snapshot") return false;
  const { loggers, groups, removed } = event.value;
  return loggers.length + groups.length + removed.length === 0;
}
