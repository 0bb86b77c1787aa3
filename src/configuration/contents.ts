import { readTokens } from "../access/token-file.ts";
import { ActuatorError, type Fault } from "../common/error.ts";
import { readCredentials } from "../server/tls-credentials.ts";
import type { Configuration } from "./configuration.ts";

/** Lists the files of a valid configuration whose contents a server would refuse: tokens, certificates, and a key of another certificate. */
export async function contentFaults({ options, listen, settings }: Configuration): Promise<Fault[]> {
  const tokens = typeof options.access === "object" ? options.access.tokens : undefined;
  const { tls } = listen;
  const faults = await Promise.all([
    typeof tokens === "string" ? faultOf(() => readTokens(tokens), "access.tokens") : undefined,
    tls === undefined ? undefined : faultOf(() => readCredentials(tls), "listen.tls"),
  ]);
  return faults.flatMap((fault) => {
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
    const setting = field.startsWith("tls") ? `listen.${field}` : section;
    return { setting, message: error.message };
  }
}
