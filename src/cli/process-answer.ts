import { ActuatorError } from "../common/error.ts";
import { CliError, EXIT } from "./error.ts";

/**
 * Sends a line of `description.ts` to the socket of a process. Resolves to its answer, whose fields are not checked.
 *
 * @param process how it is written in messages, such as `4711`
 * @throws CliError if it does not answer.
 */
export async function answerOf<Answer extends object>(
  process: number | string,
  socket: string,
  line: string,
  timeoutMs: number,
): Promise<Answer & { readonly error?: unknown }> {
  const { answerTo } = await import("../processes/line-client.ts");
  try {
    return ((await answerTo(socket, line, timeoutMs)) ?? {}) as Answer;
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    throw new CliError(EXIT.unreachable, `process ${process} ${error.message}`);
  }
}
