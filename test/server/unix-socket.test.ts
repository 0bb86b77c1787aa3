import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { RequestHandler } from "../../src/server/handler.ts";
import { createListener, type Listener } from "../../src/server/listener.ts";
import { clientAddress, isEncrypted } from "../../src/server/peer.ts";
import { emptied, eventually, http1Request, http2Request } from "../support/server-harness.ts";
import { httpsRequest, testTrust } from "../support/server-tls.ts";

function newPath(name = "socket"): string {
  const folder = mkdtempSync(join(tmpdir(), "unix-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "run"));
  return join(folder, "run", name);
}

function newListener(handler: RequestHandler = (_, res) => void res.end("hello")): Listener {
  const listener = createListener(handler);
  onTestFinished(() => listener.drain({ deadlineMs: 0 }));
  return listener;
}

const ask = (socketPath: string) => http1Request("http://localhost", { socketPath, agent: false });

describe("a Unix socket", () => {
  test("speaks both protocols, and knows no address of its clients", async () => {
    const path = newPath();
    const listener = newListener((req, res) => {
      res.end(`${req.httpVersion} ${clientAddress(req, () => true)} ${isEncrypted(req)}`);
    });
    expect(await listener.listen({ path })).toEqual({ port: 0, address: path, url: `unix:${path}` });
    expect((await ask(path)).body).toBe("1.1 undefined false");
    const session = http2.connect("http://localhost", { createConnection: () => net.connect(path) });
    onTestFinished(() => session.destroy());
    expect((await http2Request(session, { ":path": "/" })).body).toBe("2.0 undefined false");
    await listener.drain();
    await emptied(listener);
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  test("speaks TLS", async () => {
    const path = newPath();
    const listener = newListener();
    const { server } = await testTrust();
    expect(await listener.listen({ path, tls: server })).toMatchObject({ url: `unix:${path}` });
    expect((await httpsRequest("https://localhost", { socketPath: path, agent: false })).body).toBe("hello");
    await listener.drain();
    await emptied(listener);
  });

  test("is named relative to where the process is", async () => {
    const path = newPath();
    const listener = newListener();
    const relative = join("..".concat("/..".repeat(process.cwd().split("/").length)), path);
    expect(await listener.listen({ path: relative })).toMatchObject({ address: path });
    expect((await ask(path)).body).toBe("hello");
  });

  test("a drain completes what is under way, while nobody finds it any more", async () => {
    const path = newPath();
    const held: (() => void)[] = [];
    const listener = newListener((_, res) => void held.push(() => res.end("late")));
    await listener.listen({ path });
    const answer = ask(path);
    await eventually(
      () => held.length === 1,
      () => "never asked",
    );
    const drained = listener.drain();
    expect(existsSync(path)).toBe(false);
    await expect(ask(path)).rejects.toThrow("ENOENT");
    for (const finish of held) finish();
    expect(await answer).toMatchObject({ body: "late", headers: { connection: "close" } });
    await drained;
  });

  test("ended before it listens, it never does", async () => {
    const path = newPath();
    const listener = newListener();
    const listening = listener.listen({ path });
    await Promise.all([expect(listening).rejects.toMatchObject({ reason: "LISTENER_CLOSED" }), listener.drain()]);
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});

describe("its file", () => {
  test.each([
    { mode: undefined, permissions: 0o600 },
    { mode: 0o660, permissions: 0o660 },
    { mode: "0666", permissions: 0o666 },
    { mode: "700", permissions: 0o700 },
    { mode: 0, permissions: 0 },
  ])("has the permissions asked for ($mode), whatever the umask", async ({ mode, permissions }) => {
    const umask = process.umask();
    onTestFinished(() => void process.umask(umask));
    for (const each of [0, 0o077]) {
      process.umask(each);
      const path = newPath();
      await newListener().listen({ path, mode });
      expect(lstatSync(path).mode & 0o777).toBe(permissions);
      expect(process.umask()).toBe(each);
    }
  });

  test("never stands under its name with other permissions", async () => {
    const path = newPath();
    // A process of its own looks all the time, as an attacker would.
    const program = `
      const fs = require("fs");
      const [, path, folder] = process.argv;
      const seen = new Set();
      const look = (kind, file) => {
        try { seen.add(kind + " " + (fs.statSync(file).mode & 0o777).toString(8)); } catch {}
      };
      process.on("message", () => process.send([...seen]));
      process.send("ready");
      (function lookOn() {
        for (let i = 0; i < 500; i++) {
          look("socket", path);
          for (const name of fs.readdirSync(folder)) if (name.startsWith(".")) look("folder", folder + "/" + name);
          for (const name of fs.readdirSync(folder + "/..")) if (name !== "run") seen.add("beside " + name);
        }
        setImmediate(lookOn);
      })();`;
    const child = spawn(process.execPath, ["-e", program, path, dirname(path)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child, "message");
    for (let round = 0; round < 50; round++) {
      const listener = newListener();
      await listener.listen({ path });
      await listener.drain();
    }
    const last = newListener();
    await last.listen({ path });
    let told: string[];
    do {
      child.send("tell");
      [told] = (await once(child, "message")) as [string[]];
    } while (!told.includes("socket 600"));
    expect(told.filter((what) => what !== "socket 600" && what !== "folder 700")).toEqual([]);
    await last.drain();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  test("that a dead process left is replaced", async () => {
    const path = newPath();
    await leaveSocket(path);
    const { ino } = lstatSync(path);
    await expect(ask(path)).rejects.toThrow("ECONNREFUSED");
    const listener = newListener();
    await listener.listen({ path });
    expect((await ask(path)).body).toBe("hello");
    expect(lstatSync(path).ino).not.toBe(ino);
  });

  test("that a living process answers on is left to it", async () => {
    const path = newPath();
    const first = newListener((_, res) => void res.end("first"));
    await first.listen({ path });
    const second = newListener();
    await expect(second.listen({ path })).rejects.toMatchObject({
      reason: "ADDRESS_IN_USE",
      message: `the path ${path} is already in use; choose another with the \`path\` option`,
      metadata: { field: "path" },
    });
    expect((await ask(path)).body).toBe("first");
    expect(readdirSync(dirname(path))).toEqual(["socket"]);
    await first.drain();
    await second.listen({ path });
  });

  test("that somebody else put there meanwhile is not removed at the end", async () => {
    const path = newPath();
    const listener = newListener();
    await listener.listen({ path });
    unlinkSync(path);
    const other = newListener((_, res) => void res.end("other"));
    await other.listen({ path });
    await listener.drain();
    expect((await ask(path)).body).toBe("other");
  });

  test.each<[string, (path: string) => void, (path: string) => unknown]>([
    ["a file", (path) => writeFileSync(path, "dear"), (path) => readFileSync(path, "utf8")],
    ["an empty file", (path) => writeFileSync(path, ""), (path) => statSync(path).isFile()],
    ["a folder", (path) => mkdirSync(path), (path) => statSync(path).isDirectory()],
    ["a link to nowhere", (path) => symlinkSync("nowhere", path), (path) => lstatSync(path).isSymbolicLink()],
    [
      "a second name of a file",
      (path) => {
        writeFileSync(`${path}.other`, "dear");
        linkSync(`${path}.other`, path);
      },
      (path) => readFileSync(path, "utf8"),
    ],
  ])("is never put in the place of %s", async (_, put, look) => {
    const path = newPath();
    put(path);
    const before = look(path);
    const listener = newListener();
    await expect(listener.listen({ path })).rejects.toMatchObject({
      reason: "PATH_NOT_A_SOCKET",
      message: expect.stringMatching(/something else than a socket, which is left alone/),
      metadata: { field: "path" },
    });
    expect(look(path)).toEqual(before);
    expect(before).toBeTruthy();
    // Another attempt is open.
    await listener.listen({ path: newPath() });
  });

  test("needs a folder", async () => {
    const path = join(newPath("no-such-folder"), "socket");
    await expect(newListener().listen({ path })).rejects.toMatchObject({
      reason: "PATH_NOT_FOUND",
      message: `the folder of the path ${path} does not exist; create it, or choose another with the \`path\` option`,
    });
  });

  test("may have the longest name that the system takes", async () => {
    const folder = dirname(newPath());
    const longest = process.platform === "darwin" ? 103 : 107;
    const path = join(folder, "x".repeat(longest - folder.length - 1));
    expect(path.length).toBe(longest);
    await newListener().listen({ path });
    expect((await ask(path)).body).toBe("hello");
    await expect(newListener().listen({ path: `${path}x` })).rejects.toThrow(/too long for a Unix socket by 1 byte/);
    // The socket comes to be beside its name, in a folder that has a name too.
    const deep = join(folder, "y".repeat(longest - folder.length - 4));
    mkdirSync(deep);
    await expect(newListener().listen({ path: join(deep, "s") })).rejects.toThrow(/too long for a Unix socket by/);
  });
});

/** Leaves a socket behind, as a process does that is killed. */
async function leaveSocket(path: string): Promise<void> {
  const child = spawn(
    process.execPath,
    ["-e", "require('net').createServer().listen(process.argv[1], () => process.send(0))", path],
    {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    },
  );
  await once(child, "message");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(lstatSync(path).isSocket()).toBe(true);
}

test("two that begin at once: one listens, the other says why not, and holds nothing", async () => {
  const pipes = () => process.getActiveResourcesInfo().filter((name) => name.startsWith("Pipe")).length;
  const before = pipes();
  for (let round = 0; round < 6; round++) {
    const path = newPath();
    await leaveSocket(path);
    const listeners = [newListener(), newListener()];
    const outcomes = await Promise.allSettled(listeners.map((listener) => listener.listen({ path })));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { reason: "ADDRESS_IN_USE" },
    });
    expect((await ask(path)).body).toBe("hello");
    for (const listener of listeners) await listener.drain({ deadlineMs: 0 });
    await eventually(
      () => pipes() <= before,
      () => `${pipes()} pipes, ${before} before`,
    );
  }
});
