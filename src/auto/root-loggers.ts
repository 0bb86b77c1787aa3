import type { LoggerAdapter } from "../loggers/adapter.ts";
import type { Findings } from "./library.ts";

/** An adapter that takes loggers one by one. */
export interface GrowingAdapter<Source> extends LoggerAdapter {
  /** Manages one more, unless it is managed already. */
  add(source: Source, unnamed: () => string | undefined, sighting?: Sighting): void;
}

/** How a logger was found. */
export interface Sighting {
  /** Whether all others that exist are found as well. */
  readonly isEachFound?: boolean;
}

/**
 * Returns a function that manages what is found of a library: the first makes the adapter and is ROOT, further ones are added to it. There
 * is one adapter for all, because each looks at every child that is made.
 *
 * @param make makes the adapter with what was found first; `name` returns the name of a root
 */
export function rootLoggers<Source>(
  library: string,
  make: (first: Source, name: () => string | undefined) => GrowingAdapter<Source>,
): (source: Source, findings: Findings, path: string, sighting?: Sighting) => void {
  const adapters = new WeakMap<Findings, GrowingAdapter<Source>>();
  return (source, findings, path, sighting) => {
    const name = () => findings.rootName(library, path);
    const known = adapters.get(findings);
    if (known !== undefined) return known.add(source, name, sighting);
    const adapter = make(source, name);
    adapters.set(findings, adapter);
    findings.loggers(adapter);
  };
}
