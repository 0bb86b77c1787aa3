import type { Operation, SecurityRequirement, ServedRoute } from "./model.ts";

/** The ways in which callers can say who they are, as the document names them. */
export const SECURITY_SCHEMES = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "A token of the token file, or a JSON Web Token of the configured issuer.",
  },
  basic: {
    type: "http",
    scheme: "basic",
    description: "A token of the token file as the password; any user name.",
  },
  mutualTLS: { type: "mutualTLS", description: "A client certificate that the server knows." },
} as const;

/** One of {@link SECURITY_SCHEMES}. */
export type SecurityScheme = keyof typeof SECURITY_SCHEMES;

/** What an operation asks of its callers: any of the schemes, with the permission of the route; none where nobody is asked. */
export function security(schemes: readonly SecurityScheme[], route: ServedRoute): Pick<Operation, "security"> {
  // Said in so many words, since linters take silence for an oversight.
  if (schemes.length === 0) return { security: [] };
  const known: readonly SecurityRequirement[] = schemes.map((scheme) => ({ [scheme]: [route.permission] }));
  return { security: route.open ? [{}, ...known] : known };
}
