import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionHandles, sessionKeys } from "../../src/sessions/session-handle.ts";
import { sessionDigest } from "../../src/sessions/session-id.ts";

const handles = new SessionHandles(sessionKeys("a key of 16 and more").handles);
const ids = fc.string({ unit: "grapheme", minLength: 1, maxLength: 64 });

describe("a handle", () => {
  it("has the shape of a UUID in lower case, and is the same each time", () => {
    fc.assert(
      fc.property(ids, (id) => {
        expect(handles.handleOf(id)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
        expect(handles.handleOf(id)).toBe(handles.handleOf(id));
      }),
    );
  });

  it("gives back the digest of the id, and so tells every two ids apart that their digests do", () => {
    fc.assert(fc.property(ids, (id) => void expect(handles.digestOf(handles.handleOf(id))).toBe(sessionDigest(id))));
  });

  it("is the same under the same key in another process, and another under another key", () => {
    expect(handles.handleOf("sid-1")).toBe("8536ea56-2e1a-5daa-48a4-4836444570bd");
    for (const key of ["a key of 16 and more!", randomBytes(16), undefined]) {
      const other = new SessionHandles(sessionKeys(key).handles);
      expect(other.handleOf("sid-1")).not.toBe(handles.handleOf("sid-1"));
      expect(other.digestOf(handles.handleOf("sid-1"))).not.toBe(sessionDigest("sid-1"));
    }
  });

  it("is neither the digest nor made of it without the key", () => {
    expect(handles.handleOf("sid-1").replaceAll("-", "")).not.toBe(sessionDigest("sid-1"));
  });

  it.each([
    "",
    "sid-1",
    "8536EA56-2E1A-5DAA-48A4-4836444570BD",
    "8536ea562e1a5daa48a44836444570bd",
    "8536ea56-2e1a-5daa-48a4-4836444570bd\n",
    " 8536ea56-2e1a-5daa-48a4-4836444570bd",
    "8536ea56-2e1a-5daa-48a4-4836444570bg",
  ])("is not %j", (text) => {
    expect(handles.digestOf(text)).toBeUndefined();
  });
});

describe("the keys", () => {
  it("differ by their purpose, and come from text as from its bytes", () => {
    const { handles, pages } = sessionKeys("a key of 16 and more");
    expect([handles.length, pages.length]).toEqual([16, 32]);
    expect(pages.subarray(0, 16)).not.toEqual(handles);
    expect(sessionKeys(Buffer.from("a key of 16 and more"))).toEqual({ handles, pages });
  });
});
