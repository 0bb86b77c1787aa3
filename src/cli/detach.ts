import type { Command } from "commander";
import { printable } from "../common/printable.ts";
import type { DetachAnswer } from "../processes/description.ts";
import { type Place, placeText } from "../processes/socket-name.ts";
import { CliError, EXIT } from "./error.ts";
import { examples, type GivenOptions, placeFrom } from "./options.ts";
import { print } from "./output.ts";
import { answerOf } from "./process-answer.ts";

interface DetachOptions extends GivenOptions {
  readonly keepLevels?: boolean;
}

/** Adds `detach`. */
export function addDetachCommand(program: Command): void {
  program
    .command("detach")
    .description("take everything out of a process again that was attached or preloaded")
    .argument("<pid>", "the process, as `ps` lists it", placeFrom)
    .option("--keep-levels", "levels stay as they were set; otherwise loggers get their own back")
    .addHelpText(
      "after",
      examples(
        ["detach 4711", "its loggers have their own levels again"],
        ["detach 4711 --keep-levels", "levels stay"],
      ),
    )
    .action((place: Place, _, command: Command) => detach(place, command.optsWithGlobals<DetachOptions>()));
}

/** How often is looked whether the process has removed its socket. */
const LOOK_MS = 10;

async function detach(place: Place, { keepLevels = false, json, timeout }: DetachOptions): Promise<void> {
  const { socketOf } = await import("./addressing.ts");
  const { lookAt } = await import("../common/socket-file.ts");
  const path = await socketOf(place);
  await requestDetach(path, place, keepLevels, timeout);
  for (const end = Date.now() + timeout; lookAt(path) !== undefined; ) {
    if (Date.now() > end) throw new CliError(EXIT.refused, `process ${placeText(place)} still has its socket ${path}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  if (json) print(JSON.stringify({ ...place, levels: keepLevels ? "kept" : "restored" }, null, 2));
  else print(`${placeText(place)}: detached; ${keepLevels ? "levels stay" : "loggers have their own levels again"}`);
}

async function requestDetach(path: string, place: Place, keepLevels: boolean, timeoutMs: number): Promise<void> {
  const { LINES } = await import("../processes/description.ts");
  const line = keepLevels ? LINES.detachKeeping : LINES.detachRestoring;
  const { error } = await answerOf<DetachAnswer>(placeText(place), path, line, timeoutMs);
  if (error !== undefined) throw new CliError(EXIT.refused, `${placeText(place)} stays: ${printable(String(error))}`);
}
