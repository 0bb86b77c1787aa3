/** The sample cannot start as it was asked to; the message says why, and which option helps. */
export class StartError extends Error {
  override readonly name = "StartError";
}
