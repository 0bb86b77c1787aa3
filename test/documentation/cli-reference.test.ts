import { expect, test } from "vitest";
import { CLI_REFERENCE, cliReference } from "../../scripts/cli-reference.ts";
import { textOf } from "./pages.ts";

test("the reference of the command line is current; node scripts/cli-reference.ts writes it", () => {
  expect(textOf(CLI_REFERENCE)).toBe(cliReference());
});
