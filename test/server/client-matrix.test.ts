import { execFile, spawnSync } from "node:child_process";
import http from "node:http";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { RequestHandler } from "../../src/server/handler.ts";
import { PREFACE } from "../../src/server/port.ts";
import { requirement } from "../support/requirement.ts";
import { END_HEADERS, END_STREAM, FRAME, framesOf, requestHeaders, settings } from "../support/server-frames.ts";
import {
  emptied,
  eventually,
  http1Request,
  http2Connect,
  http2Request,
  rawClient,
  serve,
} from "../support/server-harness.ts";

const run = promisify(execFile);
const curlFeatures = spawnSync("curl", ["--version"], { encoding: "utf8" }).stdout ?? "";

/** Tells a client what it said: version and method in the status line's headers, the body as it came. */
const mirror: RequestHandler = (req, res) => {
  res.setHeader("x-said", `${req.httpVersion} ${req.method} ${req.url}`);
  req.pipe(res as http.ServerResponse);
};

describe.runIf(requirement("curl with HTTP/2", curlFeatures.includes("HTTP2")))("curl", () => {
  const versions = [
    { flag: "--http1.1", version: "1.1" },
    { flag: "--http2-prior-knowledge", version: "2.0" },
    // The upgrade to h2c, which RFC 9113 took out, is ignored as an unknown one is.
    { flag: "--http2", version: "1.1" },
    { flag: "--http1.0", version: "1.0" },
  ];
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];

  test.each(versions)("$flag speaks HTTP/$version in every method", async ({ flag, version }) => {
    const { url } = await serve(mirror);
    for (const method of methods) {
      const { stdout } = await run("curl", ["-sS", flag, "-X", method, "-o", "/dev/null", "-D", "-", `${url}/path`]);
      expect(stdout.toLowerCase()).toContain(`x-said: ${version} ${method} /path`.toLowerCase());
    }
  });

  test.each(versions.slice(0, 3))("$flag uploads 5 MB after asking whether it may", async ({ flag, version }) => {
    let asked: string | undefined;
    const { url } = await serve((req, res) => {
      asked = `${req.httpVersion} ${req.headers.expect}`;
      mirror(req, res);
    });
    const upload = run(
      "curl",
      ["-sS", flag, "-H", "Expect: 100-continue", "--data-binary", "@-", "-w", "%{http_code}", url],
      { maxBuffer: 10_000_000 },
    );
    upload.child.stdin!.end("x".repeat(5_000_000));
    const { stdout } = await upload;
    expect(stdout.length).toBe(5_000_003);
    expect(stdout.slice(-3)).toBe("200");
    expect(asked).toBe(`${version} 100-continue`);
  });
});

describe("Node's own clients", () => {
  test("HTTP/1.1 and HTTP/2 at the same time on the same port", async () => {
    const { url, listener } = await serve(mirror);
    const session = await http2Connect(url);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => [
        http1Request(`${url}/${index}`, { method: "POST", body: `one ${index}` }),
        http2Request(session, { ":method": "POST", ":path": `/${index}`, body: `two ${index}` }),
      ]).flat(),
    );
    for (const [at, { status, headers, body }] of answers.entries()) {
      const [version, word] = at % 2 === 0 ? ["1.1", "one"] : ["2.0", "two"];
      const index = Math.floor(at / 2);
      expect({ status, said: headers["x-said"], body }).toEqual({
        status: 200,
        said: `${version} POST /${index}`,
        body: `${word} ${index}`,
      });
    }
    expect(listener.counts.sessions).toBe(1);
  });

  test("a kept-alive connection is used again", async () => {
    const { url, listener } = await serve(mirror);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = 0; index < 5; index++) expect((await http1Request(url, { agent })).status).toBe(200);
    expect(listener.counts.connections).toBe(1);
    agent.destroy();
  });

  test("an upgrade that nobody offers is an ordinary request", async () => {
    const { url } = await serve(mirror);
    const answer = await http1Request(url, { headers: { connection: "upgrade", upgrade: "websocket" } });
    expect(answer).toMatchObject({ status: 200, headers: { "x-said": "1.1 GET /" } });
  });

  test.each([
    { name: "HTTP/1.1", over: (url: string) => http1Request(url) },
    { name: "HTTP/2", over: async (url: string) => http2Request(await http2Connect(url), { ":path": "/" }) },
  ])("over $name an error of the handler is a 500, reported, and no end of the process", async ({ over }) => {
    const reports: [unknown, string][] = [];
    const fault = new Error("broken");
    const { url } = await serve(
      () => {
        throw fault;
      },
      { onError: (...report) => reports.push(report) },
    );
    expect(await over(url)).toMatchObject({ status: 500, body: "" });
    expect(reports).toEqual([[fault, "answering a GET request"]]);
  });

  test("an error in the middle of an answer cuts it off, so that nobody takes it for whole", async () => {
    const { url } = await serve(
      (_, res) => {
        (res as http.ServerResponse).write("half");
        throw new Error("broken");
      },
      { onError: () => {} },
    );
    await expect(http1Request(url)).rejects.toThrow();
    await expect(http2Request(await http2Connect(url), { ":path": "/" })).rejects.toThrow();
  });
});

test("12 HTTP/2 clients that just go, without a GOAWAY, leave nothing behind", async () => {
  const { port, listener } = await serve(mirror);
  const hello = Buffer.concat([PREFACE, settings(), requestHeaders(1, {}, END_HEADERS | END_STREAM)]);
  const clients = await Promise.all(Array.from({ length: 12 }, () => rawClient(port)));
  for (const { socket } of clients) socket.write(hello);
  await eventually(
    () => clients.every(({ received }) => framesOf(received()).some(({ type }) => type === FRAME.HEADERS)),
    () => JSON.stringify(listener.counts),
  );
  expect(listener.counts).toEqual({ connections: 12, sessions: 12, streams: 0 });
  for (const { socket } of clients) socket.end();
  await emptied(listener);
});
