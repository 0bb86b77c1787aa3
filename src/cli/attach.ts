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
import { note, print, printDetails } from "./output.ts";

const NOTES = `
The process gets SIGUSR1, which starts its inspector at 127.0.0.1:9229. Through it
the process loads connect-actuator, and the inspector is closed again, usually
within half a second. Linux only, and only processes of your own user. A handler
for SIGUSR1 in the application runs, and prevents it. Loggers, stores and queues
that exist already are shown when they are next used.`;

/** Adds `attach`. */
export function addAttachCommand(program: Command): void {
  program
    .command("attach")
    .description("manage a Node.js process that was started without connect-actuator")
    .argument("<pid>", "the process", pidOf)
    .addHelpText(
      "after",
      examples(
        ["attach 4711", "then: connect-actuator loggers list --pid 4711"],
        ["attach 1", "in a container: docker exec <container> npx connect-actuator attach 1"],
      ) + NOTES,
    )
    .action(async (pid: number, _, command: Command) => {
      process.exitCode = await attachTo(pid, command.optsWithGlobals<GlobalOptions>());
    });
}

async function attachTo(pid: number, { json }: GlobalOptions): Promise<ExitCode | number> {
  const interruption = new Interruption();
  // A stopped command would hold the inspector, and the process waits for it.
  process.on("SIGTSTP", ignore);
  try {
    const managed = await socketOfManaged(pid);
    if (managed !== undefined) {
      if (json) print(printableJson({ pid, isManagedAlready: true, socket: managed }, 2));
      else print(`process ${pid} is managed already, at ${printable(managed)}`);
      return EXIT.ok;
    }
    const { attach } = await import("../attach/attach.ts");
    const attachment = await attach(pid, { who: operator(), searchHeap: false, signal: interruption.signal });
    if (json) print(printableJson({ pid, ...attachment }, 2));
    else show(pid, attachment);
    return EXIT.ok;
  } catch (error) {
    if (interruption.exitCode !== undefined) {
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

/** The socket of a process that was attached to or preloaded, and has found something. */
async function socketOfManaged(pid: number): Promise<string | undefined> {
  const { findSockets, removeIfAbandoned } = await import("../processes/sockets.ts");
  const { sockets } = await findSockets();
  const socket = sockets.find((each) => each.pid === pid && each.thread === 0);
  return socket === undefined || (await removeIfAbandoned(socket.path)) ? undefined : socket.path;
}

function ignore(): void {}

function show(pid: number, { libraries, unseen, bundled, socket, inspectorMs }: Attachment): void {
  const inspector =
    inspectorMs === undefined
      ? "its inspector was open before, and stays open"
      : `its inspector was open for ${Math.round(inspectorMs)} ms`;
  const rows = (label: string, all: Attachment["libraries"]) =>
    all.map(({ library, path }, at) => [at === 0 ? label : "", `${library} (${printable(path)})`] as const);
  printDetails(`process ${pid} is managed; ${inspector}`, 12, [
    ...rows("libraries", libraries),
    ...rows("not seen", unseen),
    ["socket", printable(socket)],
  ]);
  if (bundled.length > 0) {
    note(
      `the application is a bundle with ${bundled.join(", ")} inside: attach ${pid} --search-heap finds what they made`,
    );
  } else if (libraries.length === 0) note("it has loaded none of the libraries that are recognised yet");
  else note("what the application has made before is shown when it is next used");
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
