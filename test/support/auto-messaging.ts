import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import {
  AUTO,
  applicationFolder,
  type RunningApplication,
  type RunOptions,
  runApplication,
} from "./auto-application.ts";

/** An application that uses a messaging library, as the tests write it. */
export interface MessagingApplication {
  /** The package, and how the application calls what it exports. */
  readonly library: string;
  readonly as: string;
  /**
   * The body of an async function. At `WATCH(object)` the explicit form gives an object to its adapter; at `CREATE()`, or else before
   * all, it makes its actuator.
   */
  readonly body: string;
  /** The expression that closes everything, so that the process ends. */
  readonly close: string;
  /** The function that makes the adapter, its file below src/adapters/graph, and its arguments. */
  readonly source: readonly [name: string, file: string, args?: string];
  readonly env: NodeJS.ProcessEnv;
  /** Packages that stand under another name here. */
  readonly packages?: Readonly<Record<string, string>>;
}

/** How an application is written. */
export type Form = "ESM" | "CommonJS" | "explicit";

/** Runs an application as an ES module, as CommonJS, or with an adapter and an actuator of its own. It writes "ready" when it is done. */
export function runMessaging(
  form: Form,
  application: MessagingApplication,
  options: RunOptions = {},
): RunningApplication {
  const { library, as, source, env, packages } = application;
  const [name, file, args = ""] = source;
  const main = (body: string) => `(async () => { ${body}
    console.log("ready");
    const timer = setInterval(() => {}, 1000);
    process.once("SIGUSR2", async () => { clearInterval(timer); await ${application.close}; });
  })();`;
  const { body } = application;
  const unchanged = main(body.replaceAll(/(WATCH|CREATE)\(\w*\);?/g, ""));
  const wired = main(body.replaceAll("WATCH(", "adapter.watch(").replaceAll("CREATE(", "create("));
  const url = (path: string) => new URL(`../../src/${path}`, import.meta.url).href;
  const text = {
    ESM: `import * as all from "${library}"; const ${as} = all.default ?? all;\n${unchanged}`,
    CommonJS: `const ${as} = require("${library}");\n${unchanged}`,
    explicit: `import * as all from "${library}"; const ${as} = all.default ?? all;
      import { createActuator, integrationGraph } from "${url("index.ts")}";
      import { ${name} } from "${url(`adapters/graph/${file}`)}";
      const adapter = ${name}(${args});
      const flow = integrationGraph({ app: "shop" });
      flow.attach(adapter);
      const create = () => createActuator({ name: "shop", integrationGraph: flow });
      ${body.includes("CREATE(") ? "" : "create();"}
      ${wired}`,
  }[form];
  const script = form === "CommonJS" ? "shop.cjs" : "shop.mjs";
  return runApplication(applicationFolder({ [script]: text }, packages), script, {
    ...options,
    env: { ...env, ...options.env },
  });
}

/** A graph as REST shows it. */
export interface ShownGraph {
  readonly nodes: readonly { readonly nodeId: number; readonly name: string }[];
  readonly links: readonly { readonly from: number; readonly to: number; readonly type: string }[];
}

/**
 * The graph that an application shows once it is ready, without durations. Its links are sorted: a broker's confirmation and its delivery
 * race, and a link stands where it was first seen. The application then has to end by itself.
 */
export async function graphOf(application: RunningApplication): Promise<ShownGraph> {
  await application.said("ready");
  const graph = await application.get("/integrationgraph");
  application.child.kill("SIGUSR2");
  expect(await application.exit()).toBe(0);
  expect(application.output()).toEqual({ stdout: "ready\n", stderr: "" });
  const shown: ShownGraph = JSON.parse(
    JSON.stringify(graph, (key, value) => (key === "mean" || key === "max" ? undefined : value)),
  );
  // Ids are not the same in each run.
  const names = new Map(shown.nodes.map(({ nodeId, name }) => [nodeId, name]));
  const key = ({ from, to }: ShownGraph["links"][number]) => `${names.get(from)} ${names.get(to)}`;
  return { ...shown, links: shown.links.toSorted((one, other) => (key(one) < key(other) ? -1 : 1)) };
}

/** Options that preload the instrumentation of OpenTelemetry for a library, before ours or after. */
export function besideOpenTelemetry(order: "before" | "after", library: string): RunOptions {
  const theirs = fileURLToPath(new URL("opentelemetry-preload.ts", import.meta.url));
  const imports = order === "before" ? [theirs, AUTO] : [AUTO, theirs];
  return { preload: false, nodeArgs: imports.flatMap((each) => ["--import", each]), env: { INSTRUMENTED: library } };
}
