import { Hubs } from "./hub.ts";
import type { ToWorker } from "./messages.ts";

// One script for both kinds: a shared worker gets a port from each tab, a dedicated one, where the browser has no shared ones, is a port.
const hubs = new Hubs();

function serve(port: MessagePort): void {
  const tab = hubs.tab((message) => port.postMessage(message));
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => tab.receive(data);
  // Browsers that know this event tell of tabs that crashed; the others leave it to `alive`.
  port.addEventListener("close", () => tab.close());
}

const scope = self as unknown as { onconnect?: (event: MessageEvent) => void };
if ("onconnect" in scope) scope.onconnect = (event) => serve(event.ports[0]!);
else serve(self as unknown as MessagePort);
