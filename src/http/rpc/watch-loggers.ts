import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
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
import { type Dated, LoggersWatch, type RemovedLogger, type WatchedState } from "../../loggers/watch.ts";
import { isVisible, type Reach } from "../visible-loggers.ts";
import { comesAfter, groupWireBytes, loggerWireBytes } from "./logger-page.ts";
import { groupToProto, levelToProto, loggerToProto } from "./logger-proto.ts";
import { stringWireBytes } from "./page.ts";
import type { ServiceLimits } from "./streams.ts";
import { liveEvents } from "./streams.ts";

/** Watches the loggers for one call, as far as its caller may see them. */
export type WatchLoggers = (
  request: WatchLoggersRequest,
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

  return ({ namePrefix: prefix, compact }, reach) => {
    let since = 0;
    let until = 0;
    let after: Element | undefined;
    // Pieces of a later state give the client some of it already; then it is not known exactly what it has.
    let isExact = false;
    let unwatch: () => void;

    return liveEvents(
      {
        open(wake) {
          unwatch = watch.watch(wake, { compact });
        },
        take() {
          const { state } = watch;
          if (after === undefined) {
            if (since === state.revision) return undefined;
            if (since < state.completeSince) since = 0;
            until = state.revision;
            if (compact && isExact && since === state.before?.revision) {
              const response = pieces.compact(watch, { prefix, reach });
              if (response !== undefined) {
                since = until;
                return response;
              }
            }
            isExact = true;
          }
          if (until !== state.revision) isExact = false;
          const { response, size, last } = pieces.get(state, { prefix, reach, since, until, after });
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

/** What a watch shows. */
export interface Selection {
  /** The prefix of the names that it watches. */
  readonly prefix: string;
  /** What its client may see. */
  readonly reach?: Reach;
}

/** The next piece that a watch needs. */
export interface Wanted extends Selection {
  /** The revision that its client knows completely; 0 for none. */
  readonly since: number;
  /** The revision that it is sending. */
  readonly until: number;
  /** The last element of that revision that it has sent; undefined at the beginning. */
  readonly after: Element | undefined;
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
/** What an inherited level has beside its name. */
const LEVEL_BYTES = 6;
/** The maximum of shared pieces. Watches that keep up need the same ones; each that does not needs others. */
const MAX_SHARED = 32;
/** How long pieces are shared. Watches that wait need none, and thousands of loggers take megabytes. */
const SHARED_MS = 1_000;

/** The pieces of a state, each made once for all watches that need it, so that it is encoded once for each format. */
export class WatchPieces {
  readonly #maxBytes: number;
  readonly #shared = new Map<string, Piece | WatchLoggersResponse | undefined>();
  #state: WatchedState | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param maxBytes the maximum size of a response */
  constructor(maxBytes: number) {
    this.#maxBytes = Math.min(maxBytes, PIECE_BYTES) - FRAME_BYTES;
  }

  get(state: WatchedState, wanted: Wanted): Piece {
    const { prefix, reach, since, until, after } = wanted;
    const key = JSON.stringify([since, until, after?.type, after?.name, prefix, reach]);
    return this.#once(state, key, () => pieceOf(state, wanted, this.#maxBytes));
  }

  /** The change since the state before, with inherited levels; undefined if that is no shorter, or too large for one piece. */
  compact(watch: LoggersWatch, selection: Selection): WatchLoggersResponse | undefined {
    const key = JSON.stringify([selection.prefix, selection.reach]);
    return this.#once(watch.state, key, () => compactResponseOf(watch, selection, this.#maxBytes));
  }

  #once<Made extends Piece | WatchLoggersResponse | undefined>(
    state: WatchedState,
    key: string,
    make: () => Made,
  ): Made {
    if (state !== this.#state) this.clear();
    this.#state = state;
    if (this.#shared.has(key)) return this.#shared.get(key) as Made;
    const made = make();
    this.#timer ??= setTimeout(() => this.clear(), SHARED_MS).unref();
    const [oldest] = this.#shared.keys();
    if (this.#shared.size >= MAX_SHARED) this.#shared.delete(oldest!);
    this.#shared.set(key, made);
    return made;
  }

  /** Drops all pieces. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#state = undefined;
    this.#shared.clear();
  }
}

function pieceOf(state: WatchedState, wanted: Wanted, maxBytes: number): Piece {
  const { since, until, after } = wanted;
  const { loggers, groups, removed } = state;
  const selects = selected(wanted);
  // A client that begins knows no logger that is gone.
  const count = loggers.length + groups.length + (since === 0 ? 0 : removed.length);
  const taken: Element[] = [];
  let last: Element | undefined;
  let bytes = 0;
  for (let at = indexAfter(state, after); at < count; at++) {
    const { subject, revision } = (loggers[at] ??
      groups[at - loggers.length] ??
      removed[at - loggers.length - groups.length])!;
    if (revision <= since || !selects(subject)) continue;
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
  const event: WatchLoggersResponse["event"] = isSnapshot
    ? { case: "snapshot", value: create(SnapshotSchema, content) }
    : { case: "change", value: create(ChangeSchema, { ...content, removed: gone }) };
  const response = create(WatchLoggersResponseSchema, { event, revision: BigInt(until), more: last !== undefined });
  return { response, size: taken.length, last };
}

function compactResponseOf(
  watch: LoggersWatch,
  selection: Selection,
  maxBytes: number,
): WatchLoggersResponse | undefined {
  const selects = selected(selection);
  const compact = watch.compactChange(selects);
  if (compact === undefined) return undefined;
  const { state } = watch;
  const since = state.before!.revision;
  const changed = <Subject extends Element>(dated: readonly Dated<Subject>[]) =>
    dated.filter(({ subject, revision }) => revision > since && selects(subject)).map(({ subject }) => subject);
  const { inherited, loggers } = compact;
  const [groups, removed] = [changed(state.groups), changed(state.removed)];
  const sizes = [
    ...inherited.map(({ name }) => stringWireBytes(name) + LEVEL_BYTES),
    ...[...loggers, ...groups, ...removed].map(wireBytes),
  ];
  if (sizes.reduce((sum, bytes) => sum + bytes, 0) > maxBytes) return undefined;
  const value = create(ChangeSchema, {
    inherited: inherited.map(({ name, level }) => ({ name, level: levelToProto(level) })),
    loggers: loggers.map(loggerToProto),
    groups: groups.map(groupToProto),
    removed: removed.map(({ name }) => name),
  });
  const event = { case: "change", value } as const;
  return create(WatchLoggersResponseSchema, { event, revision: BigInt(state.revision) });
}

/** Whether a watch shows an element. */
function selected({ prefix, reach }: Selection): (element: Element) => boolean {
  return (element) => hasPrefix(element.name, prefix) && isVisible(element, reach);
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
