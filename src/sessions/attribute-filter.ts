/** Which names of attributes are shown; compared exactly, a character for a character. */
export interface AttributeNamesOptions {
  /** Only these are shown. Default: all. */
  readonly allow?: readonly string[] | undefined;
  /** These are not shown, even where `allow` has them. */
  readonly deny?: readonly string[] | undefined;
}

/** Leaves of the names those that may be shown. */
export type AttributeFilter = (names: readonly string[]) => readonly string[];

/** The filter of these options. */
export function attributeFilter({ allow, deny = [] }: AttributeNamesOptions = {}): AttributeFilter {
  if (allow === undefined && deny.length === 0) return (names) => names;
  const allowed = allow && new Set(allow);
  const denied = new Set(deny);
  return (names) => names.filter((name) => allowed?.has(name) !== false && !denied.has(name));
}
