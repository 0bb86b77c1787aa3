/**
 * Ends a process gracefully: on the first of the `signals` it runs `end` and then lets the process exit.
 *
 * From then on the signal means what it would without this, so that a second one ends the process at once. A process with
 * nothing left to do exits by itself. If something still runs and there was no other listener for the signal, it is sent again,
 * as it would have ended the process without this function.
 *
 * @returns a function that stops listening
 */
export function endOnSignals(signals: readonly NodeJS.Signals[], end: () => Promise<void>): () => void {
  const stop = () => {
    for (const signal of signals) process.removeListener(signal, receive);
  };
  function receive(signal: NodeJS.Signals): void {
    stop();
    const alone = process.listenerCount(signal) === 0;
    end().finally(() => alone && sendAgain(signal));
  }
  // Prepended, because a `once` listener of the application that was called before could no longer be seen.
  for (const signal of signals) process.prependListener(signal, receive);
  return stop;
}

/** The timer fires only if something else keeps the process alive. */
function sendAgain(signal: NodeJS.Signals): void {
  setTimeout(() => process.kill(process.pid, signal), 100).unref();
}
