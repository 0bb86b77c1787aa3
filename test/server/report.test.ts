import { expect, test, vi } from "vitest";
import { reportError } from "../../src/server/guard.ts";

test("an error is one line of bounded length that says what it says, whatever is in it", () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
  reportError(new Error(`a\r\nb\u2028c\u202ed\u0085e${"x".repeat(2_000)}`), "listen");
  const [[line]] = said.mock.calls as [[string]];
  said.mockRestore();
  expect(line).toMatch(/^connect-actuator: listen: Error: a b c d ex+$/);
  expect(line).toHaveLength(1_000);
});
