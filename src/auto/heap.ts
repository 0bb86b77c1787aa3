import { EventEmitter } from "node:events";
import { types } from "node:util";
import { hasOwnMethods, objectsBelow, prototypeOf } from "../adapters/kit/heap/heap-search.ts";
import { LIBRARIES, type LibraryName } from "./libraries/index.ts";
import type { Library } from "./library.ts";

/** A class of a library that was found in the heap. */
export interface ClassInHeap {
  readonly library: LibraryName;
  readonly prototype: object;
  /** What the library exports of it. */
  readonly exports: object;
  /** What inherits from the prototype, parents before their children. */
  readonly objects: readonly object[];
}

/** What a search of the heap finds. */
export interface HeapFindings {
  readonly classes: readonly ClassInHeap[];
  /** How long it stopped the process. */
  readonly pauseMs: number;
}

/**
 * Searches the heap for all libraries that are recognised there: once, and a second time for the objects of those whose classes are no
 * event emitters of Node.js.
 *
 * @throws ActuatorError FAILED_PRECONDITION (NO_HEAP_SEARCH) if the inspector of Node.js is missing or forbidden.
 */
export function searchHeap(): HeapFindings {
  const began = performance.now();
  const first = objectsBelow(Function.prototype, EventEmitter.prototype);
  const classes = [...new Set(first.map((each) => prototypeOf(each) ?? each))].flatMap(classesAt);
  const apart = classes.filter(
    ({ isSearched, prototype }) => isSearched && !inherits(prototype, EventEmitter.prototype),
  );
  const [one, ...others] = apart.map(({ prototype }) => prototype);
  const objects = one === undefined ? first : [...first, ...objectsBelow(one, ...others)];
  const pauseMs = Math.round(performance.now() - began);
  return { classes: classes.map((each) => ({ ...each, objects: objectsOf(each.prototype, objects) })), pauseMs };
}

function classesAt(prototype: object): (Omit<ClassInHeap, "objects"> & { readonly isSearched: boolean })[] {
  return (Object.entries(LIBRARIES) as [LibraryName, Library][]).flatMap(([library, { inHeap, recognize }]) => {
    const names = Object.keys(inHeap?.classes ?? {}).filter((name) => hasOwnMethods(prototype, inHeap!.classes[name]!));
    return names.map((name) => {
      const exports = inHeap!.exports?.(prototype, name) ?? { [name]: { prototype } };
      return { library, prototype, exports, isSearched: recognize !== undefined };
    });
  });
}

function objectsOf(prototype: object, all: readonly object[]): readonly object[] {
  const depths = new Map(
    all.filter((each) => inherits(each, prototype) && !isPrototype(each)).map((each) => [each, depth(each)]),
  );
  return [...depths.keys()].sort((one, other) => depths.get(one)! - depths.get(other)!);
}

function inherits(object: object, prototype: object): boolean {
  return !types.isProxy(object) && Object.prototype.isPrototypeOf.call(prototype, object);
}

function isPrototype(object: object): boolean {
  return Object.hasOwn(object, "constructor");
}

function depth(object: object): number {
  let count = 0;
  for (let at: unknown = object; at !== null; at = Object.getPrototypeOf(at)) count++;
  return count;
}
