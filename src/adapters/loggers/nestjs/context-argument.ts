const MAX_LENGTH = 100;

/** What contexts look like: the name of a class, or a few words or names. Others are more likely part of a message. */
const CONTEXT = /^[A-Za-z_$][\w$]*(?:[ .:/-][\w$]+)*$/;

/** The last argument after the message. This and the one before are taken out so that the compiler need not keep the list. */
export function last(rest: readonly unknown[]): unknown {
  return rest.length > 0 ? rest[rest.length - 1] : undefined;
}

/** The argument before the last one. */
export function beforeLast(rest: readonly unknown[]): unknown {
  return rest.length > 1 ? rest[rest.length - 2] : undefined;
}

/** The context of a record, as Nest finds it: the last argument, if it is a text, or the one before a stack. */
export function contextArgument(lastOne: unknown, oneBefore: unknown): string | undefined {
  if (typeof lastOne !== "string") return undefined;
  if (!lastOne.includes("\n")) return lastOne;
  return typeof oneBefore === "string" && !oneBefore.includes("\n") ? oneBefore : undefined;
}

/**
 * Whether a text that was found as {@link contextArgument} is one to show as a logger. Nest takes the last text of
 * `logger.log("signed in", userId)` for a context too.
 */
export function isContextName(text: string): boolean {
  return text.length <= MAX_LENGTH && CONTEXT.test(text);
}
