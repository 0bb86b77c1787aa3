import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createActuator } from "../../src/actuator.ts";
import { ActuatorError } from "../../src/common/error.ts";
import { SessionsService } from "../../src/gen/actuator/v3/sessions_pb.ts";
import { memorySessions } from "../../src/sessions/memory-store.ts";
import type { SessionStore } from "../../src/sessions/store.ts";
import { transportOver, WIRES } from "../support/rpc-harness.ts";

const SECRETS = ["s3cret-alice-1", "s3cret-alice-2", "s3cret-bob"];

/** An actuator of three sessions, and everything that it answers, prints or reports. */
async function serveSessions(store: SessionStore = secretStore()) {
  const seen: string[] = [];
  for (const method of ["log", "info", "warn", "error"] as const) {
    const printed = vi.spyOn(console, method).mockImplementation((...args) => void seen.push(args.join(" ")));
    onTestFinished(() => printed.mockRestore());
  }
  const actuator = createActuator({ sessions: { store, idKey: "a key of 16 and more" } });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const rest = async (path: string, method = "GET") => {
    const response = await fetch(url + path, { method });
    const text = await response.text();
    seen.push(text, JSON.stringify([...response.headers]));
    return { status: response.status, text };
  };
  return { url, seen, rest };
}

function secretStore() {
  const store = memorySessions();
  for (const id of SECRETS) store.put({ id, username: id.split("-")[1], attributeNames: ["cart"] });
  return store;
}

/** The text, and every run of it that base64 may hide. */
function readable(text: string): string {
  const hidden = text.match(/[\w-]{8,}/g)?.map((part) => Buffer.from(part, "base64url").toString("latin1")) ?? [];
  return [text, ...hidden].join("\n");
}

describe("a store's own ids", () => {
  test("are in no answer over REST, no header and no line on the console", async () => {
    const { rest, seen } = await serveSessions();
    const { sessions } = JSON.parse((await rest("/actuator/sessions?username=alice")).text);
    expect(sessions).toHaveLength(2);
    expect((await rest(`/actuator/sessions/${sessions[0].id}`)).status).toBe(200);
    expect((await rest(`/actuator/sessions/${SECRETS[0]}`)).status).toBe(404);
    expect((await rest(`/actuator/sessions/${SECRETS[0]}`, "DELETE")).status).toBe(204);
    expect(JSON.parse((await rest("/actuator/sessions?username=alice")).text).sessions).toHaveLength(2);
    expect((await rest(`/actuator/sessions/${sessions[0].id}`, "DELETE")).status).toBe(204);
    expect(JSON.parse((await rest("/actuator/sessions?username=alice")).text).sessions).toEqual([sessions[1]]);
    expect(readable(seen.join("\n"))).not.toContain("s3cret");
  });

  test.each(WIRES)("are in no answer, page token or error over $protocol, HTTP/$httpVersion", async (wire) => {
    const { url, seen } = await serveSessions();
    const client = createClient(SessionsService, transportOver(wire, url));
    const keep = <T>(value: T): T => {
      seen.push(JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part)));
      return value;
    };
    for (const username of ["", "alice"]) {
      const page = keep(await client.listSessions({ username, pageSize: 1, includeTotal: true }));
      expect(page.totalSize).toBe(username === "" ? 3n : 2n);
      const rest = keep(await client.listSessions({ username, pageToken: page.nextPageToken }));
      expect(rest.sessions.map(({ id }) => id)).not.toContain(page.sessions[0]!.id);
      keep(await client.getSession({ id: page.sessions[0]!.id }));
    }
    const unknown = await client.getSession({ id: SECRETS[0]! }).catch((error: unknown) => error);
    seen.push(String(unknown), JSON.stringify(unknown));
    expect((await client.deleteSession({ id: SECRETS[0]! })).existed).toBe(false);
    const [spared] = (await client.listSessions({ username: "alice" })).sessions;
    expect(keep(await client.deleteUserSessions({ username: "alice", exceptId: spared!.id })).deleted).toBe(1);
    expect(readable(seen.join("\n"))).not.toContain("s3cret");
  });

  test("stay inside when the store is out of reach", async () => {
    const gone = () => Promise.reject(new ActuatorError("UNAVAILABLE", "SESSION_STORE_UNAVAILABLE", "It is down."));
    const store = secretStore();
    const { rest, seen } = await serveSessions({
      kind: "far",
      findById: gone,
      findByUsername: (username) => store.findByUsername(username),
      delete: gone,
    });
    const [session] = JSON.parse((await rest("/actuator/sessions?username=alice")).text).sessions;
    expect((await rest(`/actuator/sessions/${session.id}`)).status).toBe(503);
    expect((await rest(`/actuator/sessions/${session.id}`, "DELETE")).status).toBe(503);
    expect(readable(seen.join("\n"))).not.toContain("s3cret");
  });
});

describe("without a configured key", () => {
  const run = async (code: string) => {
    const index = join(import.meta.dirname, "..", "..", "src", "index.ts");
    const script = `import { createActuator, memorySessions } from ${JSON.stringify(index)}; ${code}`;
    return promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  };
  const show = `const store = memorySessions(); store.put({ id: "a", username: "alice" });
    const idOf = async (options) => (await createActuator({ sessions: { store, ...options } }).sessions.list()).sessions[0].id;`;

  test("a warning appears once per process, and ids differ with each start", async () => {
    const twice = `${show} console.log(await idOf({}), await idOf({}));`;
    const [first, second] = await Promise.all([run(twice), run(twice)]);
    const ids = `${first.stdout} ${second.stdout}`.trim().split(/\s+/);
    expect(new Set(ids).size).toBe(4);
    expect(first.stderr.match(/SessionIdWarning: .*change with each start and differ between instances/g)).toHaveLength(
      1,
    );
  });

  test("no warning appears with a key or with raw ids", async () => {
    const quiet = `${show} console.log(await idOf({ idKey: "a key of 16 and more" }), await idOf({ ids: "raw" }));`;
    const [first, second] = await Promise.all([run(quiet), run(quiet)]);
    expect(first).toEqual(second);
    expect(first.stderr).toBe("");
    expect(first.stdout).toMatch(/^[0-9a-f-]{36} a\n$/);
  });
});
