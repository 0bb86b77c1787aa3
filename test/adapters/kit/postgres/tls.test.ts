import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { postgresQueries } from "../../../../src/adapters/kit/postgres/index.ts";
import { type Authority, authority } from "../../../support/certificates.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";

describe.runIf(requirement("postgresql", postgresFound))("PostgreSQL over TLS", () => {
  let server: PostgresServer;
  let made: Authority;

  beforeAll(async () => {
    made = await authority();
    server = await startPostgres({ tls: await made.issue("server") });
  });
  afterAll(() => server?.stop());

  it("is reached by a pool that trusts its authority", async () => {
    const pool = new pg.Pool({ connectionString: server.url, ssl: { ca: made.ca } });
    onTestFinished(() => pool.end());
    const { query } = postgresQueries(pool);
    expect(await query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")).toEqual([{ ssl: true }]);
  });

  it("is refused by a URL whose process does not, with what is wrong and what to do", async () => {
    const secret = "correct-horse";
    const url = `${server.url.replace("postgres@", `postgres:${secret}@`)}?sslmode=verify-full`;
    const { query, close } = postgresQueries(url);
    onTestFinished(close);
    const error = await query("SELECT 1").then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error).toMatchObject({ code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" });
    expect(error!.message).toMatch(/^The certificate of PostgreSQL was rejected \(\w+\)\. .* NODE_EXTRA_CA_CERTS/);
    for (const told of [secret, server.host, `${server.port}`]) expect(error!.message).not.toContain(told);
  });
});
