import { ActuatorError } from "../../../common/error.ts";
import { requireVersion } from "../../kit/library-version.ts";

/**
 * A logger made by pino 8, 9 or 10, also where a framework declares it as less, as fastify does with `app.log`. That it
 * really is one is checked when it is used.
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

/** The object that all loggers of one copy of pino inherit from, and the symbols of that copy. */
export interface PinoCopy {
  readonly prototype: NativeLogger;
  readonly setLevel: symbol;
  /** Under which a logger keeps its own numeric level. */
  readonly levelValue: symbol;
  /** Under which a root keeps its destination. */
  readonly stream: symbol;
  /** Whether a child is born with its parent's level as its own: so it was before pino 10. */
  readonly freezesChildren: boolean;
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
  if (prototype === null || setLevel === undefined || levelValue === undefined || stream === undefined) {
    throw new ActuatorError(
      "INVALID_ARGUMENT",
      "NOT_A_PINO_LOGGER",
      "pinoLoggers expects loggers made by pino 8, 9 or 10.",
    );
  }
  const native = prototype as NativeLogger;
  const freezesChildren = Number.parseInt(String(native.version), 10) < 10;
  return { prototype: native, setLevel, levelValue, stream, freezesChildren };
}
