import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  ChangeSchema,
  SnapshotSchema,
  type WatchLoggersResponse,
  WatchLoggersResponseSchema,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { Logger, LoggerGroup } from "../../loggers/view.ts";
import type { WatchedState } from "../../loggers/watch.ts";
import { comesAfter, groupWireBytes, loggerWireBytes } from "./logger-page.ts";
import { groupToProto, loggerToProto } from "./logger-proto.ts";

/** What a watcher is to be told next. */
export interface Wanted {
  /** Begins every name that it watches. */
  readonly prefix: string;
  /** The revision up to which it knows everything; 0 for nothing. */
  readonly since: number;
  /** The revision that it is being taken to. */
  readonly until: number;
  /** The last element that it has been told on the way there; undefined at the beginning. */
  readonly after: Logger | LoggerGroup | undefined;
  /** Whether it takes protobuf and not JSON. */
  readonly binary: boolean;
}

/** One event with as much of that as fits. */
export interface Piece {
  readonly response: WatchLoggersResponse;
  /** How many loggers and groups it holds. */
  readonly size: number;
  /** The last of them, where there are more. */
  readonly last: Logger | LoggerGroup | undefined;
}

/** A piece is no larger, so that a thousand readers that stall hold no more than a thousand of these. */
const PIECE_BYTES = 64 * 1024;
/** What a response has beside its loggers and groups. */
const FRAME_BYTES = 64;
/** Watchers that keep up want the same, and each that does not something else. */
const MAX_SHARED = 32;

/** The pieces of a state, each made once for all watchers that want it, and encoded once where they take protobuf. */
export class WatchPieces {
  readonly #maxBytes: number;
  readonly #shared = new Map<string, Piece>();
  #state: WatchedState | undefined;

  /** `maxBytes` bounds a response. */
  constructor(maxBytes: number) {
    this.#maxBytes = Math.min(maxBytes, PIECE_BYTES) - FRAME_BYTES;
  }

  get(state: WatchedState, wanted: Wanted): Piece {
    if (state !== this.#state) this.clear();
    this.#state = state;
    const { prefix, since, until, after, binary } = wanted;
    const key = JSON.stringify([since, until, after?.type, after?.name, binary, prefix]);
    const shared = this.#shared.get(key);
    if (shared !== undefined) return shared;
    const piece = pieceOf(state, wanted, this.#maxBytes);
    const [oldest] = this.#shared.keys();
    if (this.#shared.size >= MAX_SHARED) this.#shared.delete(oldest!);
    this.#shared.set(key, piece);
    return piece;
  }

  /** Forgets everything. */
  clear(): void {
    this.#state = undefined;
    this.#shared.clear();
  }
}

function pieceOf(state: WatchedState, { prefix, since, until, after, binary }: Wanted, maxBytes: number): Piece {
  const { loggers, groups } = state;
  const taken: (Logger | LoggerGroup)[] = [];
  let last: Logger | LoggerGroup | undefined;
  let bytes = 0;
  for (let at = indexAfter(state, after); at < loggers.length + groups.length; at++) {
    const { subject, revision } = (loggers[at] ?? groups[at - loggers.length])!;
    if (revision <= since || !subject.name.startsWith(prefix)) continue;
    bytes += subject.type === "group" ? groupWireBytes(subject) : loggerWireBytes(subject);
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
  const isSnapshot = since === 0 && after === undefined;
  const response = create(WatchLoggersResponseSchema, { revision: BigInt(until), more: last !== undefined });
  if (binary) {
    // Fields that a message does not know are written as they are: so a thousand watchers cost one encoding.
    const event = isSnapshot
      ? toBinary(SnapshotSchema, create(SnapshotSchema, content))
      : toBinary(ChangeSchema, create(ChangeSchema, content));
    const { snapshot, change } = WatchLoggersResponseSchema.field;
    const no = (isSnapshot ? snapshot : change).number;
    response.$unknown = [{ no, wireType: WireType.LengthDelimited, data: new BinaryWriter().bytes(event).finish() }];
  } else if (isSnapshot) response.event = { case: "snapshot", value: create(SnapshotSchema, content) };
  else response.event = { case: "change", value: create(ChangeSchema, content) };
  return { response, size: taken.length, last };
}

/** Where the elements after this one begin: loggers in the order of the overview, then groups. */
function indexAfter({ loggers, groups }: WatchedState, element: Logger | LoggerGroup | undefined): number {
  if (element === undefined) return 0;
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
