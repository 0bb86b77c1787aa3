import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { Attachment } from "../attach/attach.ts";
import { ActuatorError } from "../common/error.ts";
import { printable, printableJson } from "../common/printable.ts";
import { runtimeFolders } from "../processes/runtime-folder.ts";
import { CliError, EXIT, type ExitCode } from "./error.ts";
import { Interruption } from "./interruption.ts";
import { examples, type GlobalOptions } from "./options.ts";
import { note, print, printDetails, StatusLine } from "./output.ts";

const NOTES = `

The process gets SIGUSR1, which starts its inspector at 127.0.0.1:9229. Through it
the process loads connect-actuator, and the inspector is closed again, usually
within half a second. Linux only, and only processes of your own user. A handler
for SIGUSR1 in the application runs, and prevents it. Loggers, stores and queues
that exist already are shown when they are next used, or found by --search-heap,
which is the only way for those of a bundle: it stops the process for about 13 ms
per MB of its heap, 20 with Node.js 22, and says how long before.`;

interface AttachOptions extends GlobalOptions {
  readonly searchHeap?: boolean;
  readonly yes?: boolean;
}

/** A process that is managed. */
interface Managed {
  readonly socket: string;
  /** What is printed with `--json`. */
  readonly json: object;
  readonly show: (isSearched: boolean) => void;
}

/** Adds `attach`. */
export function addAttachCommand(program: Command): void {
  program
    .command("attach")
    .description("manage a Node.js process that was started without connect-actuator")
    .argument("<pid>", "the process", pidOf)
    .option("--search-heap", "find what exists already, also in a bundle; stops the process meanwhile")
    .option("-y, --yes", "do not ask before the heap is searched")
    .addHelpText(
      "after",
      examples(
        ["attach 4711", "then: connect-actuator loggers list --pid 4711"],
        ["attach 4711 --search-heap", "says how long that stops the process, and asks"],
        ["attach 1", "in a container: docker exec <container> npx connect-actuator attach 1"],
      ) + NOTES,
    )
    .action(async (pid: number, _, command: Command) => {
      process.exitCode = await attachAndSearch(pid, command.optsWithGlobals<AttachOptions>());
    });
}

async function attachAndSearch(pid: number, options: AttachOptions): Promise<ExitCode | number> {
  const { json } = options;
  const heap = options.searchHeap ? await import("./search-heap.ts") : undefined;
  heap?.requireConsent(options);
  const managed = await attachTo(pid);
  if (typeof managed === "number") return managed;
  if (!json) managed.show(heap !== undefined);
  const search = await heap?.searchHeap(pid, managed.socket, options);
  if (json) print(printableJson({ ...managed.json, ...(search && { heap: search }) }, 2));
  else if (search !== undefined) print(heap!.heapSearchText(search));
  return EXIT.ok;
}

/** Returns the exit code for a signal if one has interrupted it. */
async function attachTo(pid: number): Promise<Managed | number> {
  const interruption = new Interruption();
  // A stopped command would hold the inspector, and the process waits for it.
  process.on("SIGTSTP", ignore);
  try {
    const { socketAt } = await import("../processes/sockets.ts");
    // It was attached to or preloaded, and has found something.
    const socket = await socketAt({ pid, thread: 0 });
    if (socket !== undefined) {
      const show = () => print(`process ${pid} is managed already, at ${printable(socket)}`);
      return { socket, json: { pid, isManagedAlready: true, socket }, show };
    }
    const { attach } = await import("../attach/attach.ts");
    const status = new StatusLine(() => `attaching to process ${pid}; Ctrl-C closes its inspector`);
    const options = { who: operator(), signal: interruption.signal };
    const attachment = await attach(pid, options).finally(() => status.close());
    return {
      socket: attachment.socket,
      json: { pid, ...attachment },
      show: (isSearched) => show(pid, attachment, isSearched),
    };
  } catch (error) {
    const isOpen = error instanceof ActuatorError && error.reason === "INSPECTOR_OPEN";
    if (interruption.exitCode !== undefined && !isOpen) {
      note(
        `connect-actuator: interrupted; the inspector of process ${pid} is closed, and connect-actuator ps says whether it is managed`,
      );
      return interruption.exitCode;
    }
    if (!(error instanceof ActuatorError)) throw error;
    throw new CliError(EXIT.refused, `cannot attach: ${printable(error.message)}`);
  } finally {
    process.off("SIGTSTP", ignore);
    interruption.close();
  }
}

function ignore(): void {}

const TRY_SEARCH = ": attach again with --search-heap to find what they made";

function show(pid: number, attachment: Attachment, isSearched: boolean): void {
  const { libraries, unseen, bundled, socket, inspectorMs } = attachment;
  const inspector =
    inspectorMs === undefined
      ? "its inspector was open before, and stays open"
      : `its inspector was open for ${Math.round(inspectorMs)} ms`;
  const rows = (label: string, all: Attachment["libraries"]) =>
    all.map(({ library, path }, at) => [at === 0 ? label : "", printable(`${library} (${path})`)] as const);
  printDetails(`process ${pid} is managed; ${inspector}`, 12, [
    ...rows("libraries", libraries),
    ...rows("not seen", unseen),
    ["socket", printable(socket)],
  ]);
  if (bundled.length > 0)
    note(`the application is a bundle with ${printable(bundled.join(", "))} inside${isSearched ? "" : TRY_SEARCH}`);
  else if (libraries.length === 0) note("it has loaded none of the libraries that are recognised yet");
  else if (!isSearched) note("what the application has made before is shown when it is next used");
  const isListed = runtimeFolders().includes(dirname(socket));
  note(`next: connect-actuator loggers list ${isListed ? `--pid ${pid}` : `--url unix:${printable(socket)}`}`);
}

/** Who attaches: the user, and the one that logged in if that is another, as with sudo. */
function operator(): string {
  const uid = `uid ${process.getuid?.()}`;
  try {
    const login = Number(readFileSync("/proc/self/loginuid", "utf8"));
    return login === NO_LOGIN || login === process.getuid?.() ? uid : `${uid}, logged in as uid ${login}`;
  } catch {
    return uid;
  }
}

/** `-1` of the kernel. */
const NO_LOGIN = 2 ** 32 - 1;

function pidOf(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give the number of a process, as ps or pgrep -a node prints it.");
}
