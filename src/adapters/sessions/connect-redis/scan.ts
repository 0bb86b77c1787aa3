import type { ScanBounds } from "../../kit/connect-session/session-scan.ts";
import { FIRST_KEYS, type KeysPosition, type SessionKeys } from "./session-keys.ts";
import type { SessionView } from "./session-view.ts";
import type { StoredSessions } from "./stored-sessions.ts";

/** The ids found, and whether the bounds let the scan come to its end. */
export interface ScanResult {
  readonly ids: readonly string[];
  readonly complete: boolean;
}

/** Looks for the user's sessions among all, a step after the other. */
export async function scanForUser(
  username: string,
  stored: StoredSessions,
  keys: SessionKeys,
  view: SessionView,
  { maxSessions = 50_000, maxMs = 500 }: ScanBounds,
): Promise<ScanResult> {
  const { scanCount } = stored.settings;
  const began = performance.now();
  const mayBe = mayBeOf(username, view);
  const found = new Set<string>();
  let read = 0;
  let step = keys.step(FIRST_KEYS, scanCount);
  while (true) {
    const { ids, next }: { ids: readonly string[]; next: KeysPosition | undefined } = await step;
    read += ids.length;
    const goesOn = next !== undefined && read < maxSessions && performance.now() - began < maxMs;
    const texts = stored.texts(ids);
    if (goesOn) {
      // Asked for while the texts of this step are on their way.
      step = keys.step(next, scanCount);
      step.catch(() => {});
    }
    for (const [at, text] of (await texts).entries()) {
      if (!text || !mayBe(text)) continue;
      const record = await stored.parse(text);
      if (record !== undefined && view.principal(record) === username) found.add(ids[at]!);
    }
    if (!goesOn) return { ids: [...found], complete: next === undefined };
  }
}

/** Whether a text may be a session of this user, told without parsing it, which is most of the work. */
function mayBeOf(username: string, { settings, namesInRecords }: SessionView): (text: string) => boolean {
  if (settings.serializer !== JSON || !namesInRecords) return () => true;
  const inJson = JSON.stringify(username).slice(1, -1);
  return (text) => text.includes(inJson);
}
