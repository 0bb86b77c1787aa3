import type { CallGate, CallTally, LoggerAdapter, LoggerHost, RecordSink } from "../../../loggers/adapter.ts";
import { ROOT } from "../../../loggers/name.ts";
import { objectsBelow } from "../../kit/heap/heap-search.ts";
import { callCounter } from "../../kit/loggers/call-counter.ts";
import { recordSinks } from "../../kit/loggers/record-sinks.ts";
import type { LoggerSet } from "./logger-set.ts";
import { ManagedLoggers, type NameOf } from "./managed-loggers.ts";
import { type NativeLogger, type PinoCopy, type PinoLogger, pinoCopy } from "./native.ts";
import { tailRecords } from "./record-tail.ts";

interface Given {
  readonly name?: string | undefined;
  readonly nameOf?: NameOf | undefined;
  readonly findExisting?: boolean | undefined;
}

interface Started {
  readonly start: (managed: ManagedLoggers) => () => void;
  readonly stops: (() => void)[];
}

/** The loggers of any number of copies of pino. */
export class PinoAdapter implements LoggerAdapter {
  readonly kind = "pino";
  readonly hides = true;
  readonly #nameOf: NameOf;
  /** By the prototype of a copy's loggers. */
  readonly #managed = new Map<NativeLogger, ManagedLoggers>();
  /** What is under way on every copy. */
  readonly #started = new Set<Started>();
  #host: LoggerHost | undefined;

  constructor(loggers: readonly PinoLogger[], { name = ROOT, nameOf = defaultName, findExisting }: Given) {
    this.#nameOf = nameOf;
    const given = (loggers as readonly NativeLogger[])
      .map((logger) => ({ logger, copy: pinoCopy(logger) }))
      .map(({ logger, copy }, index) => ({
        logger,
        name: index === 0 ? name : (nameOf(logger.bindings()) ?? name),
        of: this.#of(copy),
      }));
    // A child that was given as well has its root above it.
    for (const { logger, name, of } of given) if (of.isRoot(logger)) of.addRoot(logger, name);
    for (const { logger, name, of } of given) if (!of.isRoot(logger)) of.addRoot(logger, name);
    if (findExisting) for (const [prototype, of] of this.#managed) of.addExisting(objectsBelow(prototype));
  }

  /**
   * Manages one more root, or a child of a managed one that is older than this adapter, unless it is managed already.
   *
   * @param unnamed returns the name of a root without one in its bindings; undefined for ROOT
   * @param isEachFound whether all other loggers that exist are added as well
   */
  add(
    logger: PinoLogger,
    unnamed: () => string | undefined,
    { isEachFound = false }: { readonly isEachFound?: boolean } = {},
  ): void {
    const native = logger as NativeLogger;
    const of = this.#of(pinoCopy(logger));
    if (!of.isRoot(native)) isEachFound ? of.addExisting([native]) : of.find(native);
    else if (!of.hasRoot(native)) of.addRoot(native, this.#nameOf(native.bindings()) ?? unnamed() ?? ROOT);
  }

  attach(host: LoggerHost): () => void {
    this.#host = host;
    for (const managed of this.#managed.values()) managed.attach(host);
    return () => {
      this.#host = undefined;
      for (const managed of this.#managed.values()) managed.detach();
    };
  }

  refresh(): void {
    for (const managed of this.#managed.values()) managed.refresh();
  }

  measure(tallyOf: (name: string) => CallTally | undefined): () => void {
    const count = callCounter<LoggerSet>(tallyOf);
    return this.#forAll((managed) =>
      managed.instrumentation.interception.listen(
        (logger, verbosity, enabled) => count(managed.followed(logger), verbosity, enabled),
        managed.withOwnMethods(),
      ),
    );
  }

  gate(lets: CallGate): () => void {
    return this.#forAll((managed) => {
      const nameOf = (logger: unknown) => managed.followed(logger)?.name;
      return managed.instrumentation.interception.letThrough(
        (logger, verbosity) => lets(verbosity, logger, nameOf),
        managed.withOwnMethods(),
      );
    });
  }

  tail(sinkOf: (name: string) => RecordSink | undefined, hides = true): () => void {
    const sinks = recordSinks<LoggerSet>(sinkOf);
    return this.#forAll((managed) => tailRecords(managed, sinks, hides));
  }

  /** Starts something on every copy, including later ones, until the returned function is called. */
  #forAll(start: (managed: ManagedLoggers) => () => void): () => void {
    const started = { start, stops: [...this.#managed.values()].map(start) };
    this.#started.add(started);
    return () => {
      this.#started.delete(started);
      for (const stop of started.stops.splice(0)) stop();
    };
  }

  #of(copy: PinoCopy): ManagedLoggers {
    let managed = this.#managed.get(copy.prototype);
    if (managed === undefined) {
      this.#managed.set(copy.prototype, (managed = new ManagedLoggers(copy, this.#nameOf)));
      if (this.#host !== undefined) managed.attach(this.#host);
      for (const { start, stops } of this.#started) stops.push(start(managed));
    }
    return managed;
  }
}

/** The first name. Spelt out, because it is called for every child that the application makes. */
const defaultName: NameOf = ({ logger, module, component, name }) => {
  if (isName(logger)) return logger;
  if (isName(module)) return module;
  if (isName(component)) return component;
  return isName(name) ? name : undefined;
};

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
