import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type WatchLoggersRequest,
  type WatchLoggersResponse,
  WatchLoggersResponseSchema,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import type { Logger, LoggerGroup } from "../../loggers/view.ts";
import { LoggersWatch } from "../../loggers/watch.ts";
import { liveEvents } from "./live-events.ts";
import type { ServiceLimits } from "./service-limits.ts";
import { WatchPieces } from "./watch-pieces.ts";

/** Watches the loggers for one caller. */
export type WatchLoggers = (
  request: WatchLoggersRequest,
  context: Pick<HandlerContext, "requestHeader">,
) => AsyncIterableIterator<WatchLoggersResponse, undefined>;

/**
 * Watches of the loggers that share what is told. A watcher holds two revisions and the name of the last element that it
 * was told, whatever happens and however slowly it reads.
 */
export function watchLoggers(loggers: Loggers, { maxBytes, heartbeatMs }: ServiceLimits): WatchLoggers {
  const watch = new LoggersWatch(loggers);
  const pieces = new WatchPieces(maxBytes);
  const interval = durationFromMs(heartbeatMs);

  return ({ namePrefix: prefix }, { requestHeader }) => {
    const binary = !/json/i.test(requestHeader.get("content-type") ?? "");
    let since = 0;
    let until = 0;
    let after: Logger | LoggerGroup | undefined;
    let unwatch: () => void;

    return liveEvents(
      {
        open(wake) {
          unwatch = watch.watch(wake);
        },
        take() {
          if (after === undefined) {
            if (since === watch.state.revision) return undefined;
            until = watch.state.revision;
          }
          const { response, size, last } = pieces.get(watch.state, { prefix, since, until, after, binary });
          const isFirst = since === 0;
          after = last;
          if (last === undefined) since = until;
          return size > 0 || isFirst ? response : undefined;
        },
        heartbeat: () =>
          create(WatchLoggersResponseSchema, {
            event: { case: "heartbeat", value: { interval } },
            revision: BigInt(since),
          }),
        close() {
          unwatch();
          if (watch.size === 0) pieces.clear();
        },
      },
      heartbeatMs,
    );
  };
}
