import { print } from "./output.ts";

/** `config schema`: what can be said in a file. */
export async function printConfigurationSchema(): Promise<void> {
  const { configurationSchema } = await import("../configuration/index.ts");
  print(JSON.stringify(configurationSchema(), null, 2));
}
