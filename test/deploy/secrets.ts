import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cli } from "../cli/cli-process.ts";
import { blocksOf } from "../documentation/pages.ts";
import { commandLines } from "../documentation/shell.ts";

const commands = blocksOf("sh")
  .filter(({ page }) => page === "docs/deployment.md")
  .flatMap(({ code }) => commandLines(code, "connect-actuator"));

/** Runs the commands of the documentation that create tokens. Returns the operator's, and the files that the page puts into a folder. */
export async function createSecrets(): Promise<{ operator: string; files: Readonly<Record<string, string>> }> {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-secrets-"));
  try {
    const tokens: string[] = [];
    for (const words of commands.filter(([first]) => first === "token")) {
      const args = words.map((word) => word.replace("deploy/secrets", folder));
      const { stdout, stderr } = await cli(args);
      const [token] = /ca_\S+/.exec(stdout) ?? [];
      if (token === undefined) throw new Error(stderr);
      tokens.push(token);
    }
    const [operator = "", fleet = ""] = tokens;
    const file = readFileSync(join(folder, "tokens.json"), "utf8");
    return { operator, files: { "tokens.json": file, "fleet.token": `${fleet}\n`, "redis-url": "redis://redis:6379" } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The instances of the fleet, each with its zone. `at` leads to one of them. */
export async function listed(at: readonly string[]): Promise<string[]> {
  const { stdout } = await cli(["fleet", "list", "--json", ...at]);
  const { instances = [] } = stdout === "" ? {} : JSON.parse(stdout);
  return instances.map(({ id, labels }: { id: string; labels: { zone: string } }) => `${id} ${labels.zone}`);
}
