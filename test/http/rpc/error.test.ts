import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ActuatorError, type ErrorCode } from "../../../src/common/error.ts";
import { SessionsService } from "../../../src/gen/actuator/v3/sessions_pb.ts";
import { anyErrorToRpc, RPC_CODES } from "../../../src/http/rpc/calls/error.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import { errorInfo, serveRpc, transportOver, WIRES } from "../../support/rpc-harness.ts";

const codes = Object.keys(RPC_CODES) as ErrorCode[];

function storeThatThrows(error: unknown) {
  const fail = async () => {
    throw error;
  };
  return { kind: "failing", findById: fail, delete: fail };
}

describe.each(WIRES)("over $protocol, HTTP/$httpVersion", (wire) => {
  test.each(codes)("%s keeps its code, message, reason and metadata", async (code) => {
    const error = new ActuatorError(code, "THE_REASON", "What happened, é.", { field: "id", more: "" });
    const { url, errors } = await serveRpc({ sessions: new Sessions(storeThatThrows(error), { ids: "raw" }) });
    const call = createClient(SessionsService, transportOver(wire, url)).getSession({ id: "1" });
    const received = (await call.catch(ConnectError.from)) as ConnectError;
    expect([received.code, received.rawMessage]).toEqual([RPC_CODES[code], "What happened, é."]);
    expect(errorInfo(received)).toEqual({
      reason: "THE_REASON",
      domain: "connect-actuator",
      metadata: { field: "id", more: "" },
    });
    expect(errors).toEqual([]);
  });

  test.each([
    ["an Error", new TypeError("/home/secret")],
    ["an AbortError of its own", new DOMException("secret", "AbortError")],
    ["a word", "secret"],
    ["nothing", undefined],
  ])("%s is an internal error that reaches onError whole and the caller not at all", async (_, accident) => {
    const { url, errors } = await serveRpc({ sessions: new Sessions(storeThatThrows(accident), { ids: "raw" }) });
    const call = createClient(SessionsService, transportOver(wire, url)).getSession({ id: "1" });
    const received = (await call.catch(ConnectError.from)) as ConnectError;
    expect(received).toMatchObject({ code: Code.Internal, rawMessage: "internal error", details: [] });
    expect(errors).toEqual([{ error: accident, context: "rpc actuator.v3.SessionsService/GetSession" }]);
  });
});

test.each(WIRES)(
  "an error of another server does not bring the headers of its connection: $protocol over HTTP/$httpVersion",
  async (wire) => {
    const headers = {
      connection: "close",
      "keep-alive": "timeout=5",
      "transfer-encoding": "chunked",
      te: "gzip",
      "x-a": "b",
    };
    const store = storeThatThrows(new ConnectError("away", Code.Aborted, headers));
    const { url } = await serveRpc({ sessions: new Sessions(store, { ids: "raw" }) });
    const call = createClient(SessionsService, transportOver(wire, url)).getSession({ id: "1" });
    const received = (await call.catch(ConnectError.from)) as ConnectError;
    expect([received.code, received.metadata.get("x-a")]).toEqual([Code.Aborted, "b"]);
    for (const name of ["te", "upgrade"]) expect(received.metadata.has(name)).toBe(false);
  },
);

test("each code of the domain has a code of its own", () => {
  expect(new Set(Object.values(RPC_CODES)).size).toBe(codes.length);
});

test("connect's own errors pass as they are", () => {
  const error = new ConnectError("as it is", Code.Aborted);
  expect(anyErrorToRpc(error, () => expect.unreachable())).toBe(error);
});
