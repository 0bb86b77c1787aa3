import { describe, expect, test } from "vitest";
import { ActuatorError } from "../../../src/common/error.ts";
import { requireReachable } from "../../../src/operations/spring-boot-admin/announcement.ts";
import {
  checkSpringBootAdminOptions,
  type SpringBootAdminOptions,
} from "../../../src/operations/spring-boot-admin/options.ts";
import { registerWithSpringBootAdmin } from "../../../src/operations/spring-boot-admin/registration.ts";

const url = "http://admin.example.com";

function refusal(act: () => void): ActuatorError {
  try {
    act();
  } catch (error) {
    if (error instanceof ActuatorError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("what does not fit is refused by name, and no secret is repeated", () => {
  test.each<[field: string, message: RegExp, options: object]>([
    ["url", /must be the address of the server/, {}],
    ["url", /must be an address such as/, { url: "admin.example.com" }],
    ["url", /must be an address such as/, { url: "ftp://admin.example.com" }],
    ["url", /without user and password/, { url: "http://registrar:secret@admin.example.com" }],
    ["url", /without \? and #/, { url: `${url}/?token=secret` }],
    ["url", /list of 1 to 16/, { url: [] }],
    ["url[1]", /entry 1 must be an address/, { url: [url, "secret"] }],
    ["name", /must be set, because the application has no/, { url, name: undefined }],
    ["name", /printable/, { url, name: "two\nlines" }],
    ["name", /printable/, { url, name: "  " }],
    ["username", /is missing: username and password/, { url, password: "secret" }],
    ["password", /is missing: username and password/, { url, username: "registrar" }],
    ["username", /without a colon/, { url, username: "a:b", password: "secret" }],
    ["password", /on one line/, { url, username: "registrar", password: "secret\r\nX: y" }],
    ["credentials", /must have username and password/, { url, credentials: { password: "secret" } }],
    ["credentials.username", /colon/, { url, credentials: { username: "a:b", password: "secret" } }],
    ["metadata", /"tags" is not a string/, { url, metadata: { tags: { environment: "secret" } } }],
    ["metadata", /"secret" is not a string|"count" is not a string/, { url, metadata: { count: 1 } }],
    ["metadata", /`credentials` says that/, { url, metadata: { "user.password": "secret" } }],
    ["metadata", /`credentials` says that/, { url, metadata: { username: "secret" } }],
    ["metadata", /startup/, { url, metadata: { startup: "now" } }],
    [
      "metadata",
      /more than 100/,
      { url, metadata: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [i, ""])) },
    ],
    ["managementUrl", /must have the path of the actuator/, { url, managementUrl: "http://10.0.0.7:9001/" }],
    ["managementUrl", /must be an address/, { url, managementUrl: "/actuator" }],
    ["healthUrl", /must be an address/, { url, healthUrl: "" }],
    ["serviceUrl", /without user and password/, { url, serviceUrl: "http://a:secret@b" }],
    ["intervalMs", /of at least 100/, { url, intervalMs: 0 }],
    ["timeoutMs", /above 0/, { url, timeoutMs: 0 }],
    ["deregister", /true or false/, { url, deregister: "no" }],
    ["deregisterTimeoutMs", /above 0/, { url, deregisterTimeoutMs: 0 }],
    ["registerOnce", /true or false/, { url, registerOnce: 1 }],
    ["tls.ca", /ca must be the path/, { url, tls: { ca: 1 } }],
    ["intervalMS", /did you mean "intervalMs"\?/, { url, intervalMS: 1_000 }],
  ])("%s: %s", (field, message, options) => {
    const name = "name" in options ? undefined : "shop";
    const error = refusal(() =>
      checkSpringBootAdminOptions("createActuator.admin", options as SpringBootAdminOptions, name),
    );
    expect(error.code).toBe("INVALID_ARGUMENT");
    expect(error.metadata.field).toBe(`createActuator.admin.${field}`);
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/:secret|secret@|=secret|secret\r/);
  });
});

describe("an address that no server could find has to be given", () => {
  test.each<[{ host?: string; path?: string }]>([
    [{ host: "0.0.0.0" }],
    [{ host: "::" }],
    [{ host: "[::]" }],
    [{ host: "0:0:0:0:0:0:0:0" }],
    [{ path: "/run/shop.sock" }],
  ])("%j", (listen) => {
    const error = refusal(() => requireReachable({}, listen));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", metadata: { field: "admin.managementUrl" } });
    expect(error.message).toContain(listen.host ?? listen.path);
    requireReachable({ managementUrl: "http://10.0.0.7:9001/actuator" }, listen);
  });

  test("others are fine, such as none", () => {
    for (const listen of [{}, { host: "127.0.0.1" }, { host: "::1" }, { host: "shop.internal" }]) {
      expect(() => requireReachable({}, listen)).not.toThrow();
    }
  });

  test.each([
    { address: "::", port: 9001, url: "http://[::1]:9001" },
    { address: "/run/shop.sock", port: 0, url: "unix:/run/shop.sock" },
    undefined,
  ])("registration refuses $address too", (address) => {
    const application = { name: "shop", startTime: 0 };
    const served = address && { address, basePath: "/actuator" };
    const error = refusal(() => registerWithSpringBootAdmin({ url }, application, served, () => {}));
    expect(error.reason).toBe("MANAGEMENT_URL_NEEDED");
  });
});
