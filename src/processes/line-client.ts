import { connect } from "node:net";
import { ActuatorError } from "../common/error.ts";
import { MAX_LINE_BYTES } from "./description.ts";

/**
 * Sends one of the lines of `description.ts` to the socket of a process, and resolves to its answer, which is not checked yet.
 *
 * @throws ActuatorError UNAVAILABLE with the reason PROCESS_SILENT if there is no answer in time, PROCESS_GONE if no process listens, or
 * PROCESS_ANSWER for an answer that is not one line of JSON. The messages are the ends of sentences that begin with the process.
 */
export function answerTo(path: string, line: string, timeoutMs: number): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const socket = connect(path);
  const fail = (reason: string, message: string) => reject(new ActuatorError("UNAVAILABLE", reason, message));
  const timer = setTimeout(
    () => fail("PROCESS_SILENT", "does not answer: stopped, or its event loop is blocked"),
    timeoutMs,
  );
  const chunks: Buffer[] = [];
  let length = 0;
  const read = () => {
    const text = Buffer.concat(chunks).toString();
    const end = text.indexOf("\n");
    if (end < 0) return fail("PROCESS_ANSWER", "ends its answer too early");
    try {
      resolve(JSON.parse(text.slice(0, end)));
    } catch {
      fail("PROCESS_ANSWER", "does not answer with JSON");
    }
  };
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_LINE_BYTES) fail("PROCESS_ANSWER", `answers with more than ${MAX_LINE_BYTES} bytes`);
    else if (chunk.includes(0x0a)) read();
  });
  socket.on("end", read);
  socket.on("error", ({ code }: NodeJS.ErrnoException) =>
    code === "ECONNREFUSED" || code === "ENOENT"
      ? fail("PROCESS_GONE", "has ended")
      : fail("PROCESS_ANSWER", `cannot be asked (${code})`),
  );
  socket.write(`${line}\n`);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}
