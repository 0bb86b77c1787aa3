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

/** One line, whatever the error: a stack holds paths of the machine, and a line break could forge a line of the log, or a control of direction turn one around. */
export function reportError(error: unknown, context: string): void {
  const line = `connect-actuator: ${context}: ${error}`;
  console.error(line.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").slice(0, 1_000));
}
