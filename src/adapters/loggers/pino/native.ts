import { requireVersion } from "../../kit/library-version.ts";
import { wrongArgument } from "../../kit/loggers/wrong-argument.ts";

/**
 * A logger made by pino 8, 9 or 10. The type is loose because frameworks declare less than a pino logger, as fastify does for
 * `app.log`; `pinoLoggers` checks what it is given.
 */
export interface PinoLogger {
  level: string;
}

/** A pino logger from within: what it inherits and what its symbols hold. */
export interface NativeLogger extends PinoLogger {
  readonly levels: {
    readonly values: { readonly [label: string]: number };
    readonly labels: { readonly [value: number]: string };
  };
  emit(event: string, ...values: unknown[]): boolean;
  bindings(): Record<string, unknown>;
  [key: string | symbol]: unknown;
}

/** One copy of pino: the object that all its loggers inherit from, and its symbols. */
export interface PinoCopy {
  readonly prototype: NativeLogger;
  readonly setLevel: symbol;
  /** The key of a logger's own numeric level. */
  readonly levelValue: symbol;
  /** The key of the function that compares a level with a threshold. The first releases of pino 8 have none. */
  readonly levelComparison: symbol | undefined;
  /** The key of a logger's bindings, as the text that its records contain. */
  readonly bindings: symbol;
  /** The key of a root's destination. */
  readonly stream: symbol;
  readonly lines: LineSymbols;
  /** Whether a child starts with its parent's level as its own, as before pino 10. */
  readonly freezesChildren: boolean;
}

/** What the lines of a copy are made with. */
export interface LineSymbols {
  /** The key of the method that makes the line of a record. */
  readonly asJson: symbol;
  /** The key of the texts that lines begin with, by the value of their level. */
  readonly levelTexts: symbol;
  /** The key of the option `hooks`. */
  readonly hooks: symbol;
  readonly messageKey: symbol;
  /** The first releases of pino 8 have none. */
  readonly errorKey: symbol | undefined;
  readonly nestedKey: symbol;
}

/**
 * Finds the copy of pino that made a logger.
 *
 * @throws ActuatorError INVALID_ARGUMENT if the value is not a pino logger, FAILED_PRECONDITION if it is of another version.
 */
export function pinoCopy(logger: PinoLogger): PinoCopy {
  const symbols = new Map<string, symbol>();
  let prototype: object | null = null;
  for (
    let at: unknown = logger;
    typeof at === "object" && at !== null && prototype === null;
    at = Object.getPrototypeOf(at)
  ) {
    // pino exports its symbols with itself, not with its loggers.
    for (const symbol of Object.getOwnPropertySymbols(at)) symbols.set(symbol.description ?? "", symbol);
    if (Object.hasOwn(at, "child")) prototype = at;
  }
  const stated = (prototype as Partial<NativeLogger> | null)?.version;
  if (symbols.has("pino.setLevel")) requireVersion({ subpath: "pino", library: "pino", versions: "8 to 10" }, stated);
  const setLevel = symbols.get("pino.setLevel");
  const levelValue = symbols.get("pino.levelVal");
  const stream = symbols.get("pino.stream");
  const bindings = symbols.get("pino.chindings");
  if (prototype === null || !setLevel || !levelValue || !stream || !bindings) {
    const expected = "pinoLoggers needs a logger made by pino 8, 9 or 10, such as pino(), or a list of them";
    throw wrongArgument("NOT_A_PINO_LOGGER", expected, logger);
  }
  const native = prototype as NativeLogger;
  const freezesChildren = Number.parseInt(String(native.version), 10) < 10;
  return {
    prototype: native,
    setLevel,
    levelValue,
    levelComparison: symbols.get("pino.levelComp"),
    bindings,
    stream,
    lines: {
      asJson: symbols.get("pino.asJson")!,
      levelTexts: symbols.get("pino.lsCache")!,
      hooks: symbols.get("pino.hooks")!,
      messageKey: symbols.get("pino.messageKey")!,
      errorKey: symbols.get("pino.errorKey"),
      nestedKey: symbols.get("pino.nestedKey")!,
    },
    freezesChildren,
  };
}
