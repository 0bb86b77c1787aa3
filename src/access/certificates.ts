import type { ClientCertificate } from "./auth-request.ts";
import type { Caller } from "./caller.ts";
import type { CertificateRule } from "./options.ts";
import { permissionsFrom } from "./permission-pattern.ts";
import { refusal } from "./refusal.ts";

interface KnownCertificate {
  readonly fits: (certificate: ClientCertificate) => boolean;
  readonly caller: Caller;
}

/** Knows callers by the client certificates that TLS has verified. */
export class Certificates {
  readonly #known: readonly KnownCertificate[];

  constructor(rules: readonly CertificateRule[]) {
    this.#known = rules.map(knownCertificate);
  }

  /**
   * Whose certificate this is, by the first rule that fits.
   *
   * @throws ActuatorError UNAUTHENTICATED where none does
   */
  find(certificate: ClientCertificate): Caller {
    const known = this.#known.find(({ fits }) => fits(certificate));
    if (known === undefined) throw refusal("This client certificate is not known here.");
    return known.caller;
  }
}

function knownCertificate(rule: CertificateRule): KnownCertificate {
  const { commonName, alternativeName, loggers } = rule;
  const fingerprint256 = rule.fingerprint256?.replaceAll(":", "").toLowerCase();
  const name = rule.name ?? commonName ?? alternativeName ?? fingerprint256!;
  return {
    caller: { name, authentication: "certificate", permissions: permissionsFrom(rule.permissions), loggers },
    fits: (certificate) =>
      (commonName === undefined || certificate.commonName === commonName) &&
      (alternativeName === undefined || certificate.alternativeNames.includes(alternativeName)) &&
      (fingerprint256 === undefined || certificate.fingerprint256 === fingerprint256),
  };
}
