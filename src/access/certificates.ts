import type { ClientCertificate } from "./auth-request.ts";
import type { Caller } from "./caller.ts";
import { unauthenticated } from "./credentials.ts";
import type { CertificateRule } from "./options.ts";
import { permissionsFrom } from "./permission.ts";

interface CertificateMatcher {
  readonly matches: (certificate: ClientCertificate) => boolean;
  readonly caller: Caller;
}

/** Authenticates callers by client certificates that TLS has verified. */
export class Certificates {
  readonly #matchers: readonly CertificateMatcher[];

  constructor(rules: readonly CertificateRule[]) {
    this.#matchers = rules.map(matcherOf);
  }

  /**
   * Returns the caller of the first rule that matches the certificate.
   *
   * @throws ActuatorError UNAUTHENTICATED if no rule does
   */
  find(certificate: ClientCertificate): Caller {
    const found = this.#matchers.find(({ matches }) => matches(certificate));
    if (found === undefined) throw unauthenticated("No rule of this server matches the client certificate.");
    return found.caller;
  }
}

function matcherOf(rule: CertificateRule): CertificateMatcher {
  const { commonName, alternativeName, loggers } = rule;
  const fingerprint256 = rule.fingerprint256?.replaceAll(":", "").toLowerCase();
  const name = rule.name ?? commonName ?? alternativeName ?? fingerprint256!;
  return {
    caller: { name, authentication: "certificate", permissions: permissionsFrom(rule.permissions), loggers },
    matches: (certificate) =>
      (commonName === undefined || certificate.commonName === commonName) &&
      (alternativeName === undefined || certificate.alternativeNames.includes(alternativeName)) &&
      (fingerprint256 === undefined || certificate.fingerprint256 === fingerprint256),
  };
}
