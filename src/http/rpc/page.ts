import { ActuatorError } from "../../common/error.ts";

/** What bounds a page. */
export interface PageLimits {
  /** The greatest number of elements. */
  readonly size: number;
  /** The greatest number of bytes on the wire. */
  readonly bytes: number;
}

/**
 * Takes elements until a limit is reached, but at least one. `more` says that some are left.
 *
 * @param wireBytes at least as many bytes as the element takes on the wire
 */
export function takePage<T>(
  elements: Iterable<T>,
  limits: PageLimits,
  wireBytes: (element: T) => number,
): { readonly elements: readonly T[]; readonly more: boolean } {
  const taken: T[] = [];
  let bytes = 0;
  for (const element of elements) {
    bytes += wireBytes(element);
    if (taken.length > 0 && (taken.length >= limits.size || bytes > limits.bytes))
      return { elements: taken, more: true };
    taken.push(element);
  }
  return { elements: taken, more: false };
}

/**
 * The size of a page from a request: `whenUnset` for 0, and never over `max`.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a negative size.
 */
export function pageSizeFrom(pageSize: number, whenUnset: number, max: number): number {
  if (pageSize < 0) {
    const message = "The page size is negative.";
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_PAGE_SIZE", message, { field: "page_size" });
  }
  return Math.min(pageSize === 0 ? whenUnset : pageSize, max);
}

/** At least as many bytes as a string field takes in protobuf: text, tag and length. */
export function stringWireBytes(text: string): number {
  return Buffer.byteLength(text) + 6;
}
