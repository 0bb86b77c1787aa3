import type { ServerResponse } from "node:http";
import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  contentTypeUnaryJson,
  createEndStreamSerialization,
  endStreamFlag,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { ActuatorError } from "../../common/error.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import { discardRestNow } from "./request-rest.ts";

/** A service of a domain that the application left out: every method answers UNIMPLEMENTED and says why. */
export function absentService<S extends DescService>(service: S): Partial<ServiceImpl<S>> {
  const method = () => {
    const message = "This application does not serve this part of the actuator.";
    throw new ActuatorError("UNIMPLEMENTED", "NOT_SERVED", message, { service: service.typeName });
  };
  const methods: Record<string, unknown> = {};
  for (const { localName } of service.methods) methods[localName] = method;
  return methods as Partial<ServiceImpl<S>>;
}

/**
 * Answers a call of a method that does not exist: UNIMPLEMENTED, as the caller's protocol says it. Over Connect that is 404 and not
 * 501, and it has no details, which the conformance suite asks of what no service has said.
 */
export function answerUnknownMethod(req: GateRequest, res: GateResponse): void {
  const contentType = req.headers["content-type"] ?? "";
  const [, answer] = ANSWERS.find(([pattern]) => pattern.test(contentType))!;
  const { status, header, body } = answer(contentType);
  res.statusCode = status;
  header.forEach((value, name) => {
    res.setHeader(name, value);
  });
  // No writeHead: only so does Node put END_STREAM on the header frame, which makes it gRPC's Trailers-Only.
  if (body !== undefined) {
    (res as ServerResponse).end(body);
  } else {
    res.end();
    discardRestNow(req);
  }
}

interface Answer {
  readonly status: number;
  readonly header: Headers;
  readonly body?: Uint8Array;
}

/** By the content type of the request; the last row takes what no other does. */
const ANSWERS: readonly (readonly [RegExp, (contentType: string) => Answer])[] = [
  [/^application\/grpc\b/, grpcAnswer],
  [/^application\/connect\+/, connectStreamAnswer],
  [/(?:)/, connectUnaryAnswer],
];

function unknownMethod(): ConnectError {
  return new ConnectError("There is no such method.", Code.Unimplemented);
}

function grpcAnswer(contentType: string): Answer {
  const header = new Headers({ "content-type": contentType });
  setTrailerStatus(header, unknownMethod());
  return { status: 200, header };
}

function connectStreamAnswer(contentType: string): Answer {
  const end = createEndStreamSerialization(undefined).serialize({ metadata: new Headers(), error: unknownMethod() });
  return {
    status: 200,
    header: new Headers({ "content-type": contentType }),
    body: encodeEnvelope(endStreamFlag, end),
  };
}

function connectUnaryAnswer(): Answer {
  return {
    status: 404,
    header: new Headers({ "content-type": contentTypeUnaryJson }),
    body: errorToJsonBytes(unknownMethod(), undefined),
  };
}
