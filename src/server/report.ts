import type { ServerErrorHandler } from "./guard.ts";

/** What hears of errors must not make new ones: from inside a promise they would end the process. */
export function careful(onError: ServerErrorHandler): ServerErrorHandler {
  return (error, context) => {
    try {
      onError(error, context);
    } catch (failure) {
      reportError(error, context);
      reportError(failure, "onError");
    }
  };
}

/** One line, whatever the error: a stack holds paths of the machine, and a line break could forge a line of the log. */
export function reportError(error: unknown, context: string): void {
  const line = `connect-actuator: ${context}: ${error}`;
  console.error(line.replace(/[\x00-\x1f\x7f\u2028\u2029]+/g, " ").slice(0, 1_000));
}
