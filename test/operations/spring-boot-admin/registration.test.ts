import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SpringBootAdminOptions } from "../../../src/operations/spring-boot-admin/options.ts";
import { registerWithSpringBootAdmin } from "../../../src/operations/spring-boot-admin/registration.ts";
import { freePort } from "../../support/server-process.ts";
import { testTrust } from "../../support/server-tls.ts";
import { type Respond, recordingServer, registers } from "./recording-server.ts";

const application = { name: "shop", version: "1.2.3", startTime: Date.UTC(2026, 0, 2, 3, 4, 5) };
const served = {
  address: { address: "127.0.0.1", port: 9001, url: "http://127.0.0.1:9001" },
  basePath: "/actuator",
};
/** A pace for tests, and no end that is early because the machine is busy. */
const patient = { intervalMs: 100, deregisterTimeoutMs: 15_000 };
const soon = { timeout: 30_000, interval: 5 };

/** Registers until the test ends, and keeps what is said. */
function register(options: SpringBootAdminOptions, startTime = application.startTime) {
  const errors: Error[] = [];
  const contexts = new Set<string>();
  const registration = registerWithSpringBootAdmin(
    { ...patient, ...options },
    { ...application, startTime },
    served,
    (error, context) => {
      errors.push(error);
      contexts.add(context);
    },
  );
  onTestFinished(() => registration.close());
  return { close: registration.close, errors, said: () => errors.map(({ message }) => message), contexts };
}

test("registers as Spring Boot's own client does, again and again, and ends the registration", async () => {
  const admin = await recordingServer();
  const { close, said } = register({
    url: `${admin.url}/admin/`,
    username: "registrar",
    password: "pa:ss wörd",
    credentials: { username: "actuator", password: "ca_secret" },
    metadata: { "tags.environment": "test" },
  });
  await expect.poll(() => admin.requests.length, soon).toBeGreaterThanOrEqual(3);
  const [first, ...others] = admin.requests;
  expect(first).toMatchObject({
    method: "POST",
    path: "/admin/instances",
    headers: {
      accept: "application/json",
      "content-type": "application/json",
      authorization: `Basic ${Buffer.from("registrar:pa:ss wörd").toString("base64")}`,
    },
  });
  expect(JSON.parse(first!.body)).toEqual({
    name: "shop",
    managementUrl: "http://127.0.0.1:9001/actuator",
    healthUrl: "http://127.0.0.1:9001/actuator/health",
    serviceUrl: "http://127.0.0.1:9001/",
    metadata: {
      version: "1.2.3",
      "tags.environment": "test",
      startup: "2026-01-02T03:04:05.000Z",
      "user.name": "actuator",
      "user.password": "ca_secret",
    },
  });
  for (const other of others) expect(other.body).toBe(first!.body);
  await close();
  const { length } = admin.requests;
  expect(admin.requests.at(-1)).toMatchObject({ method: "DELETE", path: "/admin/instances/0123456789ab", body: "" });
  expect(admin.requests.at(-1)!.headers.authorization).toBe(first!.headers.authorization);
  await close();
  expect(admin.requests).toHaveLength(length);
  expect(said()).toEqual([]);
});

test("tells what it is told to, and what an application said at its start is new at the next", async () => {
  const admin = await recordingServer();
  const urls = {
    managementUrl: "https://shop.example.com/manage/actuator/",
    serviceUrl: "https://shop.example.com/start?here=1",
    healthUrl: "https://shop.example.com/health",
  };
  const { close } = register({ url: admin.url, name: "Shop 2", metadata: { version: "7" }, ...urls });
  await expect.poll(() => admin.requests.length, soon).toBeGreaterThan(0);
  await close();
  const before = admin.requests.length;
  register({ url: admin.url }, application.startTime + 1);
  await expect.poll(() => admin.requests.length, soon).toBeGreaterThan(before);
  const bodies = admin.of("POST").map(({ body }) => JSON.parse(body));
  expect(bodies[0]).toMatchObject({
    ...urls,
    name: "Shop 2",
    managementUrl: "https://shop.example.com/manage/actuator",
  });
  expect(bodies[0].metadata).toEqual({ version: "7", startup: "2026-01-02T03:04:05.000Z" });
  expect(bodies.at(-1).metadata.startup).toBe("2026-01-02T03:04:05.001Z");
});

test("a server that is away is said once, and so is its return", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const other = await recordingServer();
  const { said, contexts } = register({ url: [url, other.url] });
  // Those of the other server are counted: they come at the same pace, and know nothing of the one that is away.
  await expect.poll(() => other.requests.length, soon).toBeGreaterThanOrEqual(4);
  expect(said()).toEqual([expect.stringMatching(/^http:\/\/127.0.0.1:\d+ cannot be reached \(ECONNREFUSED\)\. /)]);
  const admin = await recordingServer(registers, { port });
  await expect.poll(() => admin.requests.length, soon).toBeGreaterThanOrEqual(3);
  expect(said().slice(1)).toEqual([`${url} answers again; this instance is registered there`]);
  await admin.close();
  await expect.poll(() => said().length, soon).toBe(3);
  expect(contexts).toEqual(new Set(["Spring Boot Admin"]));
});

test("requests to one server never overlap, and one that hangs keeps no other waiting", async () => {
  const slow = await recordingServer(
    (_, response) => void setTimeout(() => response.writeHead(201).end('{"id":"a"}'), 250),
  );
  const hanging = await recordingServer(() => {});
  const quick = await recordingServer();
  const { said, close } = register({ url: [hanging.url, slow.url, quick.url], timeoutMs: 1_000 });
  await expect.poll(() => slow.requests.length, soon).toBeGreaterThanOrEqual(3);
  expect(quick.requests.length).toBeGreaterThan(slow.requests.length);
  await expect.poll(() => hanging.requests.length, soon).toBeGreaterThanOrEqual(2);
  expect([hanging.mostAtOnce, slow.mostAtOnce, quick.mostAtOnce]).toEqual([1, 1, 1]);
  expect(said()).toEqual([expect.stringContaining(`${hanging.url} cannot be reached (no answer within 1000 ms)`)]);
  await close();
});

describe("an answer that is no registration is explained once, without any credential", () => {
  const status =
    (code: number, body = ""): Respond =>
    (_, response) =>
      void response.writeHead(code).end(body);
  const cases: Record<string, readonly [respond: Respond, said: RegExp]> = {
    "400": [status(400), /answers 400: it rejects the registration; .*ssrf-protection/],
    "401": [status(401), /answers 401: it refuses `admin.username` and `admin.password`/],
    "403": [status(403), /answers 403: .*CSRF protection must exclude \/instances/],
    "404": [status(404), /answers 404: it has no \/instances\. .*`admin.url`/],
    "500": [status(500), /answers 500\. It is tried/],
    "200 with something else": [status(200, "<html>"), /answers 200 without an id; is it a Spring Boot Admin server\?/],
    "an id that is none": [status(201, '{"id":"../applications"}'), /without an id/],
    "too much": [
      status(201, `{"id":"a","more":"${"x".repeat(70_000)}"}`),
      /cannot be reached \(the answer has more than/,
    ],
    "no HTTP": [(_, response) => void response.socket!.end("hello\r\n\r\n"), /cannot be reached \(HPE_INVALID/],
    "half an answer": [
      (_, response) => {
        response.writeHead(201, { "Content-Length": 100 }).write('{"id":');
        response.socket!.end();
      },
      /cannot be reached \(/,
    ],
  };
  test.each(Object.entries(cases))("%s", async (_, [respond, expected]) => {
    const admin = await recordingServer(respond);
    const secrets = {
      username: "registrar",
      password: "pa55word",
      credentials: { username: "u", password: "ca_secret" },
    };
    const { errors, said, close } = register({ url: admin.url, ...secrets });
    await expect.poll(() => admin.of("POST").length, soon).toBeGreaterThanOrEqual(3);
    await close();
    expect(said()).toEqual([expect.stringMatching(expected)]);
    const everything = inspect(errors, { depth: 10, showHidden: true });
    for (const secret of ["pa55word", "ca_secret", Buffer.from("registrar:pa55word").toString("base64")]) {
      expect(everything).not.toContain(secret);
    }
    expect(admin.of("DELETE")).toEqual([]);
  });

  test("401 without credentials asks for them", async () => {
    const admin = await recordingServer(status(401));
    const { said } = register({ url: admin.url });
    await expect.poll(said, soon).toEqual([expect.stringContaining("set `admin.username` and `admin.password`")]);
  });

  test("a redirect is not followed", async () => {
    const target = await recordingServer();
    const admin = await recordingServer((_, response) => {
      response.writeHead(307, { Location: `${target.url}/instances` }).end();
    });
    const { said } = register({ url: admin.url, username: "registrar", password: "pa55word" });
    await expect.poll(() => admin.requests.length, soon).toBeGreaterThanOrEqual(2);
    expect(said()).toEqual([expect.stringContaining("answers 307, a redirect, perhaps to log in; none is followed")]);
    expect(target.requests).toEqual([]);
  });
});

describe("over TLS", () => {
  test("a certificate of an authority that is named is believed, and no other", async () => {
    const { ca } = (await testTrust()).authority;
    const admin = await recordingServer(registers, { secure: true });
    const known = register({ url: admin.url, tls: { ca } });
    await expect.poll(() => admin.requests.length, soon).toBeGreaterThan(0);
    expect(known.said()).toEqual([]);
    await known.close();
    const before = admin.requests.length;
    const unknown = register({ url: admin.url });
    await expect
      .poll(unknown.said, soon)
      .toEqual([expect.stringMatching(/cannot be reached \(\w*(ISSUER|VERIFY|SIGNED)/)]);
    expect(admin.requests).toHaveLength(before);
  });

  test("a file of authorities that is missing is said", async () => {
    const { said } = register({ url: "https://127.0.0.1:1", tls: { ca: "/nowhere/ca.pem" } });
    await expect.poll(said, soon).toEqual([expect.stringContaining("ENOENT")]);
  });
});

describe("what is probably a mistake is said, and done", () => {
  const cases: Record<string, readonly [options: Partial<SpringBootAdminOptions>, said: readonly RegExp[]]> = {
    "an address of this machine for a server elsewhere": [{}, [/gets .*127.0.0.1:9001.*only this machine can reach/]],
    "credentials without TLS": [
      { managementUrl: "http://10.0.0.7:9001/actuator", credentials: { username: "u", password: "ca_secret" } },
      [/is sent credentials unencrypted/],
    ],
    nothing: [{ managementUrl: "http://10.0.0.7:9001/actuator" }, []],
  };
  test.each(Object.entries(cases))("%s", async (_, [options, expected]) => {
    const admin = await recordingServer();
    // No loopback address, and yet this machine.
    const { said } = register({ url: `http://0.0.0.0:${admin.port}`, ...options });
    await expect.poll(() => admin.requests.length, soon).toBeGreaterThan(0);
    expect(said()).toEqual(expected.map((message) => expect.stringMatching(message)));
  });
});

test("with registerOnce the first server that answers is enough, and all that were told hear of the end", async () => {
  const first = await recordingServer();
  const second = await recordingServer();
  const { close, said } = register({ url: [first.url, second.url], registerOnce: true });
  await expect.poll(() => first.requests.length, soon).toBeGreaterThanOrEqual(3);
  expect(second.requests).toEqual([]);
  await first.close();
  await expect.poll(() => second.requests.length, soon).toBeGreaterThanOrEqual(2);
  expect(said()).toEqual([expect.stringContaining(first.url)]);
  const again = await recordingServer(registers, { port: first.port });
  await expect.poll(() => again.requests.length, soon).toBeGreaterThanOrEqual(1);
  await close();
  expect(again.of("DELETE")).toHaveLength(1);
  expect(second.of("DELETE")).toHaveLength(1);
});

describe("the end", () => {
  test("waits for a registration that is under way, so that nothing is left", async () => {
    const order: string[] = [];
    const arrived = Promise.withResolvers<() => void>();
    const admin = await recordingServer((request, response) => {
      order.push(request.method);
      if (request.method === "DELETE") return registers(request, response);
      arrived.resolve(() => {
        order.push("registered");
        registers(request, response);
      });
    });
    const { close } = register({ url: admin.url });
    const answer = await arrived.promise;
    const closed = close();
    answer();
    await closed;
    expect(order).toEqual(["POST", "registered", "DELETE"]);
  });

  test("without deregister is an end without a word", async () => {
    const admin = await recordingServer();
    const { close, said } = register({ url: admin.url, deregister: false });
    await expect.poll(() => admin.requests.length, soon).toBeGreaterThan(0);
    await close();
    expect(admin.of("DELETE")).toEqual([]);
    expect(said()).toEqual([]);
  });

  test("waits for no server that hangs: deregisterTimeoutMs at most, and at once for one that was away", async () => {
    const hanging = await recordingServer((request, response) => {
      if (request.method === "POST") registers(request, response);
    });
    const { close, said } = register({ url: hanging.url, deregisterTimeoutMs: 300 });
    await expect.poll(() => hanging.requests.length, soon).toBeGreaterThan(0);
    await close();
    expect(said()).toEqual([
      expect.stringMatching(/still lists this instance: it cannot be reached \(no answer within/),
    ]);

    const never = await recordingServer(() => {});
    const other = register({ url: never.url, timeoutMs: 100 });
    await expect.poll(() => never.requests.length, soon).toBeGreaterThanOrEqual(2);
    await other.close();
    expect(never.of("DELETE")).toEqual([]);
  });

  test("one that has forgotten the instance is told, and is no trouble", async () => {
    const admin = await recordingServer((request, response) => {
      if (request.method === "POST") registers(request, response);
      else response.writeHead(404).end();
    });
    const { close, said } = register({ url: admin.url });
    await expect.poll(() => admin.requests.length, soon).toBeGreaterThan(0);
    await close();
    expect(admin.of("DELETE")).toHaveLength(1);
    expect(said()).toEqual([]);
  });
});

test.each(["answers", "hangs"])("a process may end while a server %s", async (behaviour) => {
  const admin = await recordingServer(behaviour === "answers" ? registers : () => {});
  const program = join(import.meta.dirname, "idle-process.ts");
  const child = spawn(process.execPath, [program, admin.url], { stdio: ["pipe", "inherit", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await expect.poll(() => admin.requests.length, soon).toBeGreaterThan(0);
  const exit = once(child, "exit");
  child.stdin.end();
  expect(await exit).toEqual([0, null]);
});
