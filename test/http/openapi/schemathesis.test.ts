// @module-tag slow
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createToken } from "../../../src/access/token.ts";
import { createActuator } from "../../../src/actuator.ts";
import type { ActuatorOptions } from "../../../src/actuator-options.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { MemorySessionStore } from "../../../src/sessions/memory-store.ts";
import { requirement } from "../../support/requirement.ts";
import { runSchemathesis, schemathesis } from "../../support/schemathesis.ts";

/** Loggers, groups, sessions, a graph with messages, health with checks and metrics. */
function application(): ActuatorOptions {
  const store = new MemorySessionStore();
  for (let index = 0; index < 500; index++)
    store.put({ id: `alice ${index}`, username: "alice", attributeNames: ["a"] });
  const graph = integrationGraph({ app: "shop" });
  const channel = graph.channel("orders");
  graph.router("byCountry", { input: channel, routes: ["de", "fr"] });
  return {
    name: "shop",
    version: "1.2.3",
    loggers: { groups: { web: ["http", "express"], empty: [] }, logLevelChanges: false },
    sessions: { store, ids: "raw" },
    integrationGraph: graph,
    health: { checks: { database: () => true, cache: () => true } },
    metrics: true,
    audit: false,
  };
}

/** What is left out, and why. */
const LEFT_OUT = [
  {
    reason:
      "OPTIONS asks what can be done at a path. The answer is the same whether a session of the path is there or not.",
    configuration: '[[operations]]\ninclude-method = "OPTIONS"\nchecks.use_after_free.enabled = false\n',
  },
];

interface Case {
  readonly options?: (folder: string) => Promise<{ readonly options: ActuatorOptions; readonly token?: string }>;
  readonly configuration?: string;
  readonly arguments: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  "an application that asks nobody who they are": { arguments: ["--max-examples=300"] },
  "an application that asks for a token": {
    options: async (folder) => {
      const { token, id, hash } = createToken();
      const tokens = join(folder, "tokens.json");
      await writeFile(tokens, JSON.stringify({ version: 1, tokens: [{ name: "st", id, hash, permissions: ["*"] }] }));
      // It fails to say who it is, and writes, as often as it likes.
      const limits = { maxFailuresPerMinute: 1_000_000, maxWritesPerMinute: 1_000_000 };
      return { options: { access: { tokens, limits } }, token };
    },
    arguments: ["--max-examples=60"],
  },
  "an application that lets nobody write": {
    options: async () => ({ options: { readOnly: true } }),
    arguments: ["--max-examples=20"],
  },
  "the sessions of a user, looked for, read and ended in turn": {
    configuration: '[parameters]\nusername = "alice"\n',
    arguments: ["--phases=stateful", "--include-tag=sessions", "--max-examples=60"],
  },
};

describe.runIf(requirement("schemathesis for Python", schemathesis !== undefined))(
  "schemathesis finds nothing in",
  () => {
    test.each(Object.entries(CASES))(
      "%s",
      { timeout: 300_000 },
      async (name, { options, configuration = "", ...run }) => {
        const folder = await mkdtemp(join(tmpdir(), "connect-actuator-schemathesis-"));
        onTestFinished(() => rm(folder, { recursive: true, force: true }));
        const errors: unknown[] = [];
        const more = await options?.(folder);
        const actuator = createActuator({ ...application(), ...more?.options, onError: (error) => errors.push(error) });
        onTestFinished(() => actuator.close({ deadlineMs: 0 }));
        const { port } = await actuator.listen({ port: 0 });

        const { passed, said } = await runSchemathesis({
          url: `http://127.0.0.1:${port}/actuator/openapi.json`,
          folder,
          configuration: [configuration, ...LEFT_OUT.map((left) => left.configuration)].join("\n"),
          options: [
            ...run.arguments,
            ...(more?.token === undefined ? [] : [`--header=Authorization:Bearer ${more.token}`]),
          ],
        });
        console.log(`${name}\n${summaryOf(said)}`);
        for (const { reason } of LEFT_OUT) console.log(`left out: ${reason}`);
        expect(passed, said).toBe(true);
        expect(errors).toEqual([]);
      },
    );
  },
);

/** What was tested, and how much. */
function summaryOf(said: string): string {
  const lines = said.split("\n").filter((line) => /Operations: +\d|Tested: |generated|Seed: |API Links: /.test(line));
  return lines.map((line) => line.trim()).join("\n");
}
