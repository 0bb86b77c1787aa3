import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isLoopback, listenError, listenTarget } from "../../src/server/address.ts";
import { addressList, networkOf } from "../../src/server/address-list.ts";
import { createListener } from "../../src/server/listener.ts";
import { http1Request, serve } from "../support/server-harness.ts";

describe("a loopback host", () => {
  test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.255.255.254", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"])(
    "%s is one",
    (host) => expect(isLoopback(host)).toBe(true),
  );

  test.each([
    "0.0.0.0",
    "::",
    "10.0.0.1",
    "128.0.0.1",
    "::2",
    "::ffff:10.0.0.1",
    "example.test",
    "localhost.example.test",
    "127.1",
    "",
  ])("%j is none", (host) => expect(isLoopback(host)).toBe(false));
});

describe("where to listen", () => {
  test("127.0.0.1 unless said otherwise", () => {
    expect(listenTarget({ port: 9001 })).toEqual({ port: 9001, host: "127.0.0.1" });
  });

  describe.each(["0.0.0.0", "::", "[::]", "192.168.1.5", "example.test", "0", "0x0"])("%j", (host) => {
    test("is refused where nobody asks who is there, with the reason and the ways out", () => {
      expect(() => listenTarget({ port: 9001, host })).toThrow(
        expect.objectContaining({
          reason: "HOST_NOT_LOOPBACK",
          message: expect.stringMatching(
            /tokens.*jwt.*certificates.*authorize.*`ca`.*`clientCertificate: "require"`.*`host`/,
          ),
          metadata: { field: "host" },
        }),
      );
    });

    test("is listened on where somebody does", () => {
      expect(listenTarget({ port: 9001, host }, true)).toEqual({ port: 9001, host: host.replace(/^\[|\]$/g, "") });
    });
  });

  test.each([
    { options: {}, message: "no `port` option; choose a port, or 0 for any free one" },
    {
      options: { port: -1 },
      message: "port -1 does not exist; the `port` option takes a whole number from 0 to 65535",
    },
    { options: { port: 70_000 }, message: /port 70000 does not exist/ },
    { options: { port: 80.5 }, message: /port 80.5 does not exist/ },
    { options: { port: Number.NaN }, message: /port NaN does not exist/ },
    { options: { port: "9001" as never }, message: /the `port` option takes a whole number/ },
    { options: { path: "" }, message: /the `path` option is empty/ },
    { options: { port: 1, host: "" }, message: /the `host` option is empty; 0\.0\.0\.0 or ::/ },
    { options: { port: 1, host: "fe80::1%eth0" }, message: /"fe80::1%eth0" names a zone/ },
    { options: { port: 1, host: "[fe80::1%eth0]" }, message: /names a zone/ },
  ])("$options is refused", ({ options, message }) => {
    expect(() => listenTarget(options, true)).toThrow(message);
  });

  test.each([
    { host: "127.0.0.1", url: /^http:\/\/127\.0\.0\.1:\d+$/ },
    { host: "localhost", url: /^http:\/\/localhost:\d+$/ },
    { host: "127.1.2.3", url: /^http:\/\/127\.1\.2\.3:\d+$/, only: process.platform === "linux" },
    { host: "::1", url: /^http:\/\/\[::1\]:\d+$/ },
    { host: "[::1]", url: /^http:\/\/\[::1\]:\d+$/ },
  ])("$host is reached at the address that comes back", async ({ host, url, only = true }) => {
    if (!only) return console.warn(`skipped: only Linux answers at ${host} without being told to`);
    const listener = createListener((_, res) => void res.end("hello"));
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    const address = await listener.listen({ port: 0, host });
    expect(address.url).toMatch(url);
    expect(address.url).toContain(`:${address.port}`);
    expect((await http1Request(address.url, { agent: false })).body).toBe("hello");
  });

  test("a Unix socket", async () => {
    const folder = mkdtempSync(join(tmpdir(), "listener-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "socket");
    const listener = createListener((_, res) => void res.end("hello"));
    expect(await listener.listen({ path })).toEqual({ port: 0, address: path, url: `unix:${path}` });
    expect((await http1Request("http://localhost", { socketPath: path, agent: false })).body).toBe("hello");
    await listener.drain();
    expect(existsSync(path)).toBe(false);
  });
});

describe("a failure to listen names the option", () => {
  test("a port in use, after which another can be tried", async () => {
    const { port } = await serve(() => {});
    const listener = createListener(() => {});
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    await expect(listener.listen({ port })).rejects.toMatchObject({
      name: "ActuatorError",
      reason: "ADDRESS_IN_USE",
      message: `port ${port} on 127.0.0.1 is already in use; choose another with the \`port\` option`,
      metadata: { field: "port" },
    });
    expect((await listener.listen({ port: 0 })).port).not.toBe(port);
  });

  test("a path in use", async () => {
    const listener = createListener(() => {});
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    await expect(listener.listen({ path: "/dev/null" })).rejects.toMatchObject({
      reason: "ADDRESS_IN_USE",
      message: "the path /dev/null is already in use; choose another with the `path` option",
    });
  });

  test.each([
    {
      code: "EACCES",
      message: "this process may not listen on port 80 on 127.0.0.1; choose another with the `port` option",
    },
    {
      code: "EADDRNOTAVAIL",
      message: "the host of port 80 on 127.0.0.1 is no address of this machine; see the `host` option",
    },
    { code: "EMFILE", message: "could not listen on port 80 on 127.0.0.1: too many open files" },
  ])("$code", ({ code, message }) => {
    const error = Object.assign(new Error("too many open files"), { code });
    expect(listenError(error, { port: 80, host: "127.0.0.1" })).toMatchObject({ message, cause: error });
  });
});

describe("a list of addresses and networks", () => {
  const trusted = addressList(["127.0.0.1", "10.0.0.0/8", "fd00::/8", "::1"]);

  test.each(["127.0.0.1", "10.255.0.1", "fd12::1", "::1", "::ffff:10.0.0.1"])("holds %s", (address) => {
    expect(trusted(address)).toBe(true);
  });

  test.each(["127.0.0.2", "11.0.0.1", "fe80::1", "::2", "", "example.test"])("does not hold %j", (address) => {
    expect(trusted(address)).toBe(false);
  });

  test.each(["", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/8", "10.0.0.0/-1", "10.0.0.0/8/8", "example.test", 4])(
    "%j is none",
    (entry) => expect(networkOf(entry)).toBeUndefined(),
  );
});
