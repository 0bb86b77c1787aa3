import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { Health } from "../../src/application/health.ts";
import { createRpcHandler } from "../../src/rpc/handler.ts";
import { PREFACE } from "../../src/server/preface.ts";
import { END_HEADERS, END_STREAM, FRAME, frame, framesOf, requestHeaders, settings } from "../support/server-frames.ts";
import { eventually, rawClient, serve } from "../support/server-harness.ts";

test("a request that is answered before its end is reset after its answer, not within, on a busy connection", async () => {
  const rpc = createRpcHandler({ application: { startTime: 0 }, health: new Health() }, { onError: () => {} });
  const { port } = await serve((req, res) => {
    if (!rpc.handle(req, res)) res.end(Buffer.alloc(12_000_000));
  });
  const client = await rawClient(port);
  const window = Buffer.alloc(4);
  window.writeUInt32BE(2 ** 30);
  const wide = [PREFACE, settings(2 ** 30), frame(FRAME.WINDOW_UPDATE, 0, 0, window)];
  client.socket.write(Buffer.concat([...wide, requestHeaders(1, {}, END_HEADERS | END_STREAM)]));
  await eventually(
    () => client.socket.bytesRead > 1_000_000,
    () => "the large answer never began",
  );
  client.socket.pause();
  const ids = Array.from({ length: 40 }, (_, index) => 2 * index + 3);
  for (const id of ids) {
    const fields = { ":method": "POST", ":path": "/grpc.health.v1.Health/Check", "content-type": "application/proto" };
    client.socket.write(requestHeaders(id, { ...fields, "content-encoding": "unknown" }, END_HEADERS));
    client.socket.write(frame(FRAME.DATA, 0, id, Buffer.from("x")));
  }
  // In sips, so that the server's writes are under way at any moment.
  for (let sip = 0; sip < 400; sip++) {
    client.socket.resume();
    await delay(1);
    client.socket.pause();
  }
  client.socket.resume();
  const resets = () => framesOf(client.received()).filter(({ type }) => type === FRAME.RST_STREAM);
  await eventually(
    () => resets().length === ids.length,
    () => `${resets().length} of ${ids.length} are reset`,
  );

  const last = new Map<number, string>();
  for (const { type, flags, streamId } of framesOf(client.received())) {
    if (type === FRAME.RST_STREAM) expect(last.get(streamId), `stream ${streamId} ends before it is reset`).toBe("end");
    if (type === FRAME.DATA || type === FRAME.HEADERS) last.set(streamId, flags & END_STREAM ? "end" : "more");
  }
});
