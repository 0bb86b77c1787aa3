import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { compressOnce, gzip } from "../../../src/http/rpc/calls/compression.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function counting() {
  const compress = vi.fn((bytes: Uint8Array) => gzip.compress(bytes));
  return { compress, once: compressOnce({ ...gzip, compress }) };
}

test.each([
  ["smaller than is worth it", 1_000, 2],
  ["that many are told at once", 60_000, 1],
  ["larger than is kept", 200_000, 2],
])("a message %s, of %i bytes, is compressed %i times for two callers", async (_, size, times) => {
  const { compress, once } = counting();
  const message = randomBytes(size);
  const answers = await Promise.all([once.compress(message), once.compress(Buffer.from(message))]);
  for (const answer of answers) expect(gunzipSync(answer).equals(message)).toBe(true);
  expect(compress).toHaveBeenCalledTimes(times);
});

test("another message of the same size is another", async () => {
  const { once } = counting();
  const messages = [randomBytes(10_000), randomBytes(10_000)];
  const answers = await Promise.all(messages.map((message) => once.compress(message)));
  expect(answers.map((answer) => gunzipSync(answer))).toEqual(messages);
});

test("what was compressed is kept for a moment and in a small number", async () => {
  const { compress, once } = counting();
  const message = randomBytes(10_000);
  await once.compress(message);
  vi.advanceTimersByTime(1_000);
  expect(vi.getTimerCount()).toBe(0);
  await once.compress(message);
  expect(compress).toHaveBeenCalledTimes(2);
  for (let index = 0; index < 8; index++) await once.compress(randomBytes(10_000));
  await once.compress(message);
  expect(compress).toHaveBeenCalledTimes(11);
});
