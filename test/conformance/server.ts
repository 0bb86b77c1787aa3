/**
 * `node test/conformance/server.ts <image>`: the suite's service on this project's listener and exchange. The image is the
 * suite's own proto files as `buf build` gives them. Reads what kind of server is wanted from standard input, and writes
 * where it is; each message follows its length in four bytes.
 */
import { readFileSync } from "node:fs";
import { create, createFileRegistry, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { TlsOptions } from "../../src/server/tls-options.ts";
import { serveService } from "./exchange.ts";
import { conformanceService, PACKAGE } from "./service.ts";

/** What the suite says of the server that it wants. */
type Wanted = Message & {
  readonly useTls: boolean;
  readonly clientTlsCert: Uint8Array;
  readonly messageReceiveLimit: number;
  readonly serverCreds?: { readonly cert: Uint8Array; readonly key: Uint8Array };
};

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(process.argv[2]!)));
const schema = (name: string): DescMessage => registry.getMessage(`${PACKAGE}.${name}`)!;

async function read(): Promise<Wanted> {
  let received = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    received = Buffer.concat([received, chunk]);
    if (received.length >= 4 && received.length >= 4 + received.readUInt32BE()) break;
  }
  return fromBinary(schema("ServerCompatRequest"), received.subarray(4, 4 + received.readUInt32BE())) as Wanted;
}

function write(message: object): void {
  const response = schema("ServerCompatResponse");
  const bytes = toBinary(response, create(response, message as never));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  process.stdout.write(Buffer.concat([length, bytes]));
}

const wanted = await read();
const listener = serveService(conformanceService(registry), registry, wanted.messageReceiveLimit || 1024 * 1024);
const tls = wanted.useTls ? tlsOptions(wanted) : undefined;
const { port } = await listener.listen({ port: 0, tls });
process.once("SIGTERM", () => listener.drain({ deadlineMs: 0 }));
write({ host: "127.0.0.1", port, ...(tls !== undefined && { pemCert: tls.cert }) });

/** Clients that have a certificate must show it. */
function tlsOptions({ serverCreds, clientTlsCert: ca }: Wanted): TlsOptions {
  const { cert, key } = serverCreds!;
  return { cert, key, ...(ca.length > 0 && { ca, clientCertificate: "require" }) };
}
