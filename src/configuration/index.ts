export {
  applicationConfiguration,
  type Configuration,
  type ConfigurationSources,
  configuration,
  type StandaloneConfiguration,
  standaloneConfiguration,
} from "./configuration.ts";
export type { Shown } from "./effective.ts";
export { ConfigurationError, type Fault } from "./fault.ts";
export { configurationSchema } from "./json-schema.ts";
