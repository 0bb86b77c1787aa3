import { readTokens } from "../access/token-file.ts";
import { ActuatorError, type Fault } from "../common/error.ts";
import { readCredentials } from "../server/tls-credentials.ts";
import type { Configuration, StandaloneConfiguration } from "./configuration.ts";
import { requireStorePackage } from "./store-package.ts";

/**
 * Lists what a server would refuse although the configuration is valid: the contents of files with tokens or certificates, a key of another
 * certificate, and a store whose package is not installed.
 */
export async function contentFaults(configuration: Configuration | StandaloneConfiguration): Promise<Fault[]> {
  const { options, listen, settings } = configuration;
  const tokens = typeof options.access === "object" ? options.access.tokens : undefined;
  const { tls } = listen;
  const store = "standalone" in configuration ? configuration.standalone.store : undefined;
  const faults = await Promise.all([
    store === undefined ? undefined : faultOf(() => requireStorePackage(store), "sessions.store"),
    typeof tokens === "string" ? faultOf(() => readTokens(tokens), "access.tokens") : undefined,
    tls === undefined ? undefined : faultOf(() => readCredentials(tls), "listen.tls"),
  ]);
  return faults.flat().flatMap((fault) => {
    if (fault === undefined) return [];
    const { setting, message } = fault;
    const from = settings.find((each) => each.setting === setting || each.setting.startsWith(`${setting}.`))?.from;
    return [{ at: from ?? "configuration", message: `${setting}: ${message}`, setting }];
  });
}

async function faultOf(read: () => Promise<unknown>, section: string) {
  try {
    await read();
    return undefined;
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    const { field = section } = error.metadata;
    const setting = field.startsWith("tls") ? `listen.${field}` : field.startsWith(section) ? field : section;
    const messages = error.faults.length > 0 ? error.faults.map(({ message }) => message) : [error.message];
    return messages.map((message) => ({ setting, message }));
  }
}
