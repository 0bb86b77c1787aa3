import { Code, ConnectError } from "@connectrpc/connect";
import { type ErrorInfo, ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.js";

/** What an error of the actuator says beside its code; undefined where it carries nothing, as those of the transport do. */
export function errorInfo(error: ConnectError): ErrorInfo | undefined {
  return error.findDetails(ErrorInfoSchema)[0];
}

/** Such as `NOT_FOUND SESSION_NOT_FOUND field=id`, for programs and tests. */
export function summary(error: ConnectError): string {
  const info = errorInfo(error);
  const metadata = Object.entries(info?.metadata ?? {}).map(([key, value]) => `${key}=${value}`);
  return [codeName(error.code), info?.reason, ...metadata.sort()].filter(Boolean).join(" ");
}

/** The error of a call that has to fail. */
export async function failure(call: () => Promise<unknown>): Promise<string> {
  const error = await call().then(
    () => undefined,
    (reason) => ConnectError.from(reason),
  );
  if (error === undefined) throw new Error("the call had to fail and did not");
  return summary(error);
}

/** `Code.NotFound` as the gRPC specification spells it. */
function codeName(code: Code): string {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
