import { expect } from "vitest";
import type { Session } from "../../src/sessions/session.ts";

/** What is shown of the session of alice, who has logged in since a time, and whose cookie lives for a minute. */
export function expectFreshSession(found: Session | undefined, id: string, since: number): void {
  expect(found).toEqual({
    id,
    attributeNames: ["user"],
    creationTime: expect.any(Number),
    firstSeenTime: found?.creationTime,
    lastAccessedTime: expect.any(Number),
    maxInactiveInterval: 60,
    expired: false,
    username: "alice",
  });
  for (const time of [found!.creationTime!, found!.lastAccessedTime!]) {
    expect(time).toBeGreaterThanOrEqual(since);
    expect(time).toBeLessThanOrEqual(Date.now());
  }
}
