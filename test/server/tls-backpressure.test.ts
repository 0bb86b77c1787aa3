import { once } from "node:events";
import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { RequestHandler } from "../../src/server/handler.ts";
import { patient } from "../support/patient-limits.ts";
import { eventually } from "../support/server-harness.ts";
import { serveTls, tlsClient } from "../support/server-tls.ts";

/** More than the kernel takes for a client that does not read. */
const BIG = 64_000_000;

const answer: RequestHandler = (req, res) => {
  let body = "";
  req.on("data", (chunk) => (body += chunk));
  req.on("end", () => res.end(req.url === "/big" ? Buffer.alloc(BIG) : `read ${body}`));
};

test("a request that comes in two records and one packet, while the answer before it waits, is answered", async () => {
  let asked = 0;
  const { port } = await serveTls(
    (req, res) => {
      asked++;
      answer(req, res);
    },
    {},
    { limits: patient },
  );
  const { socket, hold, kept, release } = await packetClient(port);
  socket.write("GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await eventually(
    () => asked === 1,
    () => "never asked",
  );
  hold();
  for (const record of [
    "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 5\r\n\r\n",
    "whole",
  ]) {
    const before = kept();
    socket.write(record);
    await eventually(
      () => kept() > before,
      () => `${record} never came`,
    );
  }
  release();
  await eventually(
    () => asked === 2,
    () => "never asked again",
  );
  let length = 0;
  let last = "";
  socket.on("data", (chunk: Buffer) => {
    length += chunk.length;
    last = chunk.toString("latin1");
  });
  socket.resume();
  await once(socket, "close");
  expect(length).toBeGreaterThan(BIG);
  expect(last).toMatch(/read whole$/);
});

/** A TLS client that can keep back what it encrypts, and send all of it at once. */
async function packetClient(port: number) {
  let kept: Buffer[] | undefined;
  let wire!: net.Socket;
  const between = net.createServer((from) => {
    wire = net.connect({ port, host: "127.0.0.1", noDelay: true });
    onTestFinished(() => void wire.destroy());
    wire.on("error", () => {}).pipe(from);
    from.on("error", () => {});
    from.on("data", (chunk: Buffer) => (kept === undefined ? wire.write(chunk) : kept.push(chunk)));
  });
  between.listen(0, "127.0.0.1");
  onTestFinished(() => void between.close());
  await once(between, "listening");
  const { socket } = await tlsClient((between.address() as net.AddressInfo).port, { read: false });
  return {
    socket,
    hold: () => void (kept = []),
    kept: () => Buffer.concat(kept!).length,
    release() {
      wire.write(Buffer.concat(kept!));
      kept = undefined;
    },
  };
}
