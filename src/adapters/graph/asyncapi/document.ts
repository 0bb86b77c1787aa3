import { ActuatorError } from "../../../common/error.ts";
import { isRecord } from "../../../common/record.ts";

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A server that channels are on. */
export interface DocumentServer {
  readonly protocol: string;
  /** Host and port, such as "rabbit.example:5672". */
  readonly host: string;
  /** What the broker is called in keys, which exports of a graph have. */
  readonly broker: string | undefined;
}

/** A channel of a document. */
export interface DocumentChannel {
  readonly id: string;
  /** Its name at the broker; the channel's id if the document has none. */
  readonly address: string;
  readonly title: string | undefined;
  readonly server: DocumentServer | undefined;
  readonly bindings: JsonObject;
}

/** What the application does with a channel. */
export interface DocumentOperation {
  readonly id: string;
  readonly action: "send" | "receive";
  readonly channel: DocumentChannel;
  /** The channel of the reply. */
  readonly reply: DocumentChannel | undefined;
}

/** The parts of an AsyncAPI document that the integration graph shows. */
export interface DocumentParts {
  readonly channels: readonly DocumentChannel[];
  readonly operations: readonly DocumentOperation[];
}

const MAX_REFERENCES = 32;

/**
 * Reads an AsyncAPI 3 document that was parsed from JSON or YAML: its servers, channels and operations, following references
 * within the document.
 *
 * @throws ActuatorError INVALID_ARGUMENT that names the place if the document is not of version 3, or refers to another one.
 */
export function documentParts(document: unknown): DocumentParts {
  if (!isRecord(document))
    throw invalid("asyncApiSource: the document must be an object that was parsed from JSON or YAML");
  const { asyncapi } = document;
  if (typeof asyncapi !== "string" || !asyncapi.startsWith("3.")) {
    const version = typeof asyncapi === "string" ? `version ${asyncapi.slice(0, 16)}` : "without a version";
    throw invalid(`asyncApiSource: the document must be of AsyncAPI 3; this one is ${version}`);
  }
  const reader = new Reader(document);
  const channels = new Map<object, DocumentChannel>();
  for (const [id, value] of entries(document.channels, "channels")) {
    const channel = reader.resolved(value, `channels.${id}`);
    channels.set(channel, reader.channel(id, channel));
  }
  const channelOf = (value: unknown, place: string): DocumentChannel => {
    const channel = channels.get(reader.resolved(value, place));
    if (channel === undefined) throw invalid(`asyncApiSource: ${place} is not one of the document's channels`);
    return channel;
  };
  const operations = entries(document.operations, "operations").map(([id, value]): DocumentOperation => {
    const place = `operations.${id}`;
    const { action, channel, reply } = reader.resolved(value, place);
    if (action !== "send" && action !== "receive")
      throw invalid(`asyncApiSource: ${place}.action must be send or receive`);
    const answer = reply === undefined ? undefined : reader.resolved(reply, `${place}.reply`).channel;
    return {
      id,
      action,
      channel: channelOf(channel, `${place}.channel`),
      reply: answer === undefined ? undefined : channelOf(answer, `${place}.reply.channel`),
    };
  });
  return { channels: [...channels.values()], operations };
}

class Reader {
  readonly #document: JsonObject;

  constructor(document: JsonObject) {
    this.#document = document;
  }

  channel(id: string, { address, title, servers, bindings }: JsonObject): DocumentChannel {
    const place = `channels.${id}`;
    return {
      id,
      address: typeof address === "string" && address !== "" ? address : id,
      title: typeof title === "string" ? title : undefined,
      server: this.#server(servers, place),
      bindings: bindings === undefined ? {} : this.resolved(bindings, `${place}.bindings`),
    };
  }

  /** What a value is, or what its `$ref` leads to within the document. */
  resolved(value: unknown, place: string): JsonObject {
    let found = value;
    for (let count = 0; isRecord(found) && typeof found.$ref === "string"; count++) {
      if (count === MAX_REFERENCES) throw invalid(`asyncApiSource: the references at ${place} lead in a circle`);
      if (!found.$ref.startsWith("#/")) {
        throw invalid(`asyncApiSource: ${place} refers to another document: bundle the documents into one first`);
      }
      found = this.#at(found.$ref);
    }
    if (!isRecord(found)) throw invalid(`asyncApiSource: ${place} must be an object, or refer to one in the document`);
    return found;
  }

  /** A channel that names no servers is on all of them; the graph shows it at the first. */
  #server(servers: unknown, place: string): DocumentServer | undefined {
    const [first] = Array.isArray(servers)
      ? servers
      : entries(this.#document.servers, "servers").map(([, value]) => value);
    if (first === undefined) return undefined;
    const { protocol, host, "x-broker": named } = this.resolved(first, `${place}.servers`);
    const broker = typeof named === "string" && named !== "" ? named : undefined;
    return typeof protocol === "string" && typeof host === "string" ? { protocol, host, broker } : undefined;
  }

  #at(pointer: string): unknown {
    const names = pointer.slice(2).split("/");
    return names.reduce<unknown>((value, escaped) => {
      const name = decoded(escaped).replaceAll("~1", "/").replaceAll("~0", "~");
      return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    }, this.#document);
  }
}

/** What is not encoded well is the name of nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function entries(value: unknown, place: string): [string, unknown][] {
  if (value === undefined) return [];
  if (!isRecord(value)) throw invalid(`asyncApiSource: ${place} must be an object`);
  return Object.entries(value);
}

function invalid(message: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_DOCUMENT", message);
}
