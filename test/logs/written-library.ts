import type { LoggerAdapter, LoggerHandle, LoggerHost, RecordContent, RecordSink } from "../../src/loggers/adapter.ts";
import { type Level, levelVerbosity } from "../../src/loggers/level.ts";

/** A library whose loggers a test writes with. What it writes is in `written`. */
export class WrittenLibrary implements LoggerAdapter {
  readonly kind = "test";
  readonly hides: true | string;
  readonly written: string[] = [];
  /** How often it began to be heard. */
  begun = 0;
  readonly #loggers = new Map<string, NativeLogger>();
  readonly #names: readonly string[];
  #host: LoggerHost | undefined;
  #sinks = new Map<string, RecordSink | undefined>();
  #sinkOf: ((name: string) => RecordSink | undefined) | undefined;

  constructor(names: readonly string[], hides: true | string = true) {
    this.#names = names;
    this.hides = hides;
  }

  get isHeard(): boolean {
    return this.#sinkOf !== undefined;
  }

  attach(host: LoggerHost): () => void {
    this.#host = host;
    for (const name of ["ROOT", ...this.#names]) {
      const logger = new NativeLogger();
      this.#loggers.set(name, logger);
      host.discovered(name, logger, name === "ROOT" ? "INFO" : undefined);
    }
    return () => {
      this.#host = undefined;
    };
  }

  tail(sinkOf: (name: string) => RecordSink | undefined): () => void {
    this.begun++;
    this.#sinkOf = sinkOf;
    this.#sinks.clear();
    return () => {
      this.#sinkOf = undefined;
      this.#sinks.clear();
    };
  }

  /** As the application would. */
  setLevel(name: string, level: Level): void {
    const logger = this.#loggers.get(name)!;
    logger.level = level;
    logger.own = level;
    this.#host!.changedOutside(logger, level);
  }

  write(name: string, level: Level, message: string, content: Partial<RecordContent> = {}, size = 100): void {
    const verbosity = levelVerbosity(level);
    const sink = this.#sink(name);
    const isWritten = verbosity <= levelVerbosity(this.#loggers.get(name)!.level);
    if (isWritten) this.written.push(message);
    else if (verbosity > (sink?.hiddenVerbosity ?? 0)) return;
    if (isWritten && verbosity > (sink?.verbosity ?? 0)) return;
    const read = () => ({ message, fields: {}, ...content });
    sink?.take({ verbosity, nativeLevel: level.toLowerCase(), hidden: !isWritten, size, read });
  }

  levelOf(name: string): Level {
    return this.#loggers.get(name)!.level;
  }

  #sink(name: string): RecordSink | undefined {
    if (!this.#sinks.has(name)) this.#sinks.set(name, this.#sinkOf?.(name));
    return this.#sinks.get(name);
  }
}

class NativeLogger implements LoggerHandle {
  level: Level = "INFO";
  own: Level = "INFO";

  apply(level: Level): void {
    this.level = level;
  }

  restore(): void {
    this.level = this.own;
  }
}
