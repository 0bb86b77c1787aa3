import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { attachTo } from "../support/attach-command.ts";
import { applicationFolder } from "../support/auto-application.ts";
import { requirement } from "../support/requirement.ts";
import { until } from "../support/until.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const NAMESPACES = ["--pid", "--fork", "--kill-child", "--mount-proc"];
const canUnshare = spawnSync("unshare", [...NAMESPACES, "true"]).status === 0;

/** All file systems are read-only but the one for shared memory. */
const READ_ONLY = `mount -o remount,bind,ro / && mount -t tmpfs tmpfs /dev/shm && exec "$@"`;

test.runIf(requirement("unshare with namespaces of its own", canUnshare))(
  "in a container with a read-only file system the command runs inside, and says so outside",
  async () => {
    const folder = applicationFolder({ "idle.mjs": `setInterval(() => {}, 1000); console.log("ready");` });
    const { XDG_RUNTIME_DIR: _, CONNECT_ACTUATOR_RUNTIME_DIR: __, ...rest } = folder.env;
    const env = { ...rest, TMPDIR: folder.folder };
    // One that can no longer be written to, as in an image.
    mkdirSync(join(folder.folder, `connect-actuator-${process.getuid!()}`), { mode: 0o700 });
    const script = [process.execPath, "--inspect-port=0", join(folder.folder, "idle.mjs")];
    const container = spawn("unshare", [...NAMESPACES, "sh", "-c", READ_ONLY, "sh", ...script], { env, stdio: "pipe" });
    onTestFinished(() => void container.kill("SIGKILL"));
    await once(container.stdout, "data");
    const children = `/proc/${container.pid}/task/${container.pid}/children`;
    await until(() => readFileSync(children, "utf8").trim() !== "");
    const pid = Number(readFileSync(children, "utf8"));

    const outside = await attachTo(folder, pid);
    expect(outside.code).toBe(1);
    expect(outside.stderr).toContain(`process ${pid} runs in a container, as its process 1`);
    expect(outside.stderr).toContain("docker exec <container> npx connect-actuator attach 1");

    const inside = (...words: string[]) =>
      spawnSync("nsenter", ["-t", `${pid}`, "-p", "-m", process.execPath, MAIN, ...words], { env, encoding: "utf8" });
    const attached = inside("attach", "1");
    expect(attached.status, attached.stderr).toBe(0);
    expect(attached.stdout).toMatch(/socket +\/dev\/shm\/connect-actuator-\d+\/1\.sock/);
    const loggers = inside("loggers", "list", "--pid", "1");
    expect(loggers.status, loggers.stderr).toBe(0);
    expect(loggers.stdout).toContain("ROOT");
  },
);
