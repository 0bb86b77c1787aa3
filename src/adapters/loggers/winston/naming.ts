import type { NativeLogger } from "./native.ts";

const NAME_KEYS = ["logger", "module", "component", "name", "label", "service"] as const;

/** The name that metadata give a logger, where the application does not say otherwise. */
export function nameFromMetadata(metadata: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of NAME_KEYS) {
    const name = metadata[key];
    if (typeof name === "string" && name !== "") return name;
  }
  return undefined;
}

export function metadataOf({ defaultMeta }: NativeLogger): Readonly<Record<string, unknown>> {
  return typeof defaultMeta === "object" && defaultMeta !== null ? (defaultMeta as Record<string, unknown>) : {};
}
