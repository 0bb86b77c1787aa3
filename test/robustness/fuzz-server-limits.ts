/** How many loggers callers of the fuzzed server may bring into being. */
export const MAX_CREATED = 500;
