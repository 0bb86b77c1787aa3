import { describe, expect, onTestFinished, test } from "vitest";
import { listenError, listenTarget } from "../../src/server/address.ts";
import type { RequestHandler } from "../../src/server/handler.ts";
import type { ListenOptions } from "../../src/server/listen-options.ts";
import { createListener } from "../../src/server/listener.ts";
import { clientAddress } from "../../src/server/peer.ts";
import { http1Request, serve } from "../support/server-harness.ts";

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
    { options: {}, message: "`port` is missing; choose a port, or 0 for any free one" },
    {
      options: { port: -1 },
      message: "listen.port must be a whole number from 0 to 65535, not -1",
    },
    { options: { port: 70_000 }, message: /from 0 to 65535, not 70000/ },
    { options: { port: 80.5 }, message: /from 0 to 65535, not 80.5/ },
    { options: { port: Number.NaN }, message: /from 0 to 65535, not NaN/ },
    { options: { port: "9001" as never }, message: /must be a whole number from 0 to 65535/ },
    { options: { path: "" }, message: "listen.path must be a non-empty string" },
    { options: { port: 1, host: "" }, message: "listen.host must be a non-empty string" },
    { options: { port: 1, host: "[]" }, message: /the `host` option is empty; for all addresses use 0\.0\.0\.0 or ::/ },
    { options: { prot: 1 } as never, message: 'Unknown option "listen.prot"; did you mean "port"?' },
    {
      options: { port: 1, mode: 0o600 },
      message: "`mode` applies to a Unix socket only; set `path` too, or leave `mode` out",
    },
    { options: { port: 1, path: "/s" }, message: "`path` cannot be combined with `port` or `host`" },
    { options: { host: "::1", path: "/s" }, message: "`path` cannot be combined with `port` or `host`" },
    { options: { path: "\0s" }, message: "the `path` option must not contain a null character" },
    { options: { path: `/${"x".repeat(107)}` }, message: /too long for a Unix socket by \d byte/ },
    { options: { path: `/${"\u00e4".repeat(54)}` }, message: /too long for a Unix socket/ },
    { options: { path: "/s", mode: 600 }, message: /listen\.mode must be permissions of a file/ },
    { options: { path: "/s", mode: "0o600" }, message: /listen\.mode must be permissions of a file/ },
    { options: { port: 1, tls: {} as never }, message: "`tls` has no `cert`; TLS needs one" },
    { options: { port: 1, tls: { cert: "c" } as never }, message: "`tls` has no `key`; TLS needs one" },
    { options: { port: 1, tls: { cert: "c", kye: "k" } as never }, message: 'did you mean "key"?' },
    {
      options: { port: 1, tls: { cert: "c", key: 5 as never } },
      message: /listen\.tls\.key must be the path of a PEM/,
    },
    {
      options: { port: 1, tls: { cert: "c", key: "k", minVersion: "TLSv1" as never } },
      message: 'listen.tls.minVersion must be "TLSv1.2" or "TLSv1.3"',
    },
    {
      options: { port: 1, tls: { cert: "c", key: "k", clientCertificate: "require" } },
      message: /needs the authorities to verify clients with; set `tls\.ca`/,
    },
    {
      options: { port: 1, tls: { cert: "c", key: "k", ca: "a" } },
      message: /has no effect unless client certificates are requested; set `tls\.clientCertificate`/,
    },
    {
      options: { port: 1, tls: { cert: "c", key: "k", crl: "r" } },
      message: /needs the authorities that issued the lists; set `tls\.ca`/,
    },
    { options: { port: 1, host: "fe80::1%eth0" }, message: /"fe80::1%eth0" has a zone/ },
    { options: { port: 1, host: "[fe80::1%eth0]" }, message: /has a zone/ },
  ] as { options: ListenOptions; message: string | RegExp }[])("$options is refused", ({ options, message }) => {
    expect(() => listenTarget(options, true)).toThrow(message);
  });

  test("everything that cannot be together is told at once", () => {
    const options = { port: 1, host: "0.0.0.0", mode: 0o600, tls: { ca: "a" } } as unknown as ListenOptions;
    expect(() => listenTarget(options)).toThrow(
      /^`tls` has no `cert`.*\n`tls` has no `key`.*\n`tls\.ca` has no effect .*\n`mode` applies .*\nrefused to listen on "0\.0\.0\.0"/,
    );
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

  test.each([
    { host: "0.0.0.0", url: /^http:\/\/127\.0\.0\.1:\d+$/, address: "0.0.0.0" },
    { host: "::", url: /^http:\/\/\[::1\]:\d+$/, address: "::" },
    { host: "[::]", url: /^http:\/\/\[::1\]:\d+$/, address: "::" },
  ])("$host comes back as an address that can be connected to", async ({ host, url, address }) => {
    const listener = createListener((_, res) => void res.end("hello"), { authenticated: true });
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    const bound = await listener.listen({ port: 0, host });
    expect(bound).toMatchObject({ address, url: expect.stringMatching(url) });
    expect((await http1Request(bound.url, { agent: false })).body).toBe("hello");
  });

  test(":: is IPv4 as well", async () => {
    const seen: unknown[] = [];
    const handler: RequestHandler = (req, res) => {
      seen.push(clientAddress(req, () => false));
      res.end("hello");
    };
    const listener = createListener(handler, { authenticated: true });
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    const { port } = await listener.listen({ port: 0, host: "::" });
    expect((await http1Request(`http://127.0.0.1:${port}`, { agent: false })).body).toBe("hello");
    expect((await http1Request(`http://[::1]:${port}`, { agent: false })).body).toBe("hello");
    expect(seen).toEqual(["127.0.0.1", "::1"]);
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

  test.each([
    {
      code: "EACCES",
      message: "this process may not listen on port 80 on 127.0.0.1; choose another with the `port` option",
    },
    {
      code: "EADDRNOTAVAIL",
      message: "the host of port 80 on 127.0.0.1 is not an address of this machine; change the `host` option",
    },
    { code: "EMFILE", message: "could not listen on port 80 on 127.0.0.1: too many open files" },
  ])("$code", ({ code, message }) => {
    const error = Object.assign(new Error("too many open files"), { code });
    expect(listenError(error, { port: 80, host: "127.0.0.1" })).toMatchObject({ message, cause: error });
  });
});
