import { toJsonString } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import session, { type SessionData } from "express-session";
import { expect, it, onTestFinished, vi } from "vitest";
import { expressSessions } from "../../src/adapters/sessions/express-session/index.ts";
import {
  DeleteUserSessionsResponseSchema,
  GetSessionResponseSchema,
  ListSessionsResponseSchema,
  SessionsService,
} from "../../src/gen/actuator/v3/sessions_pb.ts";
import { createActuator } from "../../src/index.ts";
import { grpcClient } from "../support/rpc-harness.ts";
import { http1Request } from "../support/server-harness.ts";

/** Secrets in a session. The first is the credential. */
const SECRETS = ["Xk3vQ0-credential-of-ann", "hunter2", "4111111111111111", "csrf-mVYkMEVP", "/private"];
const [ID, PASSWORD, CARD, CSRF, PATH] = SECRETS as [string, string, string, string, string];

const record = {
  cookie: { originalMaxAge: 60_000, expires: new Date(Date.now() + 60_000), httpOnly: true, path: PATH },
  user: { username: "ann", password: PASSWORD, cards: [CARD] },
  csrfSecret: CSRF,
} as unknown as SessionData;

it("answers, audit records and logs never hold values of sessions or ids that grant access, in success or failure", async () => {
  const told: string[] = [];
  for (const method of ["log", "info", "warn", "error"] as const) {
    vi.spyOn(console, method).mockImplementation((...args) => void told.push(args.map(String).join(" ")));
  }
  const warned = (warning: Error) => void told.push(String(warning));
  process.on("warning", warned);
  onTestFinished(() => {
    process.off("warning", warned);
    vi.restoreAllMocks();
  });

  const store = new session.MemoryStore();
  const save = (id: string) => new Promise((resolve) => store.set(id, record, resolve));
  const actuator = createActuator({
    sessions: { store: expressSessions(store) },
    metrics: { prometheus: true },
    audit: (entry) => void told.push(JSON.stringify(entry)),
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const rpc = grpcClient(SessionsService, url);

  async function rest(method: string, path: string): Promise<string> {
    const { status, headers, body } = await http1Request(`${url}/actuator${path}`, { method });
    told.push(JSON.stringify(headers), body);
    return `${status}`;
  }
  async function call(answer: Promise<string>): Promise<string> {
    const text = await answer.catch((error) => {
      const { message, rawMessage, details, metadata } = ConnectError.from(error);
      return JSON.stringify([message, rawMessage, details, [...metadata]]);
    });
    told.push(text);
    return text;
  }
  async function everything(shown: string): Promise<string[]> {
    return [
      await rest("GET", "/sessions?username=ann"),
      await rest("GET", `/sessions/${shown}`),
      await rest("GET", "/health"),
      await rest("GET", "/info"),
      await call(rpc.getSession({ id: shown }).then((answer) => toJsonString(GetSessionResponseSchema, answer))),
      await call(
        rpc.listSessions({ pageSize: 1, includeTotal: true }).then((answer) => {
          told.push(Buffer.from(answer.nextPageToken, "base64url").toString("latin1"));
          return toJsonString(ListSessionsResponseSchema, answer);
        }),
      ),
      await call(
        rpc
          .deleteUserSessions({ username: "ann", exceptId: shown })
          .then((answer) => toJsonString(DeleteUserSessionsResponseSchema, answer)),
      ),
      await rest("DELETE", `/sessions/${shown}`),
      await rest("GET", "/prometheus"),
    ];
  }

  await save(ID);
  await save("another-session-of-ann");
  const [found] = (await rpc.listSessions({ username: "ann" })).sessions;
  const well = await everything(found!.id);
  expect(well.filter((answer) => /^2\d\d$/.test(answer))).toHaveLength(6);
  expect(told.join()).toContain("csrfSecret");

  await save(ID);
  const [again] = (await rpc.listSessions({ username: "ann" })).sessions;
  const broken = new Error(`no answer to get ${ID}: ${JSON.stringify(record)}`, { cause: { ID, record } });
  store.all = (callback) => callback(broken);
  store.get = (_, callback) => callback(broken);
  const ill = await everything(again?.id ?? found!.id);
  expect(ill).toContain("503");

  for (const secret of SECRETS) expect(told.filter((text) => text.includes(secret))).toEqual([]);
});
