export type { Fault } from "../common/error.ts";
export {
  applicationConfiguration,
  type Configuration,
  type ConfigurationSources,
  configuration,
  type StandaloneConfiguration,
  standaloneConfiguration,
} from "./configuration.ts";
export type { EffectiveSetting } from "./effective.ts";
export { configurationSchema } from "./schema.ts";
