import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { Readable } from "node:stream";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ACTUATOR_BODY, readJson } from "../../../src/http/rest/body.ts";
import type { Request } from "../../../src/http/rest/operation.ts";
import { PREFACE } from "../../../src/server/port.ts";
import { exchangeBytes } from "../../support/rest-client.ts";
import { problemIn, serveRest } from "../../support/rest-server.ts";
import { END_HEADERS, FRAME, frame, requestHeaders, settings } from "../../support/server-frames.ts";

const HEAD = "POST /actuator/loggers/a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";

describe("a body over HTTP/1.1", () => {
  test("may come in chunks, cut anywhere", async () => {
    const { port, loggers } = await serveRest();
    const chunks = ['{"configuredLevel":"', "wa", 'rn"}'].map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
    const head = `${HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`;
    expect((await exchangeBytes(port, `${head}${chunks.join("")}0\r\n\r\n`)).status).toBe(204);
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "WARN" });
  });

  test("in chunks is bounded, too", async () => {
    const { port, loggers } = await serveRest();
    const chunk = `${(32_768).toString(16)}\r\n${" ".repeat(32_768)}\r\n`;
    const head = `${HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`;
    expect((await exchangeBytes(port, `${head}${chunk.repeat(3)}0\r\n\r\n`)).status).toBe(413);
    expect(loggers.get("a")).toBeUndefined();
  });

  test("without end is refused while it is still coming", async () => {
    const { port } = await serveRest();
    const socket = net.connect({ port, host: "127.0.0.1" });
    onTestFinished(() => void socket.destroy());
    const refused = new Promise<string>((resolve) => socket.on("data", (chunk) => resolve(chunk.toString())));
    socket.write(`${HEAD}Content-Length: 1000000000\r\n\r\n`);
    const more = () => {
      while (!socket.destroyed && socket.write(" ".repeat(65_536)));
    };
    socket.on("drain", more);
    more();
    expect(await refused).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("that breaks off changes nothing and is no error of ours", async () => {
    const { port, loggers, reported, get } = await serveRest();
    const socket = net.connect({ port, host: "127.0.0.1" });
    socket.write(`${HEAD}Content-Length: 26\r\n\r\n{"configuredLevel":"warn"`);
    await once(socket, "connect");
    socket.end();
    socket.resume();
    await once(socket, "close");
    expect((await get("/actuator/health")).status).toBe(200);
    expect(loggers.get("a")).toBeUndefined();
    expect(reported).toEqual([]);
  });

  test.each([
    ["GET of a logger", "GET /actuator/loggers/ROOT", 200],
    ["GET of the overview", "GET /actuator/loggers", 200],
    ["DELETE of a session", "DELETE /actuator/sessions/x", 204],
    ["OPTIONS", "OPTIONS /actuator/loggers", 200],
    ["an unknown path", "POST /actuator/nope", 404],
    ["a wrong method", "PUT /actuator/loggers", 405],
    ["a wrong type", "POST /actuator/loggers/a", 415],
    ["too long", "POST /actuator/loggers/a", 413],
  ])("is ignored and does not disturb the next request: %s", async (_, line, status) => {
    const { port } = await serveRest();
    const body = "x".repeat(200_000);
    const type = status === 413 ? "application/json" : "text/plain";
    const first = `${line} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const second = "GET /actuator/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const answer = await exchangeBytes(port, first + second);
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(/HTTP\/1\.1 200 OK\r\n[\s\S]*\{"status":"UP"\}$/);
  });
});

describe("a body over HTTP/2", () => {
  test.each([
    ["/actuator/loggers/a", "POST", 413],
    ["/actuator/nope", "POST", 404],
    ["/actuator/loggers/ROOT", "GET", 200],
  ])("that is too large or not read does not hang: %s", async (path, method, status) => {
    const { send } = await serveRest({}, "node:http2");
    const headers = { "content-type": "application/json" };
    expect((await send({ method, path, headers, body: " ".repeat(3_000_000) })).status).toBe(status);
    expect((await send({ path: "/actuator/health" })).status).toBe(200);
  });
});

test("a caller who goes after a refusal is nobody's error", async () => {
  for (const host of ["node:http", "node:http2"]) {
    const server = await serveRest({}, host);
    const path = "/actuator/loggers/a";
    if (host === "node:http") {
      const socket = net.connect({ port: server.port, host: "127.0.0.1" });
      socket.write(`${HEAD}Content-Length: 1000000\r\n\r\n${" ".repeat(70_000)}`);
      await once(socket, "data");
      socket.resetAndDestroy();
    } else {
      const session = http2.connect(`http://127.0.0.1:${server.port}`);
      const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/json" });
      stream.write(" ".repeat(70_000));
      await once(stream, "response");
      stream.close(http2.constants.NGHTTP2_CANCEL);
      session.destroy();
    }
    expect((await server.get("/actuator/health")).status).toBe(200);
    expect(server.reported).toEqual([]);
  }
});

describe("waiting for a body", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  function startReading(httpVersionMajor: number) {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const headers = { "content-type": "application/json" };
    const request = Object.assign(new Readable({ read() {} }), { headers, httpVersionMajor });
    const body = readJson(request as unknown as Request, { types: ACTUATOR_BODY, typeRequired: true }, 100);
    return { request, body };
  }

  test.each([1, 2])("ends with 408 after ten seconds, over HTTP/%i", async (httpVersionMajor) => {
    const { request, body } = startReading(httpVersionMajor);
    request.push("{");
    const refused = expect(body).rejects.toMatchObject({
      status: 408,
      headers: httpVersionMajor === 1 ? { Connection: "close" } : undefined,
    });
    await vi.advanceTimersByTimeAsync(9_999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await refused;
    expect(request.readableFlowing).toBe(true);
  });

  test("leaves nothing behind when the body has come", async () => {
    const { request, body } = startReading(1);
    request.push("{}");
    request.push(null);
    expect(await body).toEqual({});
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([undefined, new Error("reset")])("ends with the caller (%s)", async (error) => {
    const { request, body } = startReading(1);
    request.destroy(error);
    await expect(body).rejects.toMatchObject({ status: 499, message: "" });
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("a refusal says what is wrong with the body", async () => {
  const { post } = await serveRest();
  const message = async (body: unknown) => problemIn(await post("/actuator/loggers/a", body)).message;
  expect(await message({ configuredLevel: "x" })).toBe(
    "configuredLevel must be one of OFF, FATAL, ERROR, WARN, INFO, DEBUG, TRACE, or null to inherit.",
  );
  expect(await message("[]")).toBe("The body must be a JSON object.");
  expect(await message("{")).toBe("The body must be one JSON value in UTF-8.");
  expect(await message(" ".repeat(70_000))).toBe("The body is longer than 65536 bytes.");
});

test("a body over HTTP/2 whose stream is reset without an error is not taken for whole", async () => {
  const { port, loggers } = await serveRest({}, "node:http2");
  const headers = { ":method": "POST", ":path": "/actuator/loggers/a", "content-type": "application/json" };
  const socket = net.connect({ port, host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  const body = Buffer.from('{"configuredLevel":"warn"}');
  socket.write(
    Buffer.concat([
      Buffer.from(PREFACE),
      settings(),
      requestHeaders(1, headers, END_HEADERS),
      frame(FRAME.DATA, 0, 1, body),
    ]),
  );
  socket.write(frame(FRAME.RST_STREAM, 0, 1, Buffer.alloc(4)));
  // A second request on the connection is answered after the first is over.
  const again = { ":method": "GET", ":path": "/actuator/health" };
  socket.write(requestHeaders(3, again, END_HEADERS | 1));
  await new Promise<void>((resolve) => {
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (received.includes('"UP"')) resolve();
    });
  });
  expect(loggers.get("a")).toBeUndefined();
});
