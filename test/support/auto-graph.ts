import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import {
  type ApplicationFolder,
  applicationFolder,
  type RunningApplication,
  runApplication,
} from "./auto-application.ts";

const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);

/** An application without a line of ours, of which an own script wires the same objects to adapters. */
export interface WiredApplication {
  /** The name of its module, `shop.mjs` or `shop.cjs`. It exports `run()`, which resolves when all its messages have been handled. */
  readonly script: string;
  readonly text: string;
  /** Where the adapter stands below `src`, what it exports, and an expression that makes adapters of `app`, the module's exports. */
  readonly adapter: { readonly path: string; readonly name: string; readonly adapters: string };
  /** As in `applicationFolder`. */
  readonly packages?: Readonly<Record<string, string>>;
  /** Besides these, `RUN` is 0 or 1. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Runs an application twice: preloaded and unchanged, and wired explicitly. Expects both to show the same graph, apart from ids and times.
 * Returns what runs unchanged, and its graph.
 */
export async function expectGraphOfWiring({ script, text, adapter, packages, env }: WiredApplication) {
  const isModule = script.endsWith(".mjs");
  const load = isModule ? `import { run } from "./${script}";` : `const { run } = require("./${script}");`;
  const folder: ApplicationFolder = applicationFolder(
    {
      [script]: text,
      [isModule ? "main.mjs" : "main.cjs"]:
        `${load} run().then(() => console.log("ready")); setInterval(() => {}, 1000);`,
      "wired.mjs": `
        import * as app from "./${script}";
        import { createActuator } from ${source("index.ts")};
        import { integrationGraph } from ${source("integration-graph/builder.ts")};
        import { ${adapter.name} } from ${source(adapter.path)};
        const flow = integrationGraph({ app: "shop" });
        for (const adapter of ${adapter.adapters}) flow.attach(adapter);
        createActuator({ name: "shop", integrationGraph: flow });
        await app.run();
        console.log("ready");
        setInterval(() => {}, 1000);
      `,
    },
    packages,
  );
  const found = runApplication(folder, isModule ? "main.mjs" : "main.cjs", { env: { ...env, RUN: "0" } });
  const wired = runApplication(folder, "wired.mjs", { env: { ...env, RUN: "1" } });
  const deadline = Date.now() + 5_000;
  for (;;) {
    const [graph, explicit] = [await graphOf(found), await graphOf(wired)];
    // Acknowledgements and events may be on their way.
    if (!isDeepStrictEqual(graph, explicit) && Date.now() < deadline) continue;
    expect(graph).toEqual(explicit);
    return { found, graph };
  }
}

/** What an application shows of its graph once it has written "ready". */
export async function graphOf(application: RunningApplication) {
  await Promise.race([application.said("ready"), application.exit()]);
  if (!application.output().stdout.includes("ready")) throw new Error(application.output().stderr);
  return normalized(await application.get("/integrationgraph"));
}

interface ShownNode {
  readonly name: string;
  readonly sendTimers?: { readonly successes: { readonly count: number } };
}

interface Shown {
  readonly nodes: readonly (Record<string, unknown> & { readonly nodeId: number; readonly name: string })[];
  readonly links: readonly { readonly from: number; readonly to: number; readonly type: string }[];
}

/** Without ids, times and the places of servers, in the order of names. */
function normalized({ nodes, links }: Shown) {
  const names = new Map(nodes.map(({ nodeId, name, componentType }) => [nodeId, `${componentType} ${name}`]));
  return {
    nodes: nodes.map(({ nodeId: _, ...node }) => withoutTimes(node) as ShownNode).sort(byText),
    links: links.map(({ from, type, to }) => `${names.get(from)} -${type}-> ${names.get(to)}`).sort(),
  };
}

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name !== "mean" && name !== "max");
  return Object.fromEntries(entries.map(([name, each]) => [name, withoutTimes(each)]));
}

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
