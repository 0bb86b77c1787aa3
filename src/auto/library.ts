import type { GraphAdapter } from "../integration-graph/adapter.ts";
import type { LoggerAdapter } from "../loggers/adapter.ts";
import type { SessionStore } from "../sessions/store.ts";

/** Leaves what was patched as it was. */
export type Undo = () => void;

/** Takes the objects that libraries make. None of its methods throws. */
export interface Findings {
  /** Manages the loggers of a library. */
  loggers(adapter: LoggerAdapter): void;
  /** Shows the sessions in `store`, the object of the library; `make` is not called if they are shown already. */
  store(store: object, make: () => SessionStore): void;
  /**
   * Draws what an adapter observes into the integration graph. The adapter gives its objects up for one of the application's own.
   *
   * @returns a function that takes it out before the others
   */
  messaging(adapter: GraphAdapter): Undo;
  /**
   * The name of a root logger that has none itself: undefined for the first of its library, which is ROOT. Further ones are named after
   * the code that makes them now: its package, or its path in the application, such as `payments.log` for `src/payments/log.js`.
   *
   * @param path a path or URL in the package of the library, whose own code does not count
   */
  rootName(library: string, path: string): string | undefined;
  /** Calls `see`; if it throws, everything is taken out of the application again, and one line on the standard error says why. */
  carefully(see: () => void): void;
}

/** How the objects of a library are found, in place: exports are not replaced, and every patch is undone exactly. */
export interface Library {
  /**
   * Watches what one copy of the library makes from now on. Called once with the exports of each watched file, before the application
   * gets them.
   *
   * @param path the path or URL of the file
   */
  watch(exports: object, findings: Findings, path: string): Undo;
  /**
   * Watches for objects that exist already, at methods that are called when they are used: for a process that is attached to. They are undone
   * after a while, so they may cost a little at each call. Left out where {@link watch} sees them as well.
   */
  meet?(exports: object, findings: Findings, path: string): Undo;
  /** Takes an object found in the heap, of one of the classes of {@link inHeap} if there are any. Returns whether it has taken it. */
  recognize?(object: object, findings: Findings, path: string): boolean;
  /** How its classes are told in the heap, also in a bundle, where no file says what a class is. */
  readonly inHeap?: InHeap;
}

/** What of a library is found in the heap. */
export interface InHeap {
  /** By the name of a class: methods that its prototype, or the function itself, has itself, and no other one has. */
  readonly classes: Readonly<Record<string, readonly string[]>>;
  /** Makes what {@link Library.watch} takes. Default: `{ [name]: { prototype } }`. */
  exports?(prototype: object, name: string): object;
}
