import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nameOf, SCHEMA, settingsOf } from "../../src/configuration/schema.ts";

const source = join(import.meta.dirname, "..", "..", "src");

/** Where the options of a section say in their comments what they are by default. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  "": ["actuator-options.ts"],
  access: ["access/options.ts"],
  admin: ["operations/spring-boot-admin/options.ts"],
  cors: ["http/gate/cors-options.ts"],
  fleet: ["fleet/options.ts", "configuration/fleet-options.ts"],
  health: ["operations/health/health-options.ts"],
  listen: ["server/listen-options.ts", "server/tls-options.ts"],
  loggers: ["loggers/options.ts", "loggers/options.ts", "loggers/change-log.ts", "actuator-options.ts"],
  metrics: ["operations/metrics/options.ts"],
  sessions: ["sessions/sessions.ts", "configuration/serve-options.ts"],
};

const UNITS: Readonly<Record<string, number>> = { minutes: 60_000, hours: 3_600_000, hour: 3_600_000 };

/** `Default 10,000`, `Default: false`, `Default 24 hours`, `Default `TLSv1.2``; undefined where a comment says it otherwise. */
function defaultIn(comment: string): unknown {
  const text = comment.replace(/\s*\n\s*\*\s*/g, " ");
  const [, quoted] = /Default:? [`"]+([^`"]+)[`"]/.exec(text) ?? [];
  if (quoted !== undefined) return quoted;
  const [, word, unit] = /Default:? (true|false|[\d,]+)(?: (minutes|hours?))?/.exec(text) ?? [];
  if (word === undefined || word === "true" || word === "false")
    return word === undefined ? undefined : word === "true";
  return Number(word.replaceAll(",", "")) * (UNITS[unit ?? ""] ?? 1);
}

const settings = settingsOf(SCHEMA).filter((setting) => setting.default !== undefined && setting.at.length > 0);
let compared = 0;

test.each(settings.map((setting) => [nameOf(setting), setting] as const))(
  "%s is said to be what it is",
  (_, setting) => {
    const section = setting.at.length === 1 ? "" : setting.at[0]!;
    for (const file of FILES[section] ?? []) {
      const text = readFileSync(join(source, file), "utf8");
      const pattern = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*readonly ${setting.at.at(-1)}\\?:`);
      const said = defaultIn(pattern.exec(text)?.[1] ?? "");
      if (said === undefined) continue;
      compared++;
      const own = Array.isArray(setting.default) ? setting.default[0] : setting.default;
      expect(String(own)).toBe(String(said));
      return;
    }
  },
);

test("most defaults are compared", () => expect(compared).toBeGreaterThan(25));
