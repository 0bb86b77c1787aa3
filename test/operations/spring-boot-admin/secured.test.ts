// @module-tag slow
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/index.ts";
import type { SpringBootAdminOptions } from "../../../src/operations/spring-boot-admin/options.ts";
import { requirement } from "../../support/requirement.ts";
import { testTrust } from "../../support/server-tls.ts";
import {
  type SpringBootAdminServer,
  springBootAdminFound,
  springBootAdminJar,
  startSpringBootAdmin,
} from "../../support/spring-boot-admin-server.ts";

const soon = { timeout: 40_000, interval: 100 };
const credentials = { username: "user", password: "let-me-in" };

describe.runIf(requirement("Maven with a JDK", springBootAdminFound))(
  "a real server with TLS and a password",
  { timeout: 150_000 },
  () => {
    let admin: SpringBootAdminServer;
    let ca: string;
    const folder = mkdtempSync(join(tmpdir(), "connect-actuator-secured-"));
    const file = (name: string, content: string) => {
      writeFileSync(join(folder, name), content, { mode: 0o600 });
      return join(folder, name);
    };

    beforeAll(async () => {
      await springBootAdminJar();
      const { authority, server } = await testTrust();
      ca = authority.ca;
      const trustStore = join(folder, "trust.p12");
      const store = ["-keystore", trustStore, "-storepass", "changeit"];
      const entry = ["-importcert", "-noprompt", "-alias", "test", "-file", file("ca.pem", ca)];
      execFileSync("keytool", [...entry, ...store], { stdio: "pipe" });
      admin = await startSpringBootAdmin(
        {
          "server.ssl.certificate": `file:${file("cert.pem", server.cert)}`,
          "server.ssl.certificate-private-key": `file:${file("key.pem", server.key)}`,
          "spring.security.user.password": credentials.password,
        },
        [`-Djavax.net.ssl.trustStore=${trustStore}`, "-Djavax.net.ssl.trustStorePassword=changeit"],
      );
    }, 300_000);
    afterAll(async () => {
      await admin?.stop();
      rmSync(folder, { recursive: true });
    });

    /** An application that is itself served over TLS. */
    async function shop(options: Partial<SpringBootAdminOptions>) {
      const said: string[] = [];
      const actuator = createActuator({
        name: "shop",
        admin: {
          url: admin.url,
          tls: { ca: join(folder, "ca.pem") },
          timeoutMs: 15_000,
          deregisterTimeoutMs: 15_000,
          ...options,
        },
        onError: (error) => said.push((error as Error).message),
      });
      onTestFinished(() => actuator.close({ deadlineMs: 0 }));
      await actuator.listen({ port: 0, tls: (await testTrust()).server });
      return { actuator, said };
    }

    async function instances(): Promise<{ statusInfo: { status: string }; endpoints: unknown[] }[]> {
      const auth = `${credentials.username}:${credentials.password}`;
      const headers = { accept: "application/json" };
      const request = https.get(`${admin.url}/instances`, { ca, auth, headers, agent: false });
      const response = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
        request.on("response", resolve).on("error", reject);
      });
      return JSON.parse(await text(response));
    }

    test("registers, is found UP over TLS, and goes", async () => {
      const { actuator, said } = await shop(credentials);
      await expect
        .poll(async () => (await instances()).map(({ statusInfo }) => statusInfo.status), soon)
        .toEqual(["UP"]);
      await expect.poll(async () => (await instances())[0]?.endpoints.length, soon).toBeGreaterThan(1);
      await actuator.close();
      expect(said).toEqual([]);
      expect(await instances()).toEqual([]);
    });

    test.each([
      ["no password", {}, /answers 401: it requires authentication/],
      ["a wrong one", { username: "user", password: "wrong" }, /answers 401: it refuses `admin.username`/],
      ["no authority", { ...credentials, tls: {} }, /cannot be reached \(\w*(ISSUER|VERIFY|SIGNED)/],
    ])("%s is explained", async (_, options, message) => {
      const { said } = await shop(options);
      await expect.poll(() => said, soon).toEqual([expect.stringMatching(message)]);
      expect(await instances()).toEqual([]);
    });
  },
);
