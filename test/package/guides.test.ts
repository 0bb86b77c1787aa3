// @module-tag slow
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Block, blocksOf, root } from "../documentation/pages.ts";
import { freePort } from "../support/server-process.ts";
import { packedPackage } from "./packed-package.ts";

/** The guides that are whole programs: with files, a block of shell that starts it, and commands with what they print. */
const guides = Map.groupBy(
  blocksOf("js", "ts", "json", "sh", "console").filter(({ page }) => page.startsWith("docs/guides/")),
  ({ page }) => page,
);
const programs = [...guides].filter(([, blocks]) => blocks.some(({ language }) => language === "console"));
let modules: string;

beforeAll(async () => {
  modules = join(await mkdtemp(join(tmpdir(), "connect-actuator-guides-")), "node_modules");
  const installed = join(modules, "connect-actuator");
  await mkdir(installed, { recursive: true });
  await promisify(execFile)("tar", ["-xzf", await packedPackage(), "--strip-components=1", "-C", installed]);
  for (const name of await readdir(join(root, "node_modules"))) {
    await symlink(join(root, "node_modules", name), join(modules, name));
  }
  // The programs of libraries, and the command line as npm would link it.
  await rm(join(modules, ".bin"));
  await cp(join(root, "node_modules", ".bin"), join(modules, ".bin"), { recursive: true, verbatimSymlinks: true });
  const { bin } = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
  const program = join(installed, bin["connect-actuator"]);
  await chmod(program, 0o755);
  await rm(join(modules, ".bin", "connect-actuator"), { force: true });
  await symlink(program, join(modules, ".bin", "connect-actuator"));
}, 120_000);

afterAll(() => rm(dirname(modules), { recursive: true, force: true }));

test("there are guides", () => expect(programs.length).toBeGreaterThanOrEqual(4));

describe.each(programs)("%s", (_, blocks) => {
  test("its program starts, and its commands print what the page says", async () => {
    const folder = await mkdtemp(join(dirname(modules), "guide-"));
    const ports = new Map([
      ["3000", String(await freePort())],
      ["9001", String(await freePort())],
    ]);
    // Programs are found by PATH here: npx takes a second each time.
    const moved = (text: string) =>
      text.replace(/\b(3000|9001)\b/g, (port) => ports.get(port)!).replace(/^npx |(?<=&& )npx /gm, "");
    await symlink(modules, join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    for (const { file, code } of blocks) if (file !== undefined) await writeFile(join(folder, file), moved(code));
    const environment = {
      PATH: `${join(modules, ".bin")}${delimiter}${process.env.PATH}`,
      ACTUATOR_URL: `http://127.0.0.1:${ports.get("9001")}`,
      NO_COLOR: "1",
    };
    const shell = blocks.findLast(({ language, code }) => language === "sh" && /^(npx tsc|node) /m.test(code))!;
    await start(moved(shell.code), folder, environment, [...ports.values()]);
    for (const { command, output } of commandsOf(blocks)) {
      const ran = await promisify(execFile)("bash", ["-c", moved(command)], {
        cwd: folder,
        env: { ...process.env, ...environment },
      });
      expect(ran.stdout.trim(), command).toMatch(patternOf(moved(output)));
    }
  });
});

test.each([
  ["module", ["--module", "nodenext"]],
  ["commonjs", ["--module", "nodenext"]],
  ["commonjs", ["--module", "node20"]],
  ["commonjs", ["--module", "commonjs"]],
  ["module", ["--module", "preserve"]],
  ["module", ["--module", "esnext", "--moduleResolution", "bundler"]],
])("docs/guides/typescript.md: a package of type %s compiles with %j", async (type, options) => {
  const folder = await mkdtemp(join(dirname(modules), "typescript-"));
  await symlink(modules, join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type }));
  const program = `import { createActuator } from "connect-actuator";
    import { pinoLoggers } from "connect-actuator/pino";
    import pino from "pino";
    createActuator({ loggers: { adapters: [pinoLoggers(pino())] } });`;
  await writeFile(join(folder, "app.ts"), program);
  const strict = ["--ignoreConfig", "--noEmit", "--strict", "--target", "es2023", "--types", "node"];
  await promisify(execFile)("tsc", [...strict, ...options, "app.ts"], { cwd: folder });
});

test("docs/guides/typescript.md: require loads the package", async () => {
  const { code } = blocksOf("js").find(({ file }) => file === "app.cjs")!;
  const folder = await mkdtemp(join(dirname(modules), "commonjs-"));
  await symlink(modules, join(folder, "node_modules"));
  await writeFile(join(folder, "app.cjs"), code);
  await promisify(execFile)("node", ["app.cjs"], { cwd: folder });
});

/** Starts what a block of shell says, until the test ends, and waits for its ports. */
async function start(shell: string, cwd: string, environment: NodeJS.ProcessEnv, ports: readonly string[]) {
  const child: ChildProcess = spawn("bash", ["-c", shell], {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let text = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => (text += chunk));
  onTestFinished(() => void (child.exitCode ?? process.kill(-child.pid!, "SIGKILL")));
  await vi.waitUntil(
    async () => {
      if (child.exitCode !== null) throw new Error(`the program ended:\n${text}`);
      return (await Promise.all(ports.map(isListening))).every(Boolean);
    },
    { timeout: 50_000, interval: 100 },
  );
}

function isListening(port: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

/** The commands of the blocks of a console, each with what it prints. */
function commandsOf(blocks: readonly Block[]): { command: string; output: string }[] {
  return blocks
    .filter(({ language }) => language === "console")
    .flatMap(({ code }) => code.split(/^\$ /m).slice(1))
    .map((entry) => {
      const [command, ...output] = entry.trimEnd().split("\n");
      return { command: command!, output: output.join("\n") };
    });
}

/** What is printed, with "…" for any text. */
function patternOf(output: string): RegExp {
  const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`^${output.split("…").map(literally).join("[\\s\\S]*")}$`);
}
