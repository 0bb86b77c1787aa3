import { ActuatorError } from "../common/error.ts";
import { checkOptions } from "../common/options.ts";
import type { AuthRequest } from "./auth-request.ts";
import type { Caller } from "./caller.ts";
import { type Authorize, type CallerDescription, DESCRIPTION } from "./options.ts";
import { permissionsFrom } from "./permission-pattern.ts";
import { CREDENTIALS_MISSING, refusal } from "./refusal.ts";

const TIMEOUT_MS = 10_000;

/**
 * Whom the application's own function knows.
 *
 * @throws ActuatorError UNAUTHENTICATED where it knows nobody, with the reason CREDENTIALS_MISSING where it found nothing that
 *   it asked for; UNAVAILABLE where it fails, which `onError` hears of
 */
export async function askApplication(
  authorize: Authorize,
  request: AuthRequest,
  onError: (error: unknown) => void,
): Promise<Caller> {
  let presentedCredentials = request.authorization !== undefined || request.certificate !== undefined;
  const header = (name: string) => {
    const value = request.header(name);
    presentedCredentials ||= value !== undefined;
    return value;
  };
  let caller: Caller | undefined;
  try {
    caller = callerFrom(await inTime(authorize({ ...request, header })));
  } catch (error) {
    onError(error);
    throw new ActuatorError("UNAVAILABLE", "AUTHORIZE_FAILED", "Who may do what cannot be decided at the moment.");
  }
  if (caller !== undefined) return caller;
  throw refusal("The application does not let you in.", presentedCredentials ? undefined : CREDENTIALS_MISSING);
}

function callerFrom(description: CallerDescription | undefined): Caller | undefined {
  if (description === undefined) return undefined;
  checkOptions("what authorize answered", description, DESCRIPTION);
  const { name, permissions, loggers } = description;
  if (name === undefined || permissions === undefined) throw new Error("authorize answered no name or no permissions");
  return { name, authentication: "custom", permissions: permissionsFrom(permissions), loggers };
}

async function inTime<T>(answer: T | Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`authorize took more than ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
