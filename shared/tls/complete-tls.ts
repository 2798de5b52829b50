/**
 * Puts together what a TLS context holds itself and what comes apart from it as secrets: the same
 * in workers and in the supervisor. Pure.
 */
import type { TlsCertificate, TlsContext, TlsSecret, TlsValidation } from '../resources/tls.ts';

export interface CompleteTls {
  readonly certificates: readonly TlsCertificate[];
  readonly validation: TlsValidation | undefined;
  /** The secret's ticket keys; absent: those of the context itself. */
  readonly ticketKeys?: string;
}

/**
 * Undefined while a secret is missing, or where what came would verify names but not their issuer.
 */
export function completeTls(
  context: TlsContext,
  secretOf: (key: string) => TlsSecret | undefined,
): CompleteTls | undefined {
  const certificates = [...context.certificates];
  for (const key of context.certificateSecrets) {
    const secret = secretOf(key);
    if (secret?.kind !== 'certificate') return undefined;
    certificates.push(secret.certificate);
  }
  const tickets = ticketsOf(context, secretOf);
  if (tickets === undefined) return undefined;
  const { validation: own, validationSecret: key } = context;
  if (key === undefined) return { certificates, validation: own, ...tickets };
  const secret = secretOf(key);
  if (secret?.kind !== 'validation') return undefined;
  const validation = own === undefined ? secret.validation : layOver(own, secret.validation);
  const namesStrangers = validation.sanMatchers.length > 0 && validation.trustedCa === undefined;
  return namesStrangers ? undefined : { certificates, validation, ...tickets };
}

/** Undefined while they are missing. */
function ticketsOf(
  { ticketSecret: key }: TlsContext,
  secretOf: (key: string) => TlsSecret | undefined,
): Pick<CompleteTls, 'ticketKeys'> | undefined {
  if (key === undefined) return {};
  const secret = secretOf(key);
  return secret?.kind === 'tickets' ? { ticketKeys: secret.ticketKeys } : undefined;
}

/** As protobuf merges messages: lists are joined, single values are replaced. */
export function layOver(base: TlsValidation, over: TlsValidation): TlsValidation {
  const { trustedCa, ...rest } = over;
  // The authorities of trust domains are not replaced by others.
  const isReplaced = base.trustDomains === undefined || over.trustDomains !== undefined;
  return {
    ...base,
    ...rest,
    ...(trustedCa === undefined || !isReplaced ? {} : { trustedCa }),
    caPath: over.trustedCa === undefined ? base.caPath : over.caPath,
    allowExpired: base.allowExpired || over.allowExpired,
    acceptUntrusted: base.acceptUntrusted || over.acceptUntrusted,
    sanMatchers: [...base.sanMatchers, ...over.sanMatchers],
    certificateHashes: [...base.certificateHashes, ...over.certificateHashes],
    spkiHashes: [...base.spkiHashes, ...over.spkiHashes],
  };
}

/** Keys of all secrets that a context waits for. */
export function secretKeysOf(context: TlsContext): readonly string[] {
  const { certificateSecrets, validationSecret, ticketSecret } = context;
  const others = [validationSecret, ticketSecret].filter((key) => key !== undefined);
  return others.length === 0 ? certificateSecrets : [...certificateSecrets, ...others];
}
