import type { Command } from "commander";
import { printable, printableJson } from "../common/printable.ts";
import type { ListedProcess, ProcessList } from "../processes/process-list.ts";
import { placeText } from "../processes/socket-name.ts";
import { examples, type GivenOptions } from "./options.ts";
import { note, print, styled } from "./output.ts";
import { NO_PROCESS, processLines } from "./process-table.ts";

const COLUMNS = `

PID is 4711, or 4711-2 for thread 2 of it, as --pid takes it; NAME is what --name
takes. Lines that begin with ! say what to know of a process. Sockets of processes
that have ended are removed.`;

/** Adds `ps`. */
export function addPsCommand(program: Command): void {
  program
    .command("ps")
    .description("list the processes of this user on this machine that have an actuator")
    .addHelpText(
      "after",
      examples(
        ["ps", "what runs, what it shows and where it listens"],
        ["ps --name shop", "only those with this name"],
        ["ps --json", "with the paths of the sockets, for curl --unix-socket"],
      ) + COLUMNS,
    )
    .action(async (_, command: Command) => {
      const { listProcesses } = await import("../processes/process-list.ts");
      const { DESCRIBE_TIMEOUT_MS } = await import("./addressing.ts");
      const options = command.optsWithGlobals<GivenOptions>();
      showProcesses(await listProcesses(Math.min(options.timeout, DESCRIBE_TIMEOUT_MS)), options);
    });
}

function showProcesses({ processes: all, faults }: ProcessList, { json, pid, name }: GivenOptions): void {
  for (const fault of faults) note(printable(fault));
  const processes = all.filter(
    (each) => (pid === undefined || each.pid === pid.pid) && (name === undefined || each.description?.name === name),
  );
  if (json) print(printableJson({ processes: processes.map(jsonOf) }, 2));
  else if (processes.length === 0) note(all.length === 0 ? NO_PROCESS : "no such process");
  else {
    print(processLines(processes).join("\n"));
    for (const process of processes) {
      for (const text of noticesOf(process)) print(styled("yellow", `! ${placeText(process)}: ${printable(text)}`));
    }
  }
}

function noticesOf({ fault, description }: ListedProcess): readonly string[] {
  return fault === undefined ? (description?.notices ?? []) : [fault];
}

function jsonOf({ pid, thread, path, description, fault }: ListedProcess): object {
  if (description === undefined) return { pid, thread, socket: path, fault };
  const { startTime, ...rest } = description;
  return { ...rest, startTime: new Date(startTime).toISOString(), socket: path };
}
