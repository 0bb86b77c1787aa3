import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import {
  ChangeSchema,
  SnapshotSchema,
  type WatchLoggersRequest,
  type WatchLoggersResponse,
  WatchLoggersResponseSchema,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { hasPrefix } from "../../loggers/name.ts";
import type { Logger, LoggerGroup } from "../../loggers/view.ts";
import { LoggersWatch, type RemovedLogger, type WatchedState } from "../../loggers/watch.ts";
import { isVisible, type Reach } from "../visible-loggers.ts";
import { comesAfter, groupWireBytes, loggerWireBytes } from "./logger-page.ts";
import { groupToProto, loggerToProto } from "./logger-proto.ts";
import { stringWireBytes } from "./page.ts";
import type { ServiceLimits } from "./streams.ts";
import { liveEvents } from "./streams.ts";

/** Watches the loggers for one call, as far as its caller may see them. */
export type WatchLoggers = (
  request: WatchLoggersRequest,
  context: Pick<HandlerContext, "requestHeader">,
  reach?: Reach,
) => AsyncIterableIterator<WatchLoggersResponse, undefined>;

/**
 * Makes watches of the loggers, which share their messages. A watch keeps only two revisions and the name of the last element that it
 * sent, however many changes there are and however slowly its client reads.
 */
export function watchLoggers(loggers: Loggers, { maxBytes, heartbeatMs }: ServiceLimits): WatchLoggers {
  const watch = new LoggersWatch(loggers);
  const pieces = new WatchPieces(maxBytes);
  const interval = durationFromMs(heartbeatMs);

  return ({ namePrefix: prefix }, { requestHeader }, reach) => {
    const binary = !/json/i.test(requestHeader.get("content-type") ?? "");
    let since = 0;
    let until = 0;
    let after: Element | undefined;
    let unwatch: () => void;

    return liveEvents(
      {
        open(wake) {
          unwatch = watch.watch(wake);
        },
        take() {
          if (after === undefined) {
            if (since === watch.state.revision) return undefined;
            if (since < watch.state.completeSince) since = 0;
            until = watch.state.revision;
          }
          const { response, size, last } = pieces.get(watch.state, { prefix, reach, since, until, after, binary });
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

/** What a watch sends, in the order of a state. */
type Element = Logger | LoggerGroup | RemovedLogger;

/** The next piece that a watch needs. */
export interface Wanted {
  /** The prefix of the names that it watches. */
  readonly prefix: string;
  /** What its client may see. */
  readonly reach?: Reach;
  /** The revision that its client knows completely; 0 for none. */
  readonly since: number;
  /** The revision that it is sending. */
  readonly until: number;
  /** The last element of that revision that it has sent; undefined at the beginning. */
  readonly after: Element | undefined;
  /** Whether its client uses protobuf and not JSON. */
  readonly binary: boolean;
}

/** One event with as many elements as fit. */
export interface Piece {
  readonly response: WatchLoggersResponse;
  /** The number of its elements. */
  readonly size: number;
  /** The last of them, if there are more to send. */
  readonly last: Element | undefined;
}

/** The maximum size of a piece. A thousand stalled clients hold no more than a thousand pieces. */
const PIECE_BYTES = 64 * 1024;
/** What a response has beside its loggers and groups. */
const FRAME_BYTES = 64;
/** The maximum of shared pieces. Watches that keep up need the same ones; each that does not needs others. */
const MAX_SHARED = 32;

/** The pieces of a state, each made once for all watches that need it, and for protobuf encoded once. */
export class WatchPieces {
  readonly #maxBytes: number;
  readonly #shared = new Map<string, Piece>();
  #state: WatchedState | undefined;

  /** @param maxBytes the maximum size of a response */
  constructor(maxBytes: number) {
    this.#maxBytes = Math.min(maxBytes, PIECE_BYTES) - FRAME_BYTES;
  }

  get(state: WatchedState, wanted: Wanted): Piece {
    if (state !== this.#state) this.clear();
    this.#state = state;
    const { prefix, reach, since, until, after, binary } = wanted;
    const key = JSON.stringify([since, until, after?.type, after?.name, binary, prefix, reach]);
    const shared = this.#shared.get(key);
    if (shared !== undefined) return shared;
    const piece = pieceOf(state, wanted, this.#maxBytes);
    const [oldest] = this.#shared.keys();
    if (this.#shared.size >= MAX_SHARED) this.#shared.delete(oldest!);
    this.#shared.set(key, piece);
    return piece;
  }

  /** Drops all pieces. */
  clear(): void {
    this.#state = undefined;
    this.#shared.clear();
  }
}

function pieceOf(state: WatchedState, wanted: Wanted, maxBytes: number): Piece {
  const { prefix, reach, since, until, after, binary } = wanted;
  const { loggers, groups, removed } = state;
  // A client that begins knows no logger that is gone.
  const count = loggers.length + groups.length + (since === 0 ? 0 : removed.length);
  const taken: Element[] = [];
  let last: Element | undefined;
  let bytes = 0;
  for (let at = indexAfter(state, after); at < count; at++) {
    const { subject, revision } = (loggers[at] ??
      groups[at - loggers.length] ??
      removed[at - loggers.length - groups.length])!;
    if (revision <= since || !hasPrefix(subject.name, prefix) || !isVisible(subject, reach)) continue;
    bytes += wireBytes(subject);
    if (taken.length > 0 && bytes > maxBytes) {
      last = taken.at(-1);
      break;
    }
    taken.push(subject);
  }
  const content = {
    loggers: taken.filter((subject) => subject.type === "logger").map(loggerToProto),
    groups: taken.filter((subject) => subject.type === "group").map(groupToProto),
  };
  const gone = taken.filter(({ type }) => type === "removed").map(({ name }) => name);
  const isSnapshot = since === 0 && after === undefined;
  const response = create(WatchLoggersResponseSchema, { revision: BigInt(until), more: last !== undefined });
  if (binary) {
    // Unknown fields are written as they are, so that a thousand watches cost one encoding.
    const event = isSnapshot
      ? toBinary(SnapshotSchema, create(SnapshotSchema, content))
      : toBinary(ChangeSchema, create(ChangeSchema, { ...content, removed: gone }));
    const { snapshot, change } = WatchLoggersResponseSchema.field;
    const no = (isSnapshot ? snapshot : change).number;
    response.$unknown = [{ no, wireType: WireType.LengthDelimited, data: new BinaryWriter().bytes(event).finish() }];
  } else if (isSnapshot) response.event = { case: "snapshot", value: create(SnapshotSchema, content) };
  else response.event = { case: "change", value: create(ChangeSchema, { ...content, removed: gone }) };
  return { response, size: taken.length, last };
}

function wireBytes(element: Element): number {
  if (element.type === "group") return groupWireBytes(element);
  return element.type === "logger" ? loggerWireBytes(element) : stringWireBytes(element.name);
}

/** The index after an element: loggers in the order of the overview, then groups, then those that are gone. */
function indexAfter({ loggers, groups, removed }: WatchedState, element: Element | undefined): number {
  if (element === undefined) return 0;
  if (element.type === "removed") {
    return loggers.length + groups.length + 1 + removed.findIndex(({ subject }) => subject.name === element.name);
  }
  if (element.type === "group") {
    return loggers.length + 1 + groups.findIndex(({ subject }) => subject.name === element.name);
  }
  let low = 0;
  let high = loggers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comesAfter(loggers[middle]!.subject.name, element.name)) high = middle;
    else low = middle + 1;
  }
  return low;
}
