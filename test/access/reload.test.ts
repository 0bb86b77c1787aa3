import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { encodeTokens } from "../../src/access/token-file.ts";
import { requirement } from "../support/requirement.ts";
import { accessWith, bearer, nameOf, put, scratch, tokenFile, tokenOf } from "./fixtures.ts";

const INVALID = "UNAUTHENTICATED CREDENTIALS_INVALID";
const [alice, bob] = [tokenOf("alice"), tokenOf("bob")];
const both = encodeTokens([alice.entry, bob.entry]);
const onlyBob = encodeTokens([bob.entry]);

/** Resolves when something is so: at the latest when the file has been read again, which the watch or the poll does. */
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 20 });

const changes: readonly [how: string, change: (path: string) => void][] = [
  ["replaced by another file", (path) => put(path, onlyBob)],
  [
    "written in several steps",
    (path) => {
      truncateSync(path);
      writeFileSync(path, onlyBob.slice(0, 20));
      writeFileSync(path, onlyBob);
    },
  ],
];

describe("a file of tokens that is", () => {
  test.each(changes)("%s is read again: who is no longer in it is no longer let in", async (_, change) => {
    const path = tokenFile(alice.entry);
    const { access, errors } = accessWith({ tokens: path, limits: { maxFailuresPerMinute: 100_000 } });
    const before = await access.authenticate(bearer(alice.token));
    expect(access.isStillValid(before)).toBe(true);
    change(path);
    await until(async () => expect(await nameOf(access, bearer(bob.token))).toBe("bob"));
    expect(await nameOf(access, bearer(alice.token))).toBe(INVALID);
    expect(access.isStillValid(before)).toBe(false);
    expect(errors).toEqual([]);
  });

  test("behind links that are turned over at once, as Kubernetes mounts it, is read again", async () => {
    const folder = scratch();
    for (const [version, text] of [
      ["1", both],
      ["2", onlyBob],
    ] as const) {
      mkdirSync(join(folder, `..${version}`));
      writeFileSync(join(folder, `..${version}`, "tokens.json"), text);
    }
    symlinkSync("..1", join(folder, "..data"));
    symlinkSync(join("..data", "tokens.json"), join(folder, "tokens.json"));
    const { access } = accessWith({
      tokens: join(folder, "tokens.json"),
      limits: { maxFailuresPerMinute: 100_000 },
    });
    expect(await nameOf(access, bearer(alice.token))).toBe("alice");
    symlinkSync("..2", join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    await until(async () => expect(await nameOf(access, bearer(alice.token))).toBe(INVALID));
    expect(await nameOf(access, bearer(bob.token))).toBe("bob");
  });

  const breakages: readonly [what: string, breakIt: (path: string) => void, said: RegExp][] = [
    ["empty", (path) => put(path, ""), /not JSON/],
    ["cut off", (path) => put(path, both.slice(0, -40)), /not JSON/],
    [
      "not what it should be",
      (path) => put(path, '{"version":1,"tokens":[{"name":"mallory"}]}'),
      /tokens\[0\] has no id/,
    ],
    ["gone", (path) => unlinkSync(path), /ENOENT/],
    [
      "a folder",
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
      /not a file/,
    ],
    ["too large", (path) => put(path, " ".repeat(5_000_000)), /more than 4194304 bytes/],
  ];
  test.each(breakages)(
    "%s lets in who was let in before and nobody else, is told once, and can be mended",
    async (_, breakIt, said) => {
      const path = tokenFile(alice.entry);
      const { access, errors } = accessWith({ tokens: path, limits: { maxFailuresPerMinute: 100_000 } });
      const before = await access.authenticate(bearer(alice.token));
      breakIt(path);
      await until(() => expect(errors).toHaveLength(1));
      expect(errors[0]).toMatch(said);
      expect(errors[0]).toMatch(/^access.tokens: .*previous tokens stay valid\.$/);
      expect(await nameOf(access, bearer(alice.token))).toBe("alice");
      expect(access.isStillValid(before)).toBe(true);
      for (const shown of ["", "mallory", bob.token]) expect(await nameOf(access, bearer(shown))).toBe(INVALID);
      rmSync(path, { recursive: true, force: true });
      put(path, onlyBob);
      await until(async () => expect(await nameOf(access, bearer(alice.token))).toBe(INVALID));
      expect(errors).toHaveLength(1);
    },
  );

  test("changed elsewhere leaves those who stay as they were, so that what they watch goes on", async () => {
    const path = tokenFile(alice.entry);
    const { access } = accessWith({ tokens: path, limits: { maxFailuresPerMinute: 100_000 } });
    const before = await access.authenticate(bearer(alice.token));
    put(path, both);
    await until(async () => expect(await nameOf(access, bearer(bob.token))).toBe("bob"));
    expect(access.isStillValid(before)).toBe(true);
    put(path, encodeTokens([{ ...alice.entry, permissions: ["info:read"] }]));
    await until(async () => expect(await nameOf(access, bearer(bob.token))).toBe(INVALID));
    expect(access.isStillValid(before), "she has fewer rights now").toBe(false);
  });

  test.runIf(requirement("POSIX permissions", process.platform !== "win32"))(
    "writable by others is warned of; readable by others is not",
    () => {
      const path = tokenFile(alice.entry);
      chmodSync(path, 0o644);
      expect(accessWith({ tokens: path }).errors).toEqual([]);
      chmodSync(path, 0o664);
      expect(accessWith({ tokens: path }).errors).toEqual([
        "access.tokens: tokens.json is writable by other users (mode 664), who can grant access; use mode 600",
      ]);
    },
  );

  test.runIf(requirement("POSIX permissions", process.platform !== "win32"))(
    "that becomes writable by others is warned of at once, each time that it does",
    async () => {
      const path = tokenFile(alice.entry);
      const { errors } = accessWith({ tokens: path });
      for (const [at, mode] of [0o666, 0o622].entries()) {
        chmodSync(path, mode);
        await until(() => expect(errors).toHaveLength(at + 1));
        expect(errors[at]).toContain(`(mode ${mode.toString(8)})`);
      }
      chmodSync(path, 0o600);
      put(path, both);
      chmodSync(path, 0o666);
      await until(() => expect(errors).toHaveLength(3));
    },
  );
});
