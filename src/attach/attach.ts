import { partPath } from "../auto/parts.ts";
import { ActuatorError } from "../common/error.ts";
import { requireNode } from "../common/node-version.ts";
import { requireAttachable } from "./attachable.ts";
import { hasClosed, type Inspector, openInspector, startInspector } from "./inspector.ts";
import { InspectorConnection } from "./inspector-connection.ts";
import type { AttachedApplication, TargetOptions } from "./target.ts";

/** How {@link attach} is done. */
export interface AttachOptions extends TargetOptions {
  /** When it is aborted, the inspector is closed and nothing more is done. */
  readonly signal: AbortSignal;
}

/** What {@link attach} has done. */
export interface Attachment extends AttachedApplication {
  /** How long the inspector was open, in milliseconds; undefined if it was open before, and stays so. */
  readonly inspectorMs: number | undefined;
}

/** The code that the process loads. */
const CODE = partPath("attach/target");

/** After this time the process closes its inspector itself, whatever has become of this one. */
const MAX_OPEN_MS = 10_000;

/** How long each step may take; those after the timer is set are together shorter than {@link MAX_OPEN_MS}. */
const CONNECT_TIMEOUT_MS = 2_000;
const PREPARE_TIMEOUT_MS = 2_000;
const LOAD_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Loads `target.ts` into a process that runs, by its inspector, which is closed again.
 *
 * @throws ActuatorError that says why this is not possible, and what to do
 */
export async function attach(pid: number, { signal, ...options }: AttachOptions): Promise<Attachment> {
  requireAttachable(pid, CODE);
  const open = await openInspector(pid);
  signal.throwIfAborted();
  const inspector = open ?? (await startInspector(pid));
  const [loaded] = await Promise.allSettled([load(pid, inspector, open === undefined, options, signal)]);
  if (open === undefined && !(await hasClosed(pid, inspector.port))) {
    throw stillOpen(pid, inspector.port.address, loaded);
  }
  if (loaded.status === "rejected") throw loaded.reason;
  return { ...loaded.value, inspectorMs: open === undefined ? performance.now() - inspector.startTime : undefined };
}

/** @param isOurs whether the inspector is to be closed at the end, whatever happens */
async function load(pid: number, { url }: Inspector, isOurs: boolean, options: TargetOptions, signal: AbortSignal) {
  const connection = await InspectorConnection.open(url, CONNECT_TIMEOUT_MS);
  let stay: unknown;
  try {
    stay = await connection.evaluate(isOurs ? GUARDED_STAY : STAY, PREPARE_TIMEOUT_MS, true);
    requireTarget(pid, await connection.evaluate(TARGET, PREPARE_TIMEOUT_MS));
    signal.throwIfAborted();
    const loading = connection.callOn(stay, loadingOf(options), LOAD_TIMEOUT_MS);
    return (await Promise.race([loading, rejection(signal)])) as AttachedApplication;
  } finally {
    // The answer is lost if the inspector closes.
    if (stay !== undefined) await connection.callOn(stay, END, CLOSE_TIMEOUT_MS).catch(() => undefined);
    connection.close();
  }
}

/** What runs at once, even within a loop that never ends, does as little as possible. */
const BUILTIN = "(process.getBuiltinModule ?? require)";
const TARGET = "[process.pid, process.versions.node, process.features.require_module]";
const STAY = "({ isOver: false })";
const GUARDED_STAY = `(() => {
  const { close } = ${BUILTIN}("inspector");
  const timer = ${BUILTIN}("timers").setTimeout(close, ${MAX_OPEN_MS});
  timer.unref();
  return { isOver: false, close, timer };
})()`;
const END = `function () {
  this.isOver = true;
  if (this.timer === undefined) return;
  clearTimeout(this.timer);
  this.close();
}`;

/** `import()` is not possible here. The code runs in a turn of its own, and not in the middle of the application's. */
function loadingOf(options: TargetOptions): string {
  const path = JSON.stringify(CODE);
  return `function () {
    return new Promise((resolve, reject) => setImmediate(() => {
      if (this.isOver) return;
      try {
        const require = process.getBuiltinModule("module").createRequire(${path});
        resolve(require(${path}).attach(${JSON.stringify(options)}));
      } catch (error) {
        reject(error);
      }
    }));
  }`;
}

function requireTarget(pid: number, answer: unknown): void {
  const [found, version, canRequire] = answer as readonly [number, string, boolean | undefined];
  if (found !== pid)
    throw refused("OTHER_PROCESS", `the inspector belongs to process ${found}, and not to ${pid}: try again`);
  try {
    requireNode(version);
  } catch {
    throw refused("NODE_TOO_OLD", `process ${pid} runs Node.js ${version}, and connect-actuator needs 22.12 or newer`);
  }
  if (canRequire === false) {
    throw refused(
      "NO_REQUIRE_OF_MODULES",
      `process ${pid} was started without require() of ES modules, which this needs`,
    );
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

function refused(reason: string, message: string): ActuatorError {
  return new ActuatorError("FAILED_PRECONDITION", reason, message);
}

function stillOpen(pid: number, address: string, loaded: PromiseSettledResult<unknown>): ActuatorError {
  const why =
    loaded.status === "rejected" ? ` (${loaded.reason instanceof Error ? loaded.reason.message : loaded.reason})` : "";
  const message =
    `the inspector of process ${pid} is still open at ${address}${why}: ` +
    `it closes by itself within ${MAX_OPEN_MS / 1_000} s, once the event loop is free; if it does not, end the process`;
  return new ActuatorError("UNAVAILABLE", "INSPECTOR_OPEN", message);
}
