import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { gzip } from "../../../src/http/rpc/calls/compression.ts";
import type { Format } from "../../../src/http/rpc/direct/format.ts";
import { Frames } from "../../../src/http/rpc/direct/frames.ts";

const grpc = { isBinary: true, isText: false, contentType: "application/grpc+proto" } as Format;
const json = { ...grpc, isBinary: false, contentType: "application/connect+json" };

test("a message for many watchers is encoded and compressed once for each format", async () => {
  const bytes = randomBytes(60_000);
  const encode = vi.fn(() => bytes);
  const compress = vi.fn((message: Uint8Array) => gzip.compress(message));
  const frames = new Frames(encode);
  const compression = { ...gzip, compress };
  const message = {};
  const [first, second] = await Promise.all([
    frames.of(message, grpc, compression),
    frames.of(message, grpc, compression),
  ]);
  expect(second).toBe(first);
  expect(frames.of(message, grpc, compression)).toBe(first);
  expect(gunzipSync(first.subarray(5)).equals(bytes)).toBe(true);
  expect([encode.mock.calls.length, compress.mock.calls.length]).toEqual([1, 1]);

  const plain = frames.of(message, grpc, null) as Uint8Array;
  expect([...plain.subarray(0, 5)]).toEqual([0, 0, 0, 60_000 >> 8, 60_000 & 0xff]);
  expect(frames.of(message, json, null)).not.toBe(plain);
  expect(frames.of({}, grpc, null)).not.toBe(plain);
  expect([encode.mock.calls.length, compress.mock.calls.length]).toEqual([4, 1]);
});
