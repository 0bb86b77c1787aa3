import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client, credentials } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { createActuator } from "../../src/index.ts";
import { clientCertificate } from "../../src/server/client-certificate.ts";
import type { RequestHandler } from "../../src/server/handler.ts";
import type { TlsOptions } from "../../src/server/tls-options.ts";
import { requirement } from "../support/requirement.ts";
import { emptied, eventually } from "../support/server-harness.ts";
import { serveTls, testTrust } from "../support/server-tls.ts";

const run = promisify(execFile);

/** Certificates and keys as files, for clients that take no other. */
async function asFiles() {
  const { authority, server } = await testTrust();
  const client = await authority.issue("client");
  const folder = mkdtempSync(join(tmpdir(), "tls-clients-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  return {
    ca: write("ca.pem", authority.ca),
    cert: write("cert.pem", client.cert),
    key: write("key.pem", client.key),
    server,
  };
}

/** Tells a client what it said, and who it is. */
const mirror: RequestHandler = (req, res) => {
  res.setHeader("x-said", `${req.httpVersion} ${req.method} ${clientCertificate(req)?.commonName ?? "nobody"}`);
  req.pipe(res as never);
};

async function serveActuator(options?: Partial<TlsOptions>) {
  const { handler, loggers, close } = createActuator({
    access: "loopback",
    loggers: { logLevelChanges: false },
    audit: false,
  });
  onTestFinished(() => close());
  const said: string[] = [];
  const server = await serveTls((req, res) => {
    said.push(req.httpVersion);
    handler(req, res);
  }, options);
  return { ...server, said, loggers: loggers! };
}

describe.each<
  [string, "1.1" | "2", (options: { baseUrl: string; httpVersion: "2"; nodeOptions: object }) => Transport]
>([
  ["Connect", "1.1", createConnectTransport],
  ["Connect", "2", createConnectTransport],
  ["gRPC-Web", "1.1", createGrpcWebTransport],
  ["gRPC-Web", "2", createGrpcWebTransport],
  ["gRPC", "2", createGrpcTransport],
])("connect-node, %s over HTTP/%s", (_, httpVersion, transport) => {
  test.each(["none", "require"] as const)("with certificates of clients: %s", async (clientCertificate) => {
    const { authority } = await testTrust();
    const { url, said, loggers, listener } = await serveActuator({ ca: authority.ca, clientCertificate });
    const nodeOptions = {
      ca: authority.ca,
      ...(clientCertificate === "require" ? await authority.issue("client") : {}),
    };
    const overTls = transport({ baseUrl: url, httpVersion: httpVersion as "2", nodeOptions });
    const abort = new AbortController();

    await createClient(LoggersService, overTls).setLoggerLevel({ name: "ROOT", level: Level.DEBUG });
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "DEBUG" });
    const [status] = await firstOf(createClient(Health, overTls).watch({}, { signal: abort.signal }));
    expect(status).toBe(Status.SERVING);
    abort.abort();
    expect(new Set(said)).toEqual(new Set([httpVersion === "2" ? "2.0" : "1.1"]));
    await listener.drain();
    await emptied(listener);

    async function firstOf(stream: AsyncIterable<{ status: Status }>): Promise<Status[]> {
      for await (const { status } of stream) return [status];
      return [];
    }
  });
});

test.each(["none", "require"] as const)("grpc-js, with certificates of clients: %s", async (clientCertificate) => {
  const { authority } = await testTrust();
  const { port, listener } = await serveActuator({ ca: authority.ca, clientCertificate });
  const { cert, key } = await authority.issue("client");
  const identity = clientCertificate === "require" ? ([Buffer.from(key), Buffer.from(cert)] as const) : [];
  const client = new Client(`localhost:${port}`, credentials.createSsl(Buffer.from(authority.ca), ...identity));
  onTestFinished(() => client.close());
  const answer = await new Promise<Buffer>((resolve, reject) => {
    client.makeUnaryRequest(
      "/grpc.health.v1.Health/Check",
      () => Buffer.alloc(0),
      (bytes) => bytes,
      {},
      (error, bytes) => (error ? reject(error) : resolve(bytes!)),
    );
  });
  expect([...answer]).toEqual([8, Status.SERVING]);
  client.close();
  await emptied(listener);
});

test("fetch", async () => {
  const { ca } = await asFiles();
  const { url } = await serveTls(mirror);
  const program = `fetch(process.argv[1], { method: "POST", body: "hello" })
    .then(async (answer) => console.log(answer.headers.get("x-said"), await answer.text()))`;
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: ca };
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program, url], { env });
  expect(stdout).toBe("1.1 POST nobody hello\n");
});

const curlFeatures = spawnSync("curl", ["--version"], { encoding: "utf8" }).stdout ?? "";
describe.runIf(requirement("curl with HTTP/2 and TLS", /HTTP2/.test(curlFeatures) && /\bSSL\b/.test(curlFeatures)))(
  "curl",
  () => {
    test.each([
      { flags: ["--http1.1"], version: "1.1" },
      { flags: ["--http2"], version: "2" },
      { flags: ["--no-alpn"], version: "1.1" },
      { flags: ["--http1.0"], version: "1.0" },
      { flags: ["--tls-max", "1.2", "--http2"], version: "2" },
      { flags: ["--tlsv1.3", "--http2"], version: "2" },
    ])("$flags speaks HTTP/$version, uploads, and is known by its certificate", async ({ flags, version }) => {
      const { ca, cert, key } = await asFiles();
      const { authority } = await testTrust();
      const { url, listener } = await serveTls(mirror, { ca: authority.ca, clientCertificate: "request" });
      const upload = run(
        "curl",
        ["-sS", ...flags, "--cacert", ca, "--cert", cert, "--key", key, "-D", "-", "--data-binary", "@-", url],
        { maxBuffer: 10_000_000 },
      );
      upload.child.stdin!.end("x".repeat(2_000_000));
      const { stdout } = await upload;
      expect(stdout.toLowerCase()).toContain(`x-said: ${version === "2" ? "2.0" : version} post orders`);
      expect(stdout).toContain("x".repeat(2_000_000));
      await emptied(listener);
    });

    test("that forgot the s reads why", async () => {
      const { url } = await serveTls(mirror);
      const { stdout } = await run("curl", ["-sS", "-w", "%{http_code}", url.replace("https", "http")]);
      expect(stdout).toBe("This port speaks TLS: use https instead of http.\n400");
    });
  },
);

describe.runIf(requirement("openssl", spawnSync("openssl", ["version"]).status === 0))("openssl", () => {
  async function connect(url: string, ...flags: string[]): Promise<string> {
    const { ca } = await asFiles();
    const { host } = new URL(url);
    const client = run("openssl", ["s_client", "-connect", host, "-CAfile", ca, "-verify_return_error", ...flags]);
    let seen = "";
    client.child.stdout!.on("data", (chunk) => (seen += chunk));
    client.child.on("exit", () => (seen += "---\nexit"));
    await eventually(
      () => /---\n(read R BLOCK|exit)|Verify return code|no peer certificate/.test(seen),
      () => seen,
    );
    client.child.stdin!.end();
    return client.then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }) => `${stdout}${stderr}`,
    );
  }

  test("sees the chain verified, the newest version and the protocol chosen", async () => {
    const { url } = await serveTls(mirror);
    const seen = await connect(url, "-alpn", "h2,http/1.1");
    expect(seen).toMatch(/Verify return code: 0 \(ok\)/);
    expect(seen).toMatch(/TLSv1\.3/);
    expect(seen).toMatch(/ALPN protocol: h2/);
  });

  test("asks for a second handshake in vain", async () => {
    const { url } = await serveTls(mirror);
    expect(await connect(url, "-tls1_2")).toMatch(/Secure Renegotiation IS supported/);
    const { ca } = await asFiles();
    const client = run("openssl", ["s_client", "-connect", new URL(url).host, "-CAfile", ca, "-tls1_2"]);
    let seen = "";
    client.child.stdout!.on("data", (chunk) => {
      seen += chunk;
      if (/Extended master secret/.test(seen)) client.child.stdin!.write("R\n");
    });
    const error = await client.catch((error) => error);
    expect(error.stderr).toMatch(/no renegotiation/);
  });
});
