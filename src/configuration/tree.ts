/** Options as a tree of plain objects. */
export type Tree = Readonly<Record<string, unknown>>;
