/** Preloads the instrumentation of OpenTelemetry for the library that the environment variable `INSTRUMENTED` names. */
import { register } from "node:module";
import { type Instrumentation, registerInstrumentations } from "@opentelemetry/instrumentation";

register("@opentelemetry/instrumentation/hook.mjs", import.meta.url);
const all = (await import(`@opentelemetry/instrumentation-${process.env.INSTRUMENTED}`)) as Record<string, unknown>;
const name = Object.keys(all).find((each) => each.endsWith("Instrumentation"))!;
const instrumentation = new (all[name] as new () => Instrumentation)();
registerInstrumentations({ instrumentations: [instrumentation] });
