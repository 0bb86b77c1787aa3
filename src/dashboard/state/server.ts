import { signal } from "@preact/signals";
import { Link } from "../link/link.ts";
import type { ConnectionState, ToTab } from "../link/messages.ts";
import type { Output } from "../link/services.ts";
import { currentAuthorization, setAuthorization } from "./credentials.ts";

/** The state of the connection, which all tabs share. */
export const connection = signal<ConnectionState>({ status: "connecting" });
/** How many tabs share it. */
export const tabs = signal(1);
/** When the server was last heard, in milliseconds since the epoch. */
export const heardAt = signal(0);
/** What the application is and what this caller may do; undefined until it has answered. */
export const application = signal<Output<"application", "getApplication"> | undefined>(undefined);

/** The fleet of the application; undefined: it has none, or its engine has not answered yet. */
export const fleetOf = signal<{ readonly name: string; readonly isMember: boolean } | undefined>(undefined);

/** The connection to the server. Replaced when the operator signs in anew; stores follow by {@link onLink}. */
export let link: Link = open();

const followers = new Set<() => void>();

/** Calls `follow` now and with each new link. For stores that live as long as the page. */
export function onLink(follow: () => void): void {
  followers.add(follow);
  follow();
}

/** Whether this tab has credentials of its own; a client certificate is the browser's. */
export function isSignedIn(): boolean {
  return currentAuthorization() !== undefined;
}

/** Signs in with the value of the header `Authorization`; undefined: without. */
export function signIn(authorization: string | undefined, remember: boolean): void {
  setAuthorization(authorization, remember);
  renew();
}

/** Begins anew. The former link closes after the change, since stores take no more from one that is not the present one. */
function renew(): void {
  const former = link;
  application.value = undefined;
  fleetOf.value = undefined;
  connection.value = { status: "connecting" };
  link = open();
  former.close();
  for (const follow of followers) follow();
}

function open(): Link {
  const port = workerPort();
  const base = new URL("../rpc", location.href.replace(/[?#].*$/, "")).href;
  const opened = new Link(port, { type: "hello", base, authorization: currentAuthorization() });
  port.onmessage = ({ data }: MessageEvent<ToTab>) => opened.receive(data);
  opened.onConnection = (state, count) => {
    if (opened !== link) return;
    const wasLive = connection.value.status === "live";
    connection.value = state;
    tabs.value = count;
    if (state.status === "live" && (!wasLive || application.value === undefined)) void describe();
  };
  opened.onClosed = () => {
    if (opened === link) renew();
  };
  opened.onHeard = (at) => {
    heardAt.value = at;
  };
  return opened;
}

/** One worker for all tabs; where the browser has no shared ones, one for this tab. */
function workerPort(): MessagePort | Worker {
  if (typeof SharedWorker === "undefined")
    return new Worker(new URL("../link/worker.ts", import.meta.url), { type: "module" });
  return new SharedWorker(new URL("../link/worker.ts", import.meta.url), { type: "module" }).port;
}

async function describe(): Promise<void> {
  const asked = link;
  const answer = await asked.call("application", "getApplication", {}).catch(() => undefined);
  if (asked !== link || answer === undefined) return;
  application.value = answer;
  void describeFleet(asked);
}

const RETRY_MS = 10_000;
let retry: ReturnType<typeof setTimeout> | undefined;

async function describeFleet(asked: Link): Promise<void> {
  clearTimeout(retry);
  if (asked !== link || !hasFleet() || !may("loggers:read")) return;
  try {
    const { name, instances } = await asked.call("fleet", "listInstances", {});
    if (asked === link) fleetOf.value = { name, isMember: instances.some(({ isSelf }) => isSelf) };
  } catch {
    retry = setTimeout(() => void describeFleet(asked), RETRY_MS);
  }
}

/** The name of the application, or else of its fleet. */
export function titleOf(): string {
  return application.value?.name || fleetOf.value?.name || "application";
}

/** Whether the caller may do this, as far as the page knows; until the application has answered, yes. */
export function may(permission: string): boolean {
  return whyNot(permission) === undefined;
}

/** Why the caller may not do what needs the permission, for a disabled button; undefined if it may. */
export function whyNot(permission: string): string | undefined {
  const { caller, readOnly } = application.value ?? {};
  if (readOnly && /:(write|delete)$/.test(permission)) return "the service is read only";
  return caller === undefined || caller.permissions.includes(permission) ? undefined : `needs ${permission}`;
}

/** Whether the application serves a part: "LoggersService"; until it has answered, yes. */
export function serves(service: string): boolean {
  const { services } = application.value ?? {};
  return services === undefined || services.includes(`actuator.v3.${service}`);
}

/** Whether the application is in a fleet; until it has answered, no: most are not. */
export function hasFleet(): boolean {
  return application.value !== undefined && serves("FleetService");
}

addEventListener("pagehide", () => link.leave());
// A tab that the browser kept in memory comes back without its worker.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
setInterval(() => link.alive(), 20_000);
