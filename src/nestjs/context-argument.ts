const MAX_LENGTH = 100;

/** What contexts look like: the name of a class, or a few words or names. Others are more likely part of a message. */
const CONTEXT = /^[A-Za-z_$][\w$]*(?:[ .:/-][\w$]+)*$/;

/**
 * The context among the arguments of a call, as Nest finds it: the last one, if it is a text, or the one before a stack.
 * The first argument is the message.
 */
export function contextArgument(args: readonly unknown[]): string | undefined {
  for (let index = args.length - 1; index >= 1 && index >= args.length - 2; index--) {
    const text = args[index];
    if (typeof text !== "string") return undefined;
    if (!text.includes("\n")) return text;
  }
  return undefined;
}

/**
 * Whether a text that was found as {@link contextArgument} is one to show as a logger. Nest takes the last text of
 * `logger.log("signed in", userId)` for a context too.
 */
export function isContextName(text: string): boolean {
  return text.length <= MAX_LENGTH && CONTEXT.test(text);
}
