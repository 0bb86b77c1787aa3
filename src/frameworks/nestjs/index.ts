export { type NestjsLoggersOptions, nestjsLoggers } from "../../adapters/loggers/nestjs/index.ts";
export {
  ACTUATOR,
  type ActuatorDynamicModule,
  ActuatorModule,
  type ActuatorModuleAsyncOptions,
  type ActuatorModuleOptions,
} from "./module.ts";
