export { type NestjsLoggersOptions, nestjsLoggers } from "../../adapters/loggers/nestjs/adapter.ts";
export {
  ACTUATOR,
  type ActuatorDynamicModule,
  ActuatorModule,
  type ActuatorModuleAsyncOptions,
  type ActuatorModuleOptions,
} from "./module.ts";
