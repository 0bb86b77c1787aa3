import type { Runtime, Session } from "node:inspector";
import { types } from "node:util";
import { ActuatorError } from "../../../common/error.ts";

const OLDER_NODE = Number.parseInt(process.versions.node, 10) < 24;

/** V8 collects all garbage several times before it looks, which takes 9 to 13 ms of CPU per MB with Node.js 24, and up to 21 with 22. */
const PAUSE_MS_PER_MB = OLDER_NODE ? 18 : 13;

/** What the search of a small heap takes. */
const LEAST_PAUSE_MS = 50;

/** Where an object gets into the inspector and out again, while a search runs. */
const EXCHANGE = Symbol.for("connect-actuator.heap-search");

interface Exchange {
  readonly prototype: object;
  found: readonly object[];
}

/** Predicts how many milliseconds {@link objectsBelow} stops this process, by the size of its heap. */
export function expectedPauseMs(heapUsed: number = process.memoryUsage().heapUsed): number {
  return Math.round(Math.max(LEAST_PAUSE_MS, (heapUsed / 1e6) * PAUSE_MS_PER_MB));
}

/**
 * Returns all objects of this process that inherit from `prototype` and are still in use. It stops the process for about
 * {@link expectedPauseMs}, and leaves nothing behind.
 *
 * @throws ActuatorError FAILED_PRECONDITION (NO_HEAP_SEARCH) if the inspector of Node.js is missing or forbidden.
 */
export function objectsBelow(prototype: object): readonly object[] {
  const globals = globalThis as { [EXCHANGE]?: Exchange };
  const exchange: Exchange = { prototype, found: [] };
  const session = connected();
  const objectGroup = String(EXCHANGE.description);
  const at = `globalThis[Symbol.for(${JSON.stringify(objectGroup)})]`;
  globals[EXCHANGE] = exchange;
  try {
    const { result } = post<Runtime.EvaluateReturnType>(session, "Runtime.evaluate", {
      expression: `${at}.prototype`,
      objectGroup,
    });
    const { objects } = post<Runtime.QueryObjectsReturnType>(session, "Runtime.queryObjects", {
      prototypeObjectId: result.objectId,
      objectGroup,
    });
    post(session, "Runtime.callFunctionOn", {
      objectId: objects.objectId,
      functionDeclaration: `function () { ${at}.found = this; }`,
    });
  } finally {
    delete globals[EXCHANGE];
    session.post("Runtime.releaseObjectGroup", { objectGroup });
    session.disconnect();
  }
  return exchange.found;
}

/**
 * Returns the prototypes of all classes of this process whose own methods include one of these lists, also in bundles, where no file
 * says what a class is. It stops the process as {@link objectsBelow} does.
 *
 * @throws ActuatorError as {@link objectsBelow}
 */
export function prototypesWith<Name extends string>(
  methods: Readonly<Record<Name, readonly string[]>>,
): readonly { readonly name: Name; readonly prototype: object }[] {
  const wanted = Object.entries<readonly string[]>(methods) as [Name, readonly string[]][];
  return objectsBelow(Function.prototype).flatMap((made) => {
    const prototype = prototypeOf(made);
    if (prototype === undefined) return [];
    const has = (method: string) => typeof ownValue(prototype, method) === "function";
    return wanted.filter(([, all]) => all.every(has)).map(([name]) => ({ name, prototype }));
  });
}

/** Nothing of the application's runs: accessors and proxies are not asked. */
function ownValue(object: object, key: string): unknown {
  return types.isProxy(object) ? undefined : Object.getOwnPropertyDescriptor(object, key)?.value;
}

function prototypeOf(made: object): object | undefined {
  const prototype = ownValue(made, "prototype");
  return typeof prototype === "object" && prototype !== null ? prototype : undefined;
}

function connected(): Session {
  try {
    const session = new (process.getBuiltinModule("node:inspector").Session)();
    session.connect();
    return session;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `the heap cannot be searched for what exists already: the inspector of Node.js is not available (${reason})`;
    throw new ActuatorError("FAILED_PRECONDITION", "NO_HEAP_SEARCH", message, {}, { cause: error });
  }
}

/** A session with its own process answers at once. */
function post<Result>(session: Session, method: string, parameters: object): Result {
  let failure: Error | null = null;
  let result: object | undefined;
  session.post(method, parameters, (error, answer) => {
    failure = error;
    result = answer;
  });
  if (failure !== null) throw failure;
  return result as Result;
}
