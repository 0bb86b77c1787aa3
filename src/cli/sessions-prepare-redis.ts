import type { PrepareRedisOptions } from "../adapters/sessions/connect-redis/prepare.ts";
import { EXIT } from "./exit-code.ts";
import { Interruption } from "./interruption.ts";
import { note, print } from "./output.ts";
import { printable, printableJson } from "./printable.ts";
import type { PrepareOptions } from "./sessions-prepare-options.ts";
import { sessionCount } from "./sessions-text.ts";
import { StatusLine } from "./status-line.ts";

type FillProgress = Parameters<NonNullable<PrepareRedisOptions["onProgress"]>>[0];

/**
 * Fills the index of a store of connect-redis with the sessions that are there. Answers the exit code: 1 where the index
 * is not complete after all, that of the signal after Ctrl-C, which the next run goes on after.
 */
export async function prepareRedis(
  url: string,
  { prefix, indexPrefix, principal, ttl, restart, dryRun = false, timeout, json }: PrepareOptions,
): Promise<number> {
  const { prepareRedisSessions } = await import("../adapters/sessions/connect-redis/prepare.ts");
  const interruption = new Interruption();
  let progress: FillProgress | undefined;
  const status = new StatusLine(() => `${progress === undefined ? "reading" : read(progress)}; Ctrl-C breaks off`);
  try {
    const result = await prepareRedisSessions({
      ...{ redis: url, prefix, indexPrefix, principal, ttl, restart, dryRun, timeout },
      signal: interruption.signal,
      onProgress: (now) => {
        progress = now;
      },
    });
    status.close();
    const { next, ...counts } = result;
    if (json) print(printableJson(counts, 2));
    else print(`${dryRun ? "found" : "indexed"} ${read(result)}`);
    if (interruption.exitCode !== undefined && next !== undefined) {
      note(dryRun ? "Broken off." : "Broken off: the next run goes on here.");
      return interruption.exitCode;
    }
    if (result.keys === 0) {
      note(
        `No key begins with ${printable(prefix ?? "sess:")} there: --prefix says what those of the store begin with.`,
      );
    }
    if (dryRun) note("Nothing was written.");
    else if (result.complete)
      note("Searches now find them all, where every process that writes sessions keeps the index.");
    else {
      note(
        "The index is not complete: a write to it failed meanwhile, or a process writes sessions without it. Run this again.",
      );
      return EXIT.refused;
    }
    return EXIT.ok;
  } finally {
    status.close();
    interruption.close();
  }
}

function read({ sessions, users }: FillProgress): string {
  return `${sessionCount(sessions)}, ${users.toLocaleString("en")} with a user`;
}
