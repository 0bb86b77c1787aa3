import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { channelKey } from "../../../integration-graph/node-id.ts";
import { Destination, DestinationRegistry } from "../../kit/messaging/destinations.ts";

/** The system of these brokers in keys and counts. */
export const SYSTEM = "nats";

export type Kind = "subject" | "stream" | "consumer";

/** How many subjects that only messages mention are shown between two rebuilds: many applications put ids into subjects. */
const MAX_SEEN = 200;

/** Where replies go to: one node for all of them. */
const INBOXES = "_INBOX.*";

/** A subject, stream or consumer that messages come by. */
export class NatsDestination extends Destination<Kind> {
  /** The link to a consumer from its stream. */
  feed: GraphLink | undefined;
}

/** The subjects, streams and consumers of one broker that the application uses. */
export class Subjects extends DestinationRegistry<Kind, NatsDestination> {
  readonly #host: GraphHost;
  /** Streams that only acknowledgements mention. */
  readonly #streams = new Map<string, NatsDestination>();
  #inboxes: GraphNode | undefined;

  constructor(host: GraphHost, broker: string) {
    super(host, {
      kinds: ["subject", "stream", "consumer"],
      type: NatsDestination,
      trimmed: withoutGenerated,
      limit: { max: MAX_SEEN, others: ">", isWildcard: hasWildcard, matches },
      declaration: (kind, name, { properties }) => ({
        name,
        pattern: kind === "consumer" ? "message_channel" : "publish_subscribe_channel",
        componentType: `nats:${kind}`,
        properties,
        key: channelKey(SYSTEM, broker, kind, name),
      }),
    });
    this.#host = host;
  }

  override sentTo(kind: Kind, name: unknown): GraphNode {
    if (typeof name !== "string" || !name.startsWith("_INBOX.")) return super.sentTo(kind, name);
    this.#inboxes ??= this.#host.observe(this.declaration("subject", this.#host.shownName(INBOXES)));
    return this.#inboxes;
  }

  /** A stream that acknowledged a message. */
  stream(name: string): NatsDestination {
    const known = this.find("stream", name) ?? this.#streams.get(name);
    if (known !== undefined) return known;
    const shown = this.shown(name);
    const stream = new NatsDestination(this, "stream", shown, this.#host.observe(this.declaration("stream", shown)));
    if (this.#streams.size >= MAX_SEEN) this.#streams.clear();
    this.#streams.set(name, stream);
    return stream;
  }

  override prune(): void {
    super.prune();
    this.#streams.clear();
  }
}

/** Subjects that the library and the broker use themselves: discovery of services, JetStream's requests and acknowledgements. */
const CONTROL = ["$SRV.", "$JS.", "$SYS.", "_R_."];

export function isControl(subject: string): boolean {
  // "$" or "_": called for every message.
  const first = subject.charCodeAt(0);
  if (first !== 36 && first !== 95) return false;
  return CONTROL.some((prefix) => subject.startsWith(prefix));
}

/** Whether a subject is an inbox for replies, of a connection whose inboxes begin with `prefix`. */
export function isInbox(subject: string, prefix: unknown): boolean {
  return subject.startsWith("_INBOX.") || (typeof prefix === "string" && subject.startsWith(`${prefix}.`));
}

function hasWildcard(subject: string): boolean {
  return subject.split(".").some((token) => token === "*" || token === ">");
}

/** Whether a wildcard matches a subject. */
function matches(wildcard: string, subject: string): boolean {
  const [wanted, given] = [wildcard.split("."), subject.split(".")];
  if (wanted.at(-1) === ">") return given.length >= wanted.length && fits(wanted.slice(0, -1), given);
  return wanted.length === given.length && fits(wanted, given);
}

function fits(wanted: readonly string[], given: readonly string[]): boolean {
  return wanted.every((token, index) => token === "*" || token === given[index]);
}

/** A token that the library generated, as in every inbox: from there on, the subject is shown as `*`. */
const GENERATED = /^[0-9A-Za-z]{22}$/;

/** A subject without what was generated for one connection, and without the keys of a key-value bucket or an object store. */
function withoutGenerated(subject: string): string {
  const tokens = subject.split(".");
  if ((tokens[0] === "$KV" || tokens[0] === "$O") && tokens.length > 2) return `${tokens[0]}.${tokens[1]}.>`;
  const at = tokens.findIndex((token) => GENERATED.test(token) && /[0-9]/.test(token) && /[A-Za-z]/.test(token));
  return at < 0 ? subject : [...tokens.slice(0, at), "*"].join(".");
}
