/** `node bench/servers/bytes.ts <url>`: a bare node:http handler that writes the bytes that the address answers. */
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { serving } from "../support/serve.ts";

const [original] = (await once(get(process.argv[2]!), "response")) as [IncomingMessage];
const body = await buffer(original);
/** What node:http adds by itself. */
const own = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);
const headers = Object.fromEntries(Object.entries(original.headers).filter(([name]) => !own.has(name)));
// Node.js joins a text with the head and writes both at once; a large body stays the ready buffer that it is.
const content = body.length > 16_384 ? body : body.toString("latin1");

const server = createServer((_, response) => {
  response.writeHead(200, headers).end(content, "latin1");
});
server.listen(0, "127.0.0.1", () => serving((server.address() as AddressInfo).port));
