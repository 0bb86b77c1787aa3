import { spawn, spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { unprivilegedUser } from "./postgres-server.ts";
import { freePort } from "./server-process.ts";

/** Whether `pgbouncer` is installed, for `describe.runIf(requirement("pgbouncer", pgbouncerFound))`. */
export const pgbouncerFound: boolean = spawnSync("pgbouncer", ["--version"]).status === 0;

/** A PgBouncer in transaction mode before the database `postgres` of a server. */
export interface PgBouncer {
  readonly url: string;
  stop(): void;
}

/** Starts it, ready to answer. */
export async function startPgBouncer(server: { readonly host: string; readonly port: number }): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-pgbouncer-"));
  const user = unprivilegedUser();
  const port = await freePort();
  const users = join(folder, "users.txt");
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(users, '"postgres" ""\n');
  writeFileSync(
    file,
    `[databases]
postgres = host=${server.host} port=${server.port} dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
auth_file = ${users}
pool_mode = transaction
default_pool_size = 3
`,
  );
  if (user.uid !== undefined) for (const path of [folder, users, file]) chownSync(path, user.uid, user.gid);
  const bouncer = spawn("pgbouncer", [file], { ...user, stdio: ["ignore", "ignore", "pipe"] });
  const stop = () => {
    bouncer.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", stop);
  for await (const line of createInterface(bouncer.stderr)) {
    if (!/process up/.test(line)) continue;
    bouncer.stderr.resume();
    return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
  }
  throw new Error("pgbouncer did not start");
}
