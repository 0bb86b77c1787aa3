/** More subscriptions than that are not looked through again with each that comes. */
const FEW = 200;
/** In milliseconds. */
const PAUSE = 100;

/**
 * `look`, which looks through all there is and says how much that was: at once as long as it is little, else once for all that
 * comes within a pause. A client may have thousands of subscriptions.
 */
export function paced(look: () => number): () => void {
  let size = 0;
  let isWaiting = false;
  function run(): void {
    isWaiting = false;
    size = look();
  }
  return () => {
    if (isWaiting) return;
    if (size <= FEW) {
      run();
      return;
    }
    isWaiting = true;
    setTimeout(run, PAUSE).unref();
  };
}
