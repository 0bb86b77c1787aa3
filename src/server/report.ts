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

/**
 * Says it on the standard error, in one line whatever the error is: without its stack, which holds paths of this machine, and
 * without characters that could forge a second line or turn this one around.
 */
export function reportError(error: unknown, context: string): void {
  const line = `connect-actuator: ${context}: ${error}`;
  console.error(line.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").slice(0, 1_000));
}
