// @module-tag slow
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LINES } from "../../src/processes/description.ts";
import { attachTo, runPlain } from "../support/attach-command.ts";
import { applicationFolder, type RunningApplication, runApplication } from "../support/auto-application.ts";
import { graphOf } from "../support/auto-graph.ts";
import { Browser } from "../support/browser.ts";
import { until } from "../support/until.ts";
import { APPLICATIONS, type Form, type Server, type WholeApplication, written } from "./whole-applications.ts";

for (const application of APPLICATIONS) {
  describe.runIf(application.canRun)(application.name, () => {
    let server: Server;
    beforeAll(async () => {
      server = await application.serve();
    }, 120_000);
    afterAll(() => server.stop());

    /** What explicit wiring shows; it is asked for by the first test. */
    let explicit: Promise<Shown> | undefined;
    async function shownByWiring(): Promise<Shown> {
      await server.clean();
      const [wired] = start(application, application.forms[0], server, "explicit");
      await visits(wired);
      const shown = await shownBy(wired);
      await end(wired);
      return shown;
    }

    test.each(application.forms)("%s: shown as by explicit wiring, preloaded and attached to", async (form) => {
      explicit ??= shownByWiring();
      const expected = await explicit;
      expect(expected).toMatchObject({ sessions: [{}, {}], kinds: { sessions: [expect.any(String)] } });
      expect(Object.keys(expected.loggers)).toContain(application.logger);
      expect(expected.graph.nodes.length).toBeGreaterThan(1);

      await server.clean();
      const [preloaded] = start(application, form, server, "preloaded");
      const answers = await visits(preloaded);
      await expectShown(preloaded, expected);
      await end(preloaded);

      await server.clean();
      const [plain, folder] = start(application, form, server, "plain");
      const browsers = await browsersOf(plain);
      expect(await visits(plain, browsers)).toEqual(answers);
      await until(() => linesOf(plain).length >= linesOf(preloaded).length);
      expect(linesOf(plain)).toEqual(linesOf(preloaded));
      expect(plain.output().stderr).toBe(preloaded.output().stderr.replaceAll(/^\{.*"msg":"audit".*\n/gm, ""));

      const traffic = new Traffic(browsers[0]);
      const attached = await attachTo(folder, plain.child.pid!);
      expect(attached.code, attached.stderr).toBe(0);
      await traffic.goesOn();
      await visits(plain, browsers.slice(1));
      await expectShown(plain, asAttached(expected, application), (shown) =>
        application.limits?.nodes
          ? { ...shown, graph: namesOf(shown) }
          : { ...shown, graph: withoutCounts(shown.graph) },
      );
      const seen = () => plain.output().stdout.split("seen").length;
      expect(seen()).toBe(1);
      expect(await plain.post(`/loggers/${application.logger}`, { configuredLevel: "DEBUG" })).toBe(204);
      await until(() => seen() > 1);
      expect(await plain.line(LINES.detachRestoring)).toEqual({});
      await traffic.goesOn();
      const last = seen();
      await traffic.goesOn();
      await traffic.end();
      expect(traffic.failures).toEqual([]);
      expect(seen()).toBe(last);
      await end(plain);
    });
  });
}

function start(application: WholeApplication, form: Form, server: Server, how: "preloaded" | "explicit" | "plain") {
  const { script, text } = written(application, form, how === "explicit");
  const tsconfig = JSON.stringify({ compilerOptions: { experimentalDecorators: true } });
  const folder = applicationFolder({ [script]: text, "tsconfig.json": tsconfig });
  const entry = form === "bundle" ? "dist/shop.mjs" : script;
  if (form === "bundle")
    buildSync({
      entryPoints: [join(folder.folder, script)],
      outfile: join(folder.folder, entry),
      bundle: true,
      packages: "external",
      external: ["file:*"],
      platform: "node",
      format: "esm",
      logLevel: "error",
    });
  const nodeArgs = form === "tsx" ? ["--import", "tsx"] : [];
  const run = how === "plain" ? runPlain : runApplication;
  return [run(folder, entry, { nodeArgs, env: server.env }), folder] as const;
}

async function browsersOf(application: RunningApplication): Promise<readonly [Browser, Browser]> {
  await Promise.race([application.said(";"), application.exit()]);
  const port = /ready (\d+);/.exec(application.output().stdout)?.[1];
  if (port === undefined) throw new Error(`it has ended: ${application.output().stderr}`);
  const browser = () => new Browser(`http://127.0.0.1:${port}`, /(?:)/);
  return [browser(), browser()];
}

/** Two requests of each browser. Returns how they are answered, after all their messages have been handled. */
async function visits(application: RunningApplication, given?: readonly Browser[]): Promise<unknown[]> {
  const browsers = given ?? (await browsersOf(application));
  const answers: unknown[] = [];
  for (const path of ["/", "/"]) {
    for (const browser of browsers) answers.push(await answerOf(browser, path));
  }
  answers.push(await answerOf((await browsersOf(application))[0], "/idle"));
  return answers;
}

async function answerOf(browser: Browser, path: string): Promise<unknown> {
  const response = await browser.get(path);
  const { date: _, "set-cookie": cookie, ...headers } = Object.fromEntries(response.headers);
  const cookies = cookie?.replaceAll(/=[^;]*/g, "");
  return { status: response.status, headers, cookies, body: await response.text() };
}

/** Requests that follow one another without end. */
class Traffic {
  readonly failures: unknown[] = [];
  #answered = 0;
  #isLive = true;
  readonly #ended: Promise<void>;

  constructor(browser: Browser) {
    this.#ended = this.#run(browser);
  }

  /** Resolves when ten more requests have been answered. */
  async goesOn(): Promise<void> {
    const goal = this.#answered + 10;
    await until(() => this.#answered >= goal || this.failures.length > 0);
  }

  async end(): Promise<void> {
    this.#isLive = false;
    await this.#ended;
  }

  async #run(browser: Browser): Promise<void> {
    let views: number | undefined;
    while (this.#isLive && this.failures.length === 0) {
      try {
        const response = await browser.get("/");
        const body = (await response.json()) as { readonly views: number };
        if (response.status !== 200 || (views !== undefined && body.views !== views + 1)) this.failures.push(body);
        views = body.views;
        this.#answered++;
      } catch (error) {
        this.failures.push(error);
      }
    }
  }
}

/** Its standard output, line by line, without what differs from run to run. Messages are handled in any order. */
function linesOf(application: RunningApplication): string[] {
  return application
    .output()
    .stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z?|\d{4,}|(?<="(?:pid|responseTime)":)[\d.]+/g, "N")
    .trim()
    .split("\n")
    .sort();
}

interface Shown {
  readonly kinds: { readonly sessions: readonly string[] };
  readonly loggers: Readonly<Record<string, unknown>>;
  readonly sessions: readonly object[];
  readonly graph: Awaited<ReturnType<typeof graphOf>>;
}

async function shownBy(application: RunningApplication): Promise<Shown> {
  const { shows } = await application.describe();
  const { sessions } = await application.get("/sessions?username=ada");
  return {
    kinds: { sessions: shows.sessions },
    loggers: (await application.get("/loggers")).loggers,
    sessions: sessions.map(
      ({ id: _, creationTime: __, lastAccessedTime: ___, ...rest }: Record<string, unknown>) => rest,
    ),
    graph: await graphOf(application),
  };
}

/** What an attach shows of it once everything that is still in use was used again: its counts are those since then. */
function asAttached({ graph, loggers, ...shown }: Shown, { limits = { reasons: [] } }: WholeApplication): object {
  const { nodes, hiddenLoggers = [] } = limits;
  return {
    ...shown,
    loggers: Object.fromEntries(Object.entries(loggers).filter(([name]) => !hiddenLoggers.includes(name))),
    graph: nodes ?? withoutCounts(graph),
  };
}

function withoutCounts(graph: Shown["graph"]): unknown {
  return JSON.parse(JSON.stringify(graph).replaceAll(/"count":[1-9]\d*/g, '"count":"some"'));
}

function namesOf({ graph }: Shown): string[] {
  return graph.nodes.map(({ name }) => name as string).sort();
}

async function expectShown(
  application: RunningApplication,
  expected: object,
  seenAs = (shown: Shown): object => shown,
) {
  const look = async () => seenAs(await shownBy(application));
  // Acknowledgements and events may be on their way.
  const deadline = Date.now() + 10_000;
  let shown = await look();
  while (!isDeepStrictEqual(shown, expected) && Date.now() < deadline) shown = await look();
  expect(shown).toEqual(expected);
}

async function end(application: RunningApplication): Promise<void> {
  application.child.kill("SIGUSR2");
  expect(await application.exit(), application.output().stderr).toBe(0);
}
