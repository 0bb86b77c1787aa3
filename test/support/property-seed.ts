/**
 * Before each file of tests: continuous integration draws the same inputs every time, so that a change is judged by what it
 * did. Anywhere else each run draws new ones, and fast-check tells the seed of what fails: `PROPERTY_SEED=7 vitest run` repeats it.
 */
import fc from "fast-check";

const seed = process.env.PROPERTY_SEED ?? (process.env.CI ? "1" : undefined);
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
