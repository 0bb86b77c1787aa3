/** How many libraries are handing records to their destinations right now. */
let depth = 0;
/** The text that a library has prepared last. */
let announced: unknown;

/**
 * Calls what hands a record of a heard library to its destinations. What is written to the console meanwhile is that record and is not
 * heard once more.
 */
export function handOver<Result>(call: () => Result): Result {
  depth++;
  try {
    return call();
  } finally {
    depth--;
  }
}

/** Says that a heard library will write this text, for libraries whose writing itself cannot be seen. */
export function announce(text: unknown): void {
  announced = text;
}

/** Whether a call of the console with these arguments writes a record of a heard library. */
export function isHandedOver(args: readonly unknown[]): boolean {
  return depth > 0 || (typeof announced === "string" && args[0] === announced);
}
