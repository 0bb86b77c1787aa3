import { printable } from "../common/printable.ts";
import type { HeapAnswer, HeapSearchAnswer } from "../processes/description.ts";
import { CliError, EXIT } from "./error.ts";
import { canAsk, confirmed } from "./input.ts";
import { note } from "./output.ts";
import { answerOf } from "./process-answer.ts";

/** How a search of the heap is started. */
export interface HeapSearchOptions {
  /** Whether the search is not asked about. */
  readonly yes?: boolean | undefined;
  /** How long to wait for an answer, besides the pause. */
  readonly timeout: number;
}

/** What a search of the heap of a process has shown. */
export interface HeapSearch {
  readonly expectedPauseMs: number;
  readonly pauseMs: number;
  readonly found: Readonly<Record<string, number>>;
}

/** A process that has much else to do pauses longer. */
const PATIENCE = 10;

/** @throws CliError before anything is done, if the operator cannot agree to the pause. */
export function requireConsent({ yes }: HeapSearchOptions): void {
  if (yes || canAsk()) return;
  throw new CliError(
    EXIT.usage,
    "--search-heap stops the process for a time: without a terminal, agree to it by --yes",
  );
}

/** Says how long the search stops the process, asks, and searches. Resolves to undefined if the operator does not agree. */
export async function searchHeap(
  pid: number,
  socket: string,
  options: HeapSearchOptions,
): Promise<HeapSearch | undefined> {
  const { LINES } = await import("../processes/description.ts");
  const { expectedPauseMs = 0 } = await ask<HeapAnswer>(pid, socket, LINES.heap, options.timeout);
  // Some libraries need a second search.
  const time = `${secondsOf(expectedPauseMs)} to ${secondsOf(expectedPauseMs * 2)} of CPU`;
  const pause = `the search of its heap stops process ${pid} for about ${time}`;
  if (options.yes) note(pause);
  else if (!(await confirmed(`${pause}: search it?`))) return undefined;
  const patience = options.timeout + expectedPauseMs * PATIENCE;
  const { pauseMs = 0, found = {} } = await ask<HeapSearchAnswer>(pid, socket, LINES.searchHeap, patience);
  return { expectedPauseMs, pauseMs, found };
}

/** One line for an operator. */
export function heapSearchText({ pauseMs, found }: HeapSearch): string {
  const objects = Object.entries(found).map(([library, count]) => `${printable(library)} ${count}`);
  return `paused for ${secondsOf(pauseMs)}; found ${objects.length > 0 ? objects.join(", ") : "nothing that can be managed"}`;
}

function secondsOf(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

async function ask<Answer extends object>(
  pid: number,
  socket: string,
  line: string,
  timeoutMs: number,
): Promise<Answer> {
  const answer = await answerOf<Answer>(pid, socket, line, timeoutMs);
  if (answer.error === undefined) return answer;
  throw new CliError(EXIT.refused, `the heap of process ${pid} is not searched: ${printable(String(answer.error))}`);
}
