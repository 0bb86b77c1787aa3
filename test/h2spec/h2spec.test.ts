// @module-tag slow
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { RequestHandler } from "../../src/server/handler.ts";
import { createListener } from "../../src/server/listener.ts";
import { authority } from "../support/certificates.ts";
import { goModule } from "../support/go-program.ts";
import { requirement } from "../support/requirement.ts";
import { run } from "../support/run.ts";
import { serve } from "../support/server-harness.ts";
import { CLEARTEXT_FAILURES, NODE_FAILURES } from "./known-failures.ts";

const MODULE = "github.com/summerwind/h2spec";
const CASES = 145;
const minutes = 60_000;

const h2spec = goModule(MODULE, "v2.2.1+incompatible");

const answer: RequestHandler = (_, res) => {
  res.setHeader("content-type", "text/plain");
  res.end("hello\n");
};

/** Runs every case against a port. Resolves to the failed ones, such as `http2/5.1 #8`. */
async function failuresOf(port: number, ...options: readonly string[]): Promise<string[]> {
  const scratch = mkdtempSync(join(tmpdir(), "connect-actuator-h2spec-"));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  const report = join(scratch, "report.xml");
  const program = `${MODULE}/cmd/h2spec@${h2spec!.version}`;
  const { output } = await run("go", ["run", program, "-p", `${port}`, "-j", report, ...options], 4 * minutes);
  const suites = [...readFileSync(report, "utf8").matchAll(/<testsuite [^>]*package="([^"]+)"[\s\S]*?<\/testsuite>/g)];
  const cases = suites.flatMap(([suite, section]) =>
    [...suite.matchAll(/<testcase [\s\S]*?<\/testcase>/g)].map(([text], index) => ({
      name: `${section} #${index + 1}`,
      failed: /<(failure|error)\b/.test(text),
    })),
  );
  expect(cases, output).toHaveLength(CASES);
  return cases.filter(({ failed }) => failed).map(({ name }) => name);
}

/** Whether a case fails by itself as well: on a busy machine the server may be at the next frame before h2spec is. */
async function failsAlone(name: string, port: number, ...options: readonly string[]): Promise<boolean> {
  const program = `${MODULE}/cmd/h2spec@${h2spec!.version}`;
  const spec = name.replace(" #", "/");
  const { code, output } = await run("go", ["run", program, spec, "-p", `${port}`, ...options], minutes);
  expect(output).toMatch(/^1 tests?, /m);
  console.log(`h2spec: ${name} failed once; by itself it ${code === 0 ? "passes" : "fails"}`);
  return code !== 0;
}

/** The failures of a port that are not `known`, or not of the moment. */
async function confirmed(known: object, found: readonly string[], port: number, ...options: readonly string[]) {
  const failures: string[] = [];
  for (const name of found) {
    if (name in known || (await failsAlone(name, port, ...options))) failures.push(name);
  }
  return failures;
}

describe.runIf(requirement(`Go with its module ${MODULE}`, h2spec !== undefined))("h2spec", () => {
  test("finds nothing that it does not find in node:http2 alone", { timeout: 5 * minutes }, async () => {
    const bare = http2.createServer(answer).listen(0, "127.0.0.1");
    onTestFinished(() => void bare.close());
    await once(bare, "listening");
    const cleartext = await serve(answer);
    const secure = createListener(answer);
    onTestFinished(() => secure.drain({ deadlineMs: 0 }));
    const { port: securePort } = await secure.listen({ port: 0, tls: await (await authority()).issue("server") });

    const tls = ["--tls", "--insecure"];
    const known = { ...NODE_FAILURES, ...CLEARTEXT_FAILURES };
    const [expected, inCleartext, overTls] = await Promise.all([
      failuresOf((bare.address() as AddressInfo).port),
      failuresOf(cleartext.port),
      failuresOf(securePort, ...tls),
    ]);
    const found = await confirmed(known, inCleartext, cleartext.port);
    const foundOverTls = await confirmed(known, overTls, securePort, ...tls);
    const beyond = (names: readonly string[]) => names.filter((name) => !expected.includes(name));
    expect(beyond(found)).toEqual(Object.keys(CLEARTEXT_FAILURES));
    expect(beyond(foundOverTls)).toEqual([]);
    expect([...found, ...foundOverTls].filter((name) => !(name in known))).toEqual([]);

    const counts = `${found.length} fail in cleartext, ${foundOverTls.length} over TLS, ${expected.length} on bare node:http2`;
    console.log(`h2spec: ${CASES} cases, of which ${counts}:`);
    for (const name of found) console.log(`  ${name}: ${known[name]}`);
  });
});
