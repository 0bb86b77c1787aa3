import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Access } from "../../../src/access/access.ts";
import type { AccessOptions } from "../../../src/access/options.ts";
import type { Permission } from "../../../src/access/permission.ts";
import { createGate } from "../../../src/http/gate/gate.ts";
import type { CallRecord } from "../../../src/operations/calls/call-record.ts";
import { LOCAL_PEER } from "../../support/open-gate.ts";
import { tokensFor } from "../../support/tokens.ts";

/** Admits a caller with `loggers:read`, and then requires a further permission. */
async function requiring(permission: Permission, options: { access?: AccessOptions; readOnly?: boolean } = {}) {
  const records: CallRecord[] = [];
  const access = options.access && new Access(options.access);
  onTestFinished(() => access?.close());
  const gate = createGate({
    peer: LOCAL_PEER,
    allowedHosts: ["*"],
    access,
    authenticated: access?.authenticates,
    readOnly: options.readOnly,
    observer: (record) => records.push(record),
  });
  return async () => {
    const request = new IncomingMessage(new Socket());
    const context = gate.begin(request, new ServerResponse(request), "rest");
    await gate.admit(context, ["loggers:read"]);
    try {
      gate.require(context, permission);
      return "allowed";
    } catch (error) {
      return (error as { reason: string }).reason;
    } finally {
      context.end("OK");
      expect(records.at(-1)!.permission).toBe(permission);
    }
  };
}

const callerWith = (...permissions: Permission[]): AccessOptions => ({
  authorize: () => ({ name: "ada", permissions }),
});

test("a further permission is one that the caller has", async () => {
  const both = callerWith("loggers:read", "loggers:write");
  expect(await (await requiring("loggers:write", { access: both }))()).toBe("allowed");
  expect(await (await requiring("logs:read", { access: both }))()).toBe("PERMISSION_MISSING");
});

test("without access control it is any permission but those granted by name", async () => {
  expect(await (await requiring("loggers:write"))()).toBe("allowed");
  expect(await (await requiring("logs:read"))()).toBe("PERMISSION_MISSING");
});

test("an anonymous caller who may read has to authenticate to write", async () => {
  const access: AccessOptions = { tokens: tokensFor({}).file, anonymous: ["loggers:read"] };
  expect(await (await requiring("loggers:write", { access }))()).toBe("CREDENTIALS_MISSING");
});

test("a read-only actuator refuses those that write", async () => {
  const access = callerWith("loggers:read", "loggers:write", "graph:read");
  expect(await (await requiring("loggers:write", { access, readOnly: true }))()).toBe("READ_ONLY");
  expect(await (await requiring("graph:read", { access, readOnly: true }))()).toBe("allowed");
});

test("writes are counted", async () => {
  const access = { ...callerWith("loggers:read", "loggers:write"), limits: { maxWritesPerMinute: 2 } };
  const call = await requiring("loggers:write", { access });
  expect([await call(), await call(), await call()]).toEqual(["allowed", "allowed", "TOO_MANY_REQUESTS"]);
});
