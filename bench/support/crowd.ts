/** Connections that are opened and then say nothing more, as a process of its own. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";

/** So many connections of each protocol. */
export interface Crowd {
  readonly port: number;
  readonly http1: number;
  readonly http2: number;
}

/** How many of them are open. */
export interface Standing {
  readonly connections: number;
}

const REQUEST = "GET /actuator/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
let connections = 0;

/** Has asked once, so that it is one that was kept alive. */
async function openHttp1(port: number): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.write(REQUEST);
  await once(socket, "data");
  connections++;
  socket.on("close", () => connections--);
  socket.resume();
}

async function openHttp2(port: number): Promise<void> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  await once(session, "remoteSettings");
  connections++;
  session.on("close", () => connections--);
}

process.on("message", async (asked: Crowd | "standing") => {
  if (asked !== "standing") {
    for (let index = 0; index < asked.http1; index++) await openHttp1(asked.port);
    for (let index = 0; index < asked.http2; index++) await openHttp2(asked.port);
  }
  process.send!({ connections } satisfies Standing);
});
process.on("disconnect", () => process.exit());
