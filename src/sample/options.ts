import { parseArgs } from "node:util";

/** The sample cannot start; the message says why, and which option helps. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** The options of the sample. */
export interface SampleOptions {
  readonly port: number;
  readonly host: string;
  readonly shopPort: number;
  readonly traffic: boolean;
  /** Path of a configuration file, which overrides everything here; with it, the environment counts, too. */
  readonly config?: string | undefined;
}

/** What `--help` prints. */
export const USAGE = `Usage: npm start -- [options]

A small shop, managed by connect-actuator.

  --port <port>       port of the actuator (default: $PORT, else 9001; 0: any free one)
  --host <host>       loopback host of the actuator (default: 127.0.0.1)
  --shop-port <port>  port of the shop on 127.0.0.1 (default: 8080; 0: any free one)
  --no-traffic        only your own orders and visits
  --config <file>     a configuration file of the actuator, such as one with access tokens; ACTUATOR_… count, too
  --help              this text
`;

/**
 * Reads the command line; undefined if it asks for help.
 *
 * @throws StartError for an unknown option or an invalid value.
 */
export function sampleOptions(args: readonly string[], env: NodeJS.ProcessEnv): SampleOptions | undefined {
  const values = parsed(args);
  if (values.help) return undefined;
  const fromEnvironment = values.port === undefined && env.PORT !== undefined && env.PORT !== "";
  return {
    port: portOf(values.port ?? (fromEnvironment ? env.PORT : undefined), fromEnvironment ? "PORT" : "--port", 9001),
    host: values.host ?? "127.0.0.1",
    shopPort: portOf(values["shop-port"], "--shop-port", 8080),
    traffic: !values["no-traffic"],
    config: values.config,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: "string" },
        host: { type: "string" },
        "shop-port": { type: "string" },
        "no-traffic": { type: "boolean" },
        config: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new StartError(`${(error as Error).message.split(". ", 1)[0]}; --help lists the options`, { cause: error });
  }
}

function portOf(text: string | undefined, option: string, fallback: number): number {
  if (text === undefined) return fallback;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65535) return port;
  throw new StartError(`${option} takes a whole number from 0 to 65535, not ${JSON.stringify(text)}`);
}
