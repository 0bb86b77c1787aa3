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
 * @param others more prototypes, whose objects are found as well in the same time: until it returns, they inherit from `prototype`
 * @throws ActuatorError FAILED_PRECONDITION (NO_HEAP_SEARCH) if the inspector of Node.js is missing or forbidden.
 */
export function objectsBelow(prototype: object, ...others: readonly object[]): readonly object[] {
  const session = connected();
  const before = others.map((other) => Object.getPrototypeOf(other) as object);
  try {
    for (const other of others) Object.setPrototypeOf(other, prototype);
    return query(session, prototype);
  } finally {
    for (const [index, other] of others.entries()) Object.setPrototypeOf(other, before[index]!);
    session.disconnect();
  }
}

function query(session: Session, prototype: object): readonly object[] {
  const globals = globalThis as { [EXCHANGE]?: Exchange };
  const exchange: Exchange = { prototype, found: [] };
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
  }
  return exchange.found;
}

/** Whether an object itself has all these methods. No code of its own runs: accessors and proxies are not asked. */
export function hasOwnMethods(object: object, methods: readonly string[]): boolean {
  return methods.every((method) => typeof ownValue(object, method) === "function");
}

/** The prototype of the objects that a class makes; undefined for other functions. */
export function prototypeOf(made: object): object | undefined {
  const prototype = typeof made === "function" ? ownValue(made, "prototype") : undefined;
  return typeof prototype === "object" && prototype !== null ? prototype : undefined;
}

function ownValue(object: object, key: string): unknown {
  return types.isProxy(object) ? undefined : Object.getOwnPropertyDescriptor(object, key)?.value;
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
