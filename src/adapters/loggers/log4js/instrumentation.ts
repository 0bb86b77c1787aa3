import type { NativeCategories, NativeCategory, NativeLevel } from "./native.ts";

/** What is told to each adapter that watches the categories of a copy of log4js. */
export interface CategoriesObserver {
  /** A category has come: by configuration, or as a copy of the one above it when somebody first asked for it. */
  categorySet(name: string, category: NativeCategory): void;
  /** A level was set on a logger of the category, by application code or by {@link pushLevel}. */
  levelSet(name: string, category: NativeCategory): void;
}

interface Instrumentation {
  readonly observers: Set<CategoriesObserver>;
  restore(): void;
}

const instrumentations = new WeakMap<NativeCategories, Instrumentation>();

/**
 * Observes the categories of a copy of log4js and the levels set on them, until the returned function is called. Nothing
 * of it runs when a record is written.
 */
export function observeCategories(categories: NativeCategories, observer: CategoriesObserver): () => void {
  const instrumentation = instrumentations.get(categories) ?? instrument(categories);
  instrumentation.observers.add(observer);
  return () => {
    instrumentation.observers.delete(observer);
    if (instrumentation.observers.size === 0) instrumentation.restore();
  };
}

/** Sets the level of a category that exists, and tells every observer. */
export function pushLevel(categories: NativeCategories, name: string, level: NativeLevel): void {
  const category = categories.get(name);
  if (category === undefined || category.level === level) return;
  category.level = level;
  for (const observer of instrumentations.get(categories)?.observers ?? []) observer.levelSet(name, category);
}

function instrument(categories: NativeCategories): Instrumentation {
  const observers = new Set<CategoriesObserver>();
  const before = Object.getOwnPropertyDescriptor(categories, "setLevelForCategory")!;
  const original: NativeCategories["setLevelForCategory"] = before.value;

  const set: NativeCategories["set"] = (name, category) => {
    Map.prototype.set.call(categories, name, category);
    for (const observer of observers) observer.categorySet(name, category);
    return categories;
  };
  const setLevelForCategory: typeof original = (name, level) => {
    original(name, level);
    const category = categories.get(name);
    if (category !== undefined) for (const observer of observers) observer.levelSet(name, category);
  };

  Object.defineProperty(categories, "set", { value: set, configurable: true, writable: true });
  Object.defineProperty(categories, "setLevelForCategory", { ...before, value: setLevelForCategory });
  const instrumentation: Instrumentation = {
    observers,
    restore() {
      instrumentations.delete(categories);
      if (categories.set === set) Reflect.deleteProperty(categories, "set");
      if (categories.setLevelForCategory === setLevelForCategory) {
        Object.defineProperty(categories, "setLevelForCategory", before);
      }
    },
  };
  instrumentations.set(categories, instrumentation);
  return instrumentation;
}
