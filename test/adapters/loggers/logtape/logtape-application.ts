import type { Config, LogRecord, Sink } from "@logtape/logtape";
import { configureSync, reset } from "@logtape/logtape";
import { logtapeLoggers } from "../../../../src/adapters/loggers/logtape/index.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";

/** A sink that keeps what it was given, as `category level: message`. */
export function lines(): { readonly written: string[]; readonly sink: Sink } {
  const written: string[] = [];
  const sink = ({ category, level, message }: LogRecord) =>
    void written.push(`${category.join(".")} ${level}: ${message.join("")}`);
  return { written, sink };
}

/** What the meta logger would write does not matter here. */
const quietMeta: Setup[number] = { category: ["logtape", "meta"], lowestLevel: "error" };

/** What an application configures of its categories, with the sinks `all` and `other`. */
export type Setup = Config<string, string>["loggers"];

/** The process's one LogTape, configured, with a registry attached; both are taken away by `end`. */
export class LogTapeApplication {
  readonly all = lines();
  readonly other = lines();
  readonly #detaches: (() => void)[] = [];

  configure(loggers: Setup, filters: Config<string, string>["filters"] = {}): void {
    const sinks = { all: this.all.sink, other: this.other.sink };
    configureSync({ reset: true, sinks, filters, loggers: [...loggers, quietMeta] });
  }

  attach(options?: Parameters<typeof logtapeLoggers>[0], registry: ConstructorParameters<typeof Loggers>[0] = {}) {
    const loggers = new Loggers(registry);
    const detach = loggers.attach(logtapeLoggers(options));
    this.#detaches.push(detach);
    return { loggers, detach };
  }

  async end(): Promise<void> {
    for (const detach of this.#detaches.splice(0)) detach();
    await reset();
    this.all.written.length = 0;
    this.other.written.length = 0;
  }
}
