import { EventEmitter } from "node:events";
import { types } from "node:util";
import { expectedPauseMs, hasOwnMethods, objectsBelow, prototypeOf } from "../adapters/kit/heap/heap-search.ts";
import type { HeapAnswer, HeapSearchAnswer } from "../processes/description.ts";
import { LIBRARIES, type LibraryName } from "./libraries/index.ts";
import type { Findings, Library, Undo } from "./library.ts";
import { isReplacedIn } from "./sighting.ts";

/** What a search of the heap leads to. */
export interface HeapFindings {
  readonly answer: HeapSearchAnswer;
  readonly undo: readonly Undo[];
  /** What ends to look for objects that show themselves only when they are used. */
  readonly undoLater: readonly Undo[];
  /** Why libraries that were found are not managed. */
  readonly faults: ReadonlySet<string>;
}

/** A class of a library that was found in the heap. */
interface FoundClass {
  readonly library: LibraryName;
  readonly name: string;
  readonly prototype: object;
}

const libraries = Object.entries(LIBRARIES) as [LibraryName, Library][];

/** Predicts how long {@link searchHeap} stops this process. */
export function heapAnswer(): HeapAnswer {
  return { expectedPauseMs: expectedPauseMs() };
}

/**
 * Searches the heap for what libraries have made, and manages it: once, and a second time for the objects of those whose classes are no
 * event emitters of Node.js. Classes that no file of a package has shown are watched from then on.
 *
 * @throws ActuatorError FAILED_PRECONDITION (NO_HEAP_SEARCH) if the inspector of Node.js is missing or forbidden.
 */
export function searchHeap(findings: Findings, path: string): HeapFindings {
  const began = performance.now();
  const first = objectsBelow(Function.prototype, EventEmitter.prototype);
  const classes = [...new Set(first.flatMap((each) => [each, prototypeOf(each) ?? each]))].flatMap(classesAt);
  const [one, ...others] = classes.filter(isApart).map(({ prototype }) => prototype);
  const objects = one === undefined ? first : [...first, ...objectsBelow(one, ...others)];
  const pauseMs = Math.round(performance.now() - began);

  const undo: Undo[] = [];
  const undoLater: Undo[] = [];
  const faults = new Set<string>();
  const attempt = <Result>(library: string, attempted: () => Result): Result | undefined => {
    try {
      return attempted();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      faults.add(`what the heap has of ${library} is not managed: ${reason}`);
      return undefined;
    }
  };
  for (const { library, name, prototype } of classes) {
    if (isReplacedIn(prototype)) continue;
    const { watch, meet, recognize, inHeap }: Library = LIBRARIES[library];
    attempt(library, () => {
      const exports = inHeap?.exports?.(prototype, name) ?? { [name]: { prototype } };
      undo.push(watch(exports, findings, path));
      if (recognize === undefined && meet !== undefined) undoLater.push(meet(exports, findings, path));
    });
  }
  const counts: Record<string, number> = {};
  for (const object of made(objects)) {
    const recognized = libraries.find(
      ([library, { recognize, inHeap }]) =>
        recognize !== undefined &&
        (inHeap === undefined ||
          classes.some((each) => each.library === library && inherits(object, each.prototype))) &&
        attempt(library, () => recognize(object, findings, path)),
    );
    if (recognized !== undefined) counts[recognized[0]] = (counts[recognized[0]] ?? 0) + 1;
  }
  return { answer: { pauseMs, found: counts }, undo, undoLater, faults };
}

function classesAt(prototype: object): FoundClass[] {
  return libraries.flatMap(([library, { inHeap }]) =>
    Object.entries(inHeap?.classes ?? {})
      .filter(([, methods]) => hasOwnMethods(prototype, methods))
      .map(([name]) => ({ library, name, prototype })),
  );
}

/** The objects without the functions and the prototypes among them, parents before their children. */
function made(objects: readonly object[]): readonly object[] {
  const depths = new Map<object, number>();
  for (const object of objects) {
    if (typeof object === "function" || types.isProxy(object) || Object.hasOwn(object, "constructor")) continue;
    depths.set(object, depth(object));
  }
  return [...depths.keys()].sort((one, other) => depths.get(one)! - depths.get(other)!);
}

function depth(object: object): number {
  let count = 0;
  for (let at: unknown = object; at !== null; at = Object.getPrototypeOf(at)) count++;
  return count;
}

function isApart({ library, prototype }: FoundClass): boolean {
  const { recognize }: Library = LIBRARIES[library];
  return recognize !== undefined && !inherits(prototype, EventEmitter.prototype);
}

function inherits(object: object, prototype: object): boolean {
  return Object.prototype.isPrototypeOf.call(prototype, object);
}
