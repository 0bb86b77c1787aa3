/** What declares nodes and links: the application, or a source. What no longer has a declarer is removed. */
export type Declarer = object;

/** The application itself, which declares through the builder. */
export const APPLICATION: Declarer = Object.freeze({ name: "application" });
