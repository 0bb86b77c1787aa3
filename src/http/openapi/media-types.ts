import type { Content, MediaType } from "./model.ts";

/** The types that a body may be answered and sent as, the most preferred first. All four name the same bytes. */
export const ACTUATOR_TYPES = [
  "application/vnd.service.actuator.v3+json",
  "application/vnd.spring-boot.actuator.v3+json",
  "application/vnd.spring-boot.actuator.v2+json",
  "application/json",
] as const;

/** A body that comes in each of the types. */
export function actuatorContent(body: MediaType): Content {
  return Object.fromEntries(ACTUATOR_TYPES.map((type) => [type, body]));
}
