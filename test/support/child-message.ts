import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** The next message of a process. Rejects if it ends before it sends one, so that the test does not wait for a dead process. */
export async function messageOf<T>(child: ChildProcess): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  const end =
    child.exitCode === null && child.signalCode === null ? once(child, "close", { signal }) : Promise.resolve();
  const ended = end.then(() => {
    throw new Error(`the process ended with ${child.exitCode ?? child.signalCode} and said nothing`);
  });
  try {
    return await Promise.race([once(child, "message", { signal }).then(([message]) => message as T), ended]);
  } finally {
    over.abort();
  }
}
