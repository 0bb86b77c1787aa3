import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { FollowedFiles } from "../../../src/common/files/followed-files.ts";

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "followed-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Follows files that held `content`; "broken" makes no sense in any of them. */
function follow(paths: readonly string[], content: readonly string[]) {
  const seen: string[] = [];
  const errors: string[] = [];
  const files = new FollowedFiles(paths, {
    content: content.map((text) => Buffer.from(text)),
    read: () => Promise.all(paths.map((path) => readFile(path))),
    onChange(contents) {
      const text = contents.join(" and ");
      if (text.includes("broken")) throw new Error("it is broken");
      seen.push(text);
    },
    onError: (error) => void errors.push((error as Error).message),
  });
  onTestFinished(() => files.close());
  return { files, seen, errors };
}

/** Resolves when something is so. Does not move the clock, as Vitest's own would. */
async function until(check: () => void): Promise<void> {
  const end = performance.now() + 30_000;
  for (;;) {
    try {
      return check();
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Without the clock of the polls, only a word of the file system leads to a look. */
function stopPolling(): void {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Makes two files that hold "a", and tells their paths and how both come to hold something else. */
type Way = () => { paths: string[]; replace: (text: string) => void };

const inOneFolder = (write: (path: string, text: string) => void): Way => {
  return () => {
    const folder = scratch();
    const paths = ["one", "two"].map((name) => join(folder, name));
    for (const path of paths) writeFileSync(path, "a");
    return { paths, replace: (text) => paths.forEach((path) => void write(path, text)) };
  };
};

const ways: readonly [how: string, way: Way][] = [
  ["written in place, as some editors do", inOneFolder((path, text) => writeFileSync(path, text))],
  [
    "moved away and made anew, as other editors do",
    inOneFolder((path, text) => {
      renameSync(path, `${path}~`);
      writeFileSync(path, text);
    }),
  ],
  [
    "renamed over",
    inOneFolder((path, text) => {
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    }),
  ],
  [
    "behind one link that is turned, as Kubernetes mounts them",
    () => {
      const folder = scratch();
      let version = 0;
      const replace = (text: string) => {
        const data = `..version-${++version}`;
        mkdirSync(join(folder, data));
        for (const name of ["one", "two"]) writeFileSync(join(folder, data, name), text);
        symlinkSync(data, join(folder, "..data_tmp"));
        renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
        if (version > 1) rmSync(join(folder, `..version-${version - 1}`), { recursive: true });
      };
      replace("a");
      const paths = ["one", "two"].map((name) => join(folder, name));
      for (const name of ["one", "two"]) symlinkSync(join("..data", name), join(folder, name));
      return { paths, replace };
    },
  ],
  [
    "behind links of their own to another folder, as certbot has them",
    () => {
      const [archive, live] = [scratch(), scratch()];
      const paths = ["one", "two"].map((name) => join(live, name));
      const replace = (text: string) => {
        for (const name of ["one", "two"]) {
          writeFileSync(join(archive, `${name}-${text}`), text);
          rmSync(join(live, name), { force: true });
          symlinkSync(join(archive, `${name}-${text}`), join(live, name));
        }
      };
      replace("a");
      return { paths, replace };
    },
  ],
  [
    "in two folders",
    () => {
      const paths = [join(scratch(), "one"), join(scratch(), "two")];
      const replace = (text: string) => paths.forEach((path) => void writeFileSync(path, text));
      replace("a");
      return { paths, replace };
    },
  ],
];

describe("files are read again that are", () => {
  test.each(ways)("%s", async (_, way) => {
    stopPolling();
    const { paths, replace } = way();
    const { seen, errors } = follow(paths, ["a", "a"]);
    for (const text of ["b", "c"]) {
      replace(text);
      await until(() => expect(seen.at(-1)).toBe(`${text} and ${text}`));
    }
    expect(errors).toEqual([]);
  });

  test("changed without word of it, as over a network", async () => {
    stopPolling();
    const path = join(scratch(), "late", "file");
    const { seen } = follow([path], ["a"]);
    // The folder was not there to be watched.
    mkdirSync(dirname(path));
    writeFileSync(path, "b");
    await vi.advanceTimersByTimeAsync(5_000);
    await until(() => expect(seen).toEqual(["b"]));
  });

  test("changed while they are read", async () => {
    let held = "b";
    const seen: string[] = [];
    const files = new FollowedFiles([], {
      content: "a",
      async read() {
        const text = held;
        await setImmediate();
        return text;
      },
      onChange: (text) => void seen.push(text),
      onError: () => expect.unreachable(),
    });
    onTestFinished(() => files.close());
    const reading = files.check();
    held = "c";
    await Promise.all([reading, files.check()]);
    expect(seen).toEqual(["b", "c"]);
  });
});

describe("files that make no sense", () => {
  test.each<[what: string, harm: (path: string) => void, said: RegExp]>([
    ["broken", (path) => writeFileSync(path, "broken"), /it is broken/],
    ["gone", (path) => unlinkSync(path), /ENOENT/],
  ])("since one is %s are told of once, and can be mended", async (_, harm, said) => {
    const [whole, harmed] = [join(scratch(), "one"), join(scratch(), "two")];
    for (const path of [whole, harmed]) writeFileSync(path, "a");
    const { files, seen, errors } = follow([whole, harmed], ["a", "a"]);
    harm(harmed);
    await until(() => expect(errors).toHaveLength(1));
    expect(errors[0]).toMatch(said);
    for (let look = 0; look < 3; look++) await files.check();
    writeFileSync(harmed, "b");
    await until(() => expect(seen).toEqual(["a and b"]));
    expect(errors).toHaveLength(1);
    harm(harmed);
    await until(() => expect(errors).toHaveLength(2));
  });

  test("are looked into once, and not again until they change", async () => {
    let held = "broken";
    const looks: string[] = [];
    const errors: unknown[] = [];
    const files = new FollowedFiles([], {
      content: "a",
      read: async () => held,
      onChange(content) {
        looks.push(content);
        if (content === "broken") throw new Error("it is broken");
      },
      onError: (error) => void errors.push(error),
    });
    onTestFinished(() => files.close());
    for (let look = 0; look < 3; look++) await files.check();
    held = "b";
    await files.check();
    held = "broken";
    await files.check();
    expect(looks).toEqual(["broken", "b", "broken"]);
    expect(errors).toEqual([new Error("it is broken")]);
  });

  test("at one look, and do at the next, are nothing to tell of", async () => {
    const path = join(scratch(), "file");
    const { files, seen, errors } = follow([path], ["a"]);
    await files.check();
    writeFileSync(path, "b");
    await files.check();
    expect({ seen, errors }).toEqual({ seen: ["b"], errors: [] });
  });
});

test("files that are no longer followed are left alone, even by a read that is under way", async () => {
  const path = join(scratch(), "file");
  writeFileSync(path, "b");
  const { files, seen } = follow([path], ["a"]);
  const reading = files.check();
  files.close();
  await reading;
  expect(seen).toEqual([]);
});

test("what follows files keeps no process alive", async () => {
  const alive = () => process.getActiveResourcesInfo().filter((name) => /FSEvent|Timeout/.test(name)).length;
  const before = alive();
  const { files } = follow([join(scratch(), "file")], ["a"]);
  await files.check();
  expect(alive()).toBeLessThanOrEqual(before);
});
