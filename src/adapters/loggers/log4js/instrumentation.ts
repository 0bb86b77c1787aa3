import { placeMethod } from "../../kit/interception/replaced-method.ts";
import { Instrumentation, oncePer } from "../../kit/loggers/instrumentation.ts";
import type { NativeCategories, NativeCategory, NativeLevel } from "./native.ts";

/** What an adapter learns from watching the categories of a copy of log4js. */
export interface CategoriesObserver {
  /** A category was added: by configuration, or at its first use as a copy of the one above it. */
  categorySet(name: string, category: NativeCategory): void;
  /** The application or an adapter set a level on the category. */
  levelSet(name: string, category: NativeCategory): void;
}

/** The instrumentation of a copy's categories, which all adapters share. */
export const categoriesInstrumentation = oncePer(
  (categories: NativeCategories) => new CategoriesInstrumentation(categories),
);

/** Watches the categories of a copy of log4js and the levels set on them. Nothing runs when a record is written. */
class CategoriesInstrumentation extends Instrumentation<CategoriesObserver> {
  readonly #categories: NativeCategories;

  constructor(categories: NativeCategories) {
    super();
    this.#categories = categories;
  }

  /** Sets the level of a category, if log4js has it, and tells every observer. */
  pushLevel(name: string, level: NativeLevel): void {
    const category = this.#categories.get(name);
    if (category === undefined || category.level === level) return;
    category.level = level;
    for (const observer of this.observers) observer.levelSet(name, category);
  }

  protected install(): () => void {
    const categories = this.#categories;
    const { observers } = this;
    const restoreSetLevel = placeMethod(categories, "setLevelForCategory", (original) => {
      return function (this: unknown, ...values) {
        original.apply(this, values);
        const name = values[0] as string;
        const category = categories.get(name);
        if (category !== undefined) for (const observer of observers) observer.levelSet(name, category);
      };
    });
    // A map is filled through its `set`; log4js has no other way to add a category.
    const restoreSet = placeMethod(categories, "set", (original) => {
      return (...values) => {
        original.apply(categories, values);
        const [name, category] = values as [string, NativeCategory];
        for (const observer of observers) observer.categorySet(name, category);
        return categories;
      };
    });
    return () => {
      restoreSet();
      restoreSetLevel();
    };
  }
}
