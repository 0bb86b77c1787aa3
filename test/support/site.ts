import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** An application that is being served. */
export interface Site {
  /** Its address, without a path. */
  readonly base: string;
  close(): Promise<void>;
}

/** Serves an application on a free port of the loopback interface. */
export async function startSite(application: RequestListener): Promise<Site> {
  const server = createServer(application).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
