/** How many libraries are handing records to their destinations right now. */
let depth = 0;

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

/** Whether a heard library is handing over a record. */
export function isHandingOver(): boolean {
  return depth > 0;
}
