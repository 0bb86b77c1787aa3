// @module-tag slow
import { expect, test } from "vitest";
import { fuzz } from "./fuzz.ts";
import { faults, report } from "./fuzz-report.ts";

// The same inputs every time, so that a change is judged by what it did: `npm run bench -- robustness` draws new ones.
const seed = Number(process.env.FUZZ_SEED ?? 1);
const inputs = Number(process.env.FUZZ_INPUTS ?? 5_000);

test(`${inputs} hostile connections over every protocol leave no trace`, { timeout: 900_000 }, async () => {
  console.log(`fuzz: FUZZ_SEED=${seed} FUZZ_INPUTS=${inputs} repeats this run`);
  const result = await fuzz({ seed, inputs });
  console.log(report(result, inputs).join("\n"));
  expect(faults(result)).toEqual([]);
});
