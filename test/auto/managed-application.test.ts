import { expect, test, vi } from "vitest";
import { ManagedApplication } from "../../src/auto/managed-application.ts";

test("what is patched while a fault takes everything out is given back, too", () => {
  const said = vi.spyOn(console, "error").mockReturnValue();
  class Logger {
    configure() {}
    add() {}
    child() {}
    _transform() {}
  }
  class Container {
    add() {}
  }
  // The container cannot be read, and is found before the methods of loggers are replaced.
  const loggers = { loggers: new Map([["shop", null]]) };
  const methods = () => [Logger, Container].map(({ prototype }) => Object.getOwnPropertyDescriptors(prototype));
  const before = methods();
  const onEnd = vi.fn();
  const application = new ManagedApplication("attached", onEnd);
  application.existing({ library: "winston" }, { Logger, Container, loggers, child: () => ({}) }, "/winston.js");
  expect(methods()).toEqual(before);
  expect(onEnd).toHaveBeenCalledOnce();
  expect(said.mock.calls.map(([text]) => text)).toEqual([expect.stringMatching(/^connect-actuator: switched off .*$/)]);
  said.mockRestore();
});
