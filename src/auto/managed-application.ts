import cluster from "node:cluster";
import type { Server, Socket } from "node:net";
import { threadId } from "node:worker_threads";
import type { Actuator, TakingActuator } from "../actuator.ts";
import type { ActuatorOptions } from "../actuator-options.ts";
import { ActuatorError } from "../common/error.ts";
import type { GraphAdapter } from "../integration-graph/adapter.ts";
import { type GraphBuilder, integrationGraph } from "../integration-graph/builder.ts";
import type { LoggerAdapter } from "../loggers/adapter.ts";
import { Loggers } from "../loggers/loggers.ts";
import { type HeapSearchAnswer, LINES, type Origin, type ProcessDescription } from "../processes/description.ts";
import { TAKE } from "../processes/hand-over.ts";
import { sharedIdKey } from "../processes/id-key.ts";
import { sweepSockets } from "../processes/sockets.ts";
import type { ListenOptions } from "../server/listen-options.ts";
import { type SessionStores, sessionStores } from "../sessions/session-stores.ts";
import type { SessionStore } from "../sessions/store.ts";
import { applicationIdentity, type Identity, nameOfCaller } from "./identity.ts";
import { LIBRARIES } from "./libraries/index.ts";
import type { Findings, Library, Undo } from "./library.ts";
import { LocalSocket } from "./local-socket.ts";
import { listenFault, type OperatorConfiguration, operatorConfiguration } from "./operator-configuration.ts";
import type { WatchedFile } from "./packages.ts";
import { part } from "./parts.ts";
import { messageOf, say } from "./report.ts";
import { shownBy, shownOf } from "./shown.ts";

/** Why an adapter refuses an object of a library; an operator is told, and everything else is shown. */
const REFUSALS = /^(UNSUPPORTED_VERSION|INVALID_OPTION|(LOGTAPE_)?NOT_.*)$/;

/** How long objects that exist already are looked for, when a process was attached to. */
const MEET_MS = 600_000;

/** Some applications make stores again and again, and what is shown keeps them. */
const MAX_STORES = 100;

/** What is shown of an application in which everything was found by itself. */
export class ManagedApplication implements Findings {
  readonly #origin: Origin;
  readonly #identity: Identity = applicationIdentity();
  readonly #exports = new WeakSet<object>();
  readonly #paths = new Set<string>();
  readonly #stores = new WeakSet<object>();
  #storesFound = 0;
  readonly #rootsOf = new Map<string, number>();
  readonly #shows = { loggers: new Set<string>(), sessions: new Set<string>(), integrationGraph: new Set<string>() };
  readonly #notices = new Set<string>();
  readonly #onEnd: () => void;
  /** What takes everything out again, the last first. */
  #undo: Undo[] = [];
  #domains: Domains | undefined;
  #socket: LocalSocket | undefined;
  /** Resolves to the path of the socket when it is open. Rejects if it cannot be opened. */
  #opened: Promise<string> | undefined;
  #actuator: TakingActuator | undefined;
  #configuration: OperatorConfiguration | undefined;
  #explicit: { readonly actuator: Actuator & Partial<TakingActuator>; readonly options: ActuatorOptions } | undefined;
  #ended = false;

  /** @param onEnd called once, when everything was taken out */
  constructor(origin: Origin, onEnd: () => void) {
    this.#origin = origin;
    this.#onEnd = onEnd;
  }

  /** Looks at what a watched file exports, once for each copy. */
  loaded({ library }: WatchedFile, exports: object, path: string): void {
    if (this.#ended || this.#explicit !== undefined || this.#exports.has(exports)) return;
    this.#exports.add(exports);
    this.#paths.add(path);
    this.carefully(() => {
      this.#undoAtEnd(LIBRARIES[library].watch(exports, this, path));
    });
  }

  /** Looks at what a watched file has exported before this was here, and for a while at what it has made since. */
  existing(file: WatchedFile, exports: object, path: string): void {
    // `require()` of an ES module may return another namespace than its import.
    if (this.#paths.has(path)) return;
    this.loaded(file, exports, path);
    this.carefully(() => {
      const library: Library = LIBRARIES[file.library];
      const undo = this.#explicit === undefined ? library.meet?.(exports, this, path) : undefined;
      if (undo !== undefined) this.#undoLater(undo);
    });
  }

  /** At once if what it undoes has led to a fault, so that everything was taken out before. */
  #undoAtEnd(undo: Undo): void {
    if (this.#ended) undo();
    else this.#undo.push(undo);
  }

  #undoLater(undo: Undo): void {
    const timer = setTimeout(undo, MEET_MS).unref();
    this.#undoAtEnd(() => {
      clearTimeout(timer);
      undo();
    });
  }

  /** Opens the socket although nothing may have been found. Resolves to its path, and to what the application was configured with. */
  async opened(): Promise<{ readonly path: string; readonly options: ActuatorOptions }> {
    const options = this.#explicit?.options ?? this.#begun().options;
    this.#open();
    return { path: await this.#opened!, options };
  }

  loggers(adapter: LoggerAdapter): void {
    this.carefully(() => {
      this.#undo.push(this.#begun().loggers.attach(adapter));
      this.#shows.loggers.add(adapter.kind);
    });
  }

  store(store: object, make: () => SessionStore): void {
    this.carefully(() => {
      if (this.#stores.has(store)) return;
      this.#stores.add(store);
      if (++this.#storesFound > MAX_STORES) {
        this.notice(`only the first ${MAX_STORES} session stores are shown`);
        return;
      }
      const { stores } = this.#begun();
      const made = make();
      const remove = stores.add(made);
      this.#undo.push(() => {
        remove();
        Promise.resolve(made.detach?.()).catch((error: unknown) => say(messageOf(error)));
      });
      this.#shows.sessions.add(made.kind);
    });
  }

  messaging(adapter: GraphAdapter): Undo {
    let detach: Undo | undefined;
    this.carefully(() => {
      detach = this.#begun().graph.graph.attach(adapter, { yields: true });
      this.#undo.push(detach);
      this.#shows.integrationGraph.add(adapter.name);
    });
    return () => {
      this.#undo = this.#undo.filter((undo) => undo !== detach);
      detach?.();
    };
  }

  rootName(library: string, path: string): string | undefined {
    const before = this.#rootsOf.get(library) ?? 0;
    this.#rootsOf.set(library, before + 1);
    return before === 0 ? undefined : nameOfCaller(path, this.#identity.folder);
  }

  carefully(see: () => void): void {
    if (this.#ended || this.#explicit !== undefined) return;
    try {
      // Before adapters patch what they are given.
      this.#configuration ??= operatorConfiguration();
      see();
    } catch (error) {
      if (error instanceof ActuatorError && REFUSALS.test(error.reason)) this.notice(`not shown: ${error.message}`);
      else if (error instanceof ActuatorError && error.reason === "ALREADY_WATCHED") return;
      else this.#giveUp(error);
    }
  }

  /** Shows an operator what to know of the process. */
  notice(text: string): void {
    this.#notices.add(text);
    this.carefully(() => this.#open());
  }

  /** Says that the application is a bundle with these libraries inside, which cannot be seen as they load. */
  foundBundle(libraries: readonly string[]): void {
    if (this.#ended || this.#explicit !== undefined) return;
    const command = `connect-actuator attach ${process.pid} --search-heap`;
    this.notice(`this application is a bundle with ${libraries.join(", ")} inside; "${command}" finds what they made`);
  }

  #searchHeap(): HeapSearchAnswer {
    const { searchHeap } = part<typeof import("./heap.ts")>("auto/heap");
    const { answer, undo, undoLater, faults } = searchHeap(this, this.#identity.script ?? this.#identity.folder);
    for (const each of undo) this.#undoAtEnd(each);
    for (const each of undoLater) this.#undoLater(each);
    for (const fault of faults) this.notice(fault);
    return answer;
  }

  /** Leaves everything to the actuator that the application has made last, and only shows that one at the socket. */
  createdExplicitly(actuator: Actuator, options: ActuatorOptions): void {
    if (this.#ended) return;
    // That actuator does not know of levels that were set here, and would not end them.
    this.#restoreLevels("the application made an actuator itself");
    this.#takeOut();
    this.carefully(() => this.#open());
    this.#explicit = { actuator, options };
  }

  /**
   * Takes everything out of the application again.
   *
   * @param levels whether levels that were set stay, or the loggers get their own back
   */
  detach(levels: "keep" | "restore"): void {
    if (this.#ended) return;
    if (levels === "restore") this.#restoreLevels("detached");
    if (!this.#ended) this.#end();
  }

  #restoreLevels(reason: string): void {
    this.carefully(() => this.#domains?.loggers.restoreAllLevels({ reason }));
  }

  #begun(): Domains {
    if (this.#domains === undefined) {
      this.#configuration ??= operatorConfiguration();
      const { options, listen } = this.#configuration;
      this.#domains = domainsOf(this.#identity, options);
      this.#open();
      // Other instances count on it from now on.
      if (options.fleet !== undefined) this.carefully(() => this.#served());
      if (listen !== undefined) {
        const begin = () => this.#listen(listen);
        this.#opened?.then(begin, begin);
      }
    }
    return this.#domains;
  }

  #listen(listen: ListenOptions): void {
    if (this.#domains === undefined) return;
    const fault = listenFault();
    if (fault !== undefined) {
      this.#notices.add(fault);
      if (clusterWorker() === 1) say(fault);
      return;
    }
    this.carefully(() => {
      const actuator = this.#served();
      actuator.listen({ ...listen, unref: true }).catch((error: unknown) => {
        if (this.#actuator === actuator) say(`cannot listen: ${messageOf(error)}`);
      });
    });
  }

  /** The faces, which are loaded when they are first needed. */
  #served(): TakingActuator {
    if (this.#actuator === undefined) {
      const { actuatorOf } = part<typeof import("../actuator.ts")>("actuator");
      const { options, loggers, stores, graph } = this.#begun();
      this.#actuator = actuatorOf(
        {
          name: this.#identity.name,
          ...(this.#identity.version !== undefined && { version: this.#identity.version }),
          ...options,
          sessions: { idKey: sharedIdKey(), ...options.sessions, store: stores },
          integrationGraph: graph,
        },
        loggers,
      );
    }
    return this.#actuator;
  }

  #open(): void {
    if (this.#socket !== undefined) return;
    const socket = new LocalSocket({
      answer: async (line) => {
        if (line === LINES.describe) return this.#describe();
        if (this.#explicit !== undefined) return { error: EXPLICIT };
        if (line === LINES.heap) return part<typeof import("./heap.ts")>("auto/heap").heapAnswer();
        if (line === LINES.searchHeap) return this.#searchHeap();
        // After the answer is on its way.
        setImmediate(() => this.detach(line === LINES.detachKeeping ? "keep" : "restore"));
        return {};
      },
      serve: (connection, server) => this.#serve(connection, server),
    });
    this.#socket = socket;
    // Not at once, which would change what comes first in the application, and it may make an actuator in its first statements.
    this.#opened = new Promise<void>((resolve) => setImmediate(resolve).unref()).then(async () => {
      if (this.#ended || process.platform === "win32") throw new Error("there is no socket");
      const path = await socket.open({ pid: process.pid, thread: threadId });
      // The rest is swept by the next process that looks.
      sweepSockets().catch(() => undefined);
      return path;
    });
    this.#opened.catch((error: unknown) => {
      if (this.#ended || process.platform === "win32") return;
      // The port that the configuration names still answers.
      if (this.#configuration?.listen === undefined) this.#giveUp(error);
      else say(messageOf(error));
    });
  }

  #serve(connection: Socket, server: Server): void {
    try {
      const actuator = this.#ended ? undefined : (this.#explicit?.actuator ?? this.#served());
      if (actuator?.[TAKE] === undefined) connection.destroy();
      else actuator[TAKE](connection, server);
    } catch (error) {
      connection.destroy();
      this.#giveUp(error);
    }
  }

  async #describe(): Promise<ProcessDescription> {
    const { name, version, script } = this.#identity;
    const explicit = this.#explicit;
    const actuator = explicit?.actuator ?? this.#actuator;
    return {
      pid: process.pid,
      thread: threadId,
      name: (explicit?.options ?? this.#domains?.options)?.name ?? name,
      version: (explicit?.options ?? this.#domains?.options)?.version ?? version,
      startTime: Math.round(Date.now() - process.uptime() * 1000),
      origin: explicit === undefined ? this.#origin : "created by the application",
      script,
      shows: explicit === undefined ? shownOf(this.#shows) : shownBy(explicit.options),
      addresses: actuator?.addresses ?? [],
      clusterWorker: clusterWorker(),
      notices: explicit === undefined ? [...this.#notices] : [],
    };
  }

  #giveUp(error: unknown): void {
    say(`switched off after a fault: ${messageOf(error)}`);
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#takeOut();
    this.#socket?.close();
    this.#onEnd();
  }

  #takeOut(): void {
    const undo = this.#undo.toReversed();
    this.#undo = [];
    for (const each of undo) {
      try {
        each();
      } catch (error) {
        say(messageOf(error));
      }
    }
    const actuator = this.#actuator;
    this.#actuator = undefined;
    const loggers = this.#domains?.loggers;
    this.#domains = undefined;
    const closing = actuator === undefined ? loggers?.close() : actuator.close({ delayMs: 0, deadlineMs: 0 });
    closing?.catch((error: unknown) => say(messageOf(error)));
  }
}

/** What an application shows, before there are faces for it. */
interface Domains {
  readonly options: ActuatorOptions;
  readonly loggers: Loggers;
  readonly stores: SessionStores;
  readonly graph: GraphBuilder;
}

function domainsOf({ name }: Identity, options: ActuatorOptions): Domains {
  return {
    options,
    loggers: new Loggers(options.loggers ?? {}, (error, context) => say(`${context}: ${messageOf(error)}`)),
    stores: sessionStores(),
    graph: integrationGraph({ app: options.name ?? name }),
  };
}

const EXPLICIT = "the application has created its actuator itself, and only its own code can close it";

function clusterWorker(): number | undefined {
  return cluster.isWorker ? cluster.worker?.id : undefined;
}
