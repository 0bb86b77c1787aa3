/**
 * A function that runs `run` one at a time. A call while a run is under way waits for a run that begins after it, so
 * that it sees what changed before it; all such calls share that run.
 */
export function oneAtATime<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  function begin(): Promise<T> {
    next = undefined;
    current = run().finally(() => {
      current = undefined;
    });
    return current;
  }

  return () => {
    // `next` first: between the end of one run and the beginning of the next there is a moment without `current`.
    if (next !== undefined) return next;
    if (current === undefined) return begin();
    next = current.then(begin, begin);
    return next;
  };
}
