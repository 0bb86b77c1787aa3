import type { ConnectError } from "@connectrpc/connect";
import { encodeEnvelope, mergeNonProtocolHeaders } from "@connectrpc/connect/protocol";
import { createEndStreamSerialization, endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import type { DirectMethod } from "./method.ts";
import type { Fields } from "./wire.ts";

const OK: Fields = { "grpc-status": "0" };
const WEB_OK = encodeEnvelope(trailerFlag, new TextEncoder().encode("grpc-status: 0\r\n"));

/** The trailers of a gRPC answer. */
export function grpcTrailers(own: Headers | undefined, error: ConnectError | undefined): Fields {
  return own === undefined && error === undefined ? OK : fieldsOf(statusOf(own, error));
}

/** The envelope that ends an answer of gRPC-Web, in place of trailers. */
export function webTrailers(own: Headers | undefined, error: ConnectError | undefined): Uint8Array {
  return own === undefined && error === undefined
    ? WEB_OK
    : encodeEnvelope(trailerFlag, trailerSerialize(statusOf(own, error)));
}

/** The envelope that ends a stream of Connect. */
export function connectTrailers(
  own: Headers | undefined,
  error: ConnectError | undefined,
  jsonOptions: DirectMethod["jsonOptions"],
): Uint8Array {
  if (own === undefined && error === undefined) return CONNECT_OK;
  const serialization = createEndStreamSerialization(jsonOptions);
  const metadata = own ?? new Headers();
  return encodeEnvelope(
    endStreamFlag,
    serialization.serialize(error === undefined ? { metadata } : { metadata, error }),
  );
}

const CONNECT_OK = encodeEnvelope(endStreamFlag, new TextEncoder().encode("{}"));

/** The metadata of an error without headers that belong to the protocols. */
export function metadataOf(error: ConnectError): Fields {
  const headers = new Headers();
  // Of an error that came over the wire it has all headers of that answer.
  if (!(error as { readonly isWireError?: boolean }).isWireError) mergeNonProtocolHeaders(headers, error.metadata);
  return fieldsOf(headers);
}

/** The fields of headers. Several values of one name stay several where joining would change them. */
export function fieldsOf(headers: Headers, prefix = ""): Fields {
  const fields: Fields = {};
  headers.forEach((value, name) => {
    const before = fields[prefix + name];
    fields[prefix + name] = before === undefined ? value : [before, value].flat();
  });
  return fields;
}

function statusOf(own: Headers | undefined, error: ConnectError | undefined): Headers {
  return setTrailerStatus(new Headers(own), error);
}
