import { printable } from "../common/printable.ts";
import type { Instance } from "../gen/actuator/v3/fleet_pb.ts";
import type { Notice } from "../gen/actuator/v3/loggers_pb.ts";
import type { WatchLogsResponse_Started as Started } from "../gen/actuator/v3/logs_pb.ts";
import { printNotices } from "./loggers-show.ts";
import { showingText, unheardText } from "./loggers-tail.ts";
import { note } from "./output.ts";

/** Notes which instances a tail follows, and names that none of them has. */
export class FollowedInstances {
  readonly #awaited: Set<string>;
  readonly #started = new Set<string>();
  readonly #unread = new Map<string, string>();
  #unknown: readonly Notice[] | undefined;

  /** @param instances those that are there; undefined: it is not known */
  constructor(instances: readonly Instance[] | undefined, selector: string) {
    this.#awaited = new Set(instances?.filter(({ isGone }) => !isGone).map(({ id }) => id));
    if (instances?.length !== 0) return;
    const none = selector === "" ? "There is no instance" : `No instance matches ${printable(selector)}`;
    note(`${none} now; later ones are followed.`);
  }

  /** An instance has begun to send what its loggers write. */
  start(instance: string, { loggers, unheardKinds, notices }: Started): void {
    const say = (line: string) => note(`${printable(instance)}: ${line}`);
    this.#unread.delete(instance);
    if (this.#started.has(instance)) {
      say("Connected again.");
      return;
    }
    this.#started.add(instance);
    if (loggers > 0 || notices.length === 0) say(showingText(loggers));
    if (unheardKinds.length > 0) say(unheardText(unheardKinds));
    const isUnknown = ({ message }: Notice) => notices.some((each) => each.message === message);
    this.#unknown = this.#unknown?.filter(isUnknown) ?? notices;
    this.#answered(instance);
  }

  /** An instance does not answer. It is asked every 5 seconds, and named once. */
  miss(instance: string, reason: string): void {
    if (this.#unread.get(instance) !== reason) {
      note(`${printable(instance)} does not answer, and is asked again: ${printable(reason)}`);
    }
    this.#unread.set(instance, reason);
    this.#answered(instance);
  }

  /** Once all have said something, it is known which names none of them has. */
  #answered(instance: string): void {
    if (this.#awaited.delete(instance) && this.#awaited.size === 0) printNotices(this.#unknown ?? []);
  }
}
