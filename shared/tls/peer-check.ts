/**
 * Judges a peer's certificate after the handshake: the chain as OpenSSL verified it, subject
 * alternative names, pinned hashes.
 */
import { createHash, type X509Certificate } from 'node:crypto';
import type { SanMatcher, SanType, TlsValidation } from '../resources/tls.ts';
import { readCertificate } from './certificate-parts.ts';
import { type SubjectAltName, subjectAltNames } from './certificate-names.ts';
import { hiddenFault, type PeerRole } from './dated-chain.ts';
import { wholeOf } from './der.ts';
import { chainTo, LONGEST_CHAIN, parseAll } from './peer-chain.ts';
import { TrustDomains } from './trust-domains.ts';
import { compileStringMatcher } from '../matchers/string-matcher.ts';

export interface PeerRefusal {
  readonly stat: 'fail_verify_error' | 'fail_verify_san' | 'fail_verify_cert_hash';
  /** Follows `CERTIFICATE_VERIFY_FAILED:`. */
  readonly detail: string;
}

/** Validates nothing but asks for what a client wants of the server's name. */
export const NO_VALIDATION: TlsValidation = {
  caPath: '',
  allowExpired: false,
  acceptUntrusted: false,
  sanMatchers: [],
  certificateHashes: [],
  spkiHashes: [],
};

/** What a client wants to find among the names of a host's certificate. */
export interface ExpectedNames {
  /** A DNS name or an address that stands for all configured matchers. */
  readonly instead?: string;
  /** A DNS name, an address or a URI besides what the matchers ask for. */
  readonly besides?: string;
}

/**
 * Whether a chain is judged by more than OpenSSL's word for it. A ticket does not keep the chain,
 * and one is sent before the client is judged: such sessions are not resumed.
 */
export function needsWholeChain(validation: TlsValidation | undefined): boolean {
  if (validation?.trustedCa === undefined) return false;
  const { allowExpired, maxVerifyDepth, trustDomains } = validation;
  return allowExpired || maxVerifyDepth !== undefined || trustDomains !== undefined;
}

type NameTest = (name: SubjectAltName) => boolean;

const SAN_KINDS: Readonly<Record<SanType, SubjectAltName['kind']>> = {
  DNS: 'dns',
  URI: 'uri',
  EMAIL: 'email',
  IP_ADDRESS: 'ip',
  OTHER_NAME: 'other',
};

export class PeerCheck {
  readonly #validation: TlsValidation;
  readonly #role: PeerRole;
  readonly #names: readonly NameTest[];
  /** Read when OpenSSL's word is not enough. */
  #authorities: readonly X509Certificate[] | undefined = undefined;
  readonly #members: TrustDomains | undefined;

  constructor(validation: TlsValidation, role: PeerRole = 'host') {
    this.#validation = validation;
    this.#role = role;
    this.#names = validation.sanMatchers.map(compileName);
    this.#members = validation.trustDomains && new TrustDomains(validation.trustDomains);
  }

  /** A peer without a certificate cannot be who is asked for. */
  get needsPeer(): boolean {
    const { certificateHashes, spkiHashes, trustDomains } = this.#validation;
    if (trustDomains !== undefined) return true;
    return this.#names.length + certificateHashes.length + spkiHashes.length > 0;
  }

  /** What is refused is counted and passes all the same. */
  get acceptsUntrusted(): boolean {
    return this.#validation.acceptUntrusted;
  }

  /** Whether a peer that passes is one that a trusted authority vouches for. */
  get verifiesChain(): boolean {
    return this.#validation.trustedCa !== undefined;
  }

  /**
   * Undefined when the peer is accepted. `verifyError` is OpenSSL's.
   */
  judge(
    peer: X509Certificate,
    verifyError: NodeJS.ErrnoException | null | undefined,
    expected: ExpectedNames = {},
  ): PeerRefusal | undefined {
    return (
      this.#judgeChain(peer, verifyError) ??
      this.#judgeMember(peer) ??
      this.#judgeNames(peer, expected) ??
      this.#judgePins(peer)
    );
  }

  /**
   * The same for a session that is resumed: a ticket keeps the first certificate and what OpenSSL
   * thought of its chain, so that names, pins and the certificate's own dates are judged as ever.
   * What is trusted is the same as it was (session-context.ts).
   */
  judgeResumed(
    peer: X509Certificate,
    verifyError: NodeJS.ErrnoException | null | undefined,
    nowMs: number,
    expected: ExpectedNames = {},
  ): PeerRefusal | undefined {
    return (
      this.#judgeKept(peer, verifyError, nowMs) ??
      this.#judgeNames(peer, expected) ??
      this.#judgePins(peer)
    );
  }

  #judgeKept(
    peer: X509Certificate,
    error: NodeJS.ErrnoException | null | undefined,
    nowMs: number,
  ): PeerRefusal | undefined {
    const { trustedCa, allowExpired } = this.#validation;
    if (trustedCa === undefined) return undefined;
    if (!(allowExpired && DATES.has(error?.code ?? ''))) {
      const refusal = refusedByOpenSsl(error);
      if (refusal !== undefined) return refusal;
    }
    if (allowExpired) return undefined;
    const parts = readCertificate(peer.raw);
    if (parts === undefined || !(nowMs <= parts.validToMs + LAST_SECOND_MS)) {
      return refusedChain(EXPIRED, 0);
    }
    return nowMs >= parts.validFromMs ? undefined : refusedChain(NOT_YET_VALID, 0);
  }

  #judgeChain(
    peer: X509Certificate,
    error: NodeJS.ErrnoException | null | undefined,
  ): PeerRefusal | undefined {
    const { trustedCa, allowExpired, maxVerifyDepth } = this.#validation;
    if (trustedCa === undefined) return undefined;
    const code = error?.code;
    const isDated = allowExpired && DATES.has(code ?? '');
    // OpenSSL tells its last complaint only: what it may hide is looked at here.
    const isLookedAt = isDated || code === 'UNABLE_TO_GET_CRL' || maxVerifyDepth !== undefined;
    const chain = isLookedAt ? this.#chainOf(peer) : [];
    if (chain === undefined) return refusedChain(NO_ISSUER, 0);
    const deepest = Math.max(maxVerifyDepth ?? LONGEST_CHAIN, 1);
    if (chain.length - 1 > deepest) return refusedChain(NO_ISSUER, deepest);
    if (!isDated) return refusedByOpenSsl(error);
    const fault = hiddenFault(chain, { role: this.#role, crl: this.#validation.crl });
    return fault === undefined ? undefined : refusedChain(fault, 0);
  }

  /** Who vouches for a member of one domain does not for one of another. */
  #judgeMember(peer: X509Certificate): PeerRefusal | undefined {
    const authorities = this.#members?.authoritiesOf(peer);
    if (this.#members === undefined) return undefined;
    if (typeof authorities === 'string') {
      return { stat: 'fail_verify_error', detail: `verify cert failed: ${authorities}` };
    }
    const isVouchedFor = authorities !== undefined && chainTo(peer, authorities) !== undefined;
    return isVouchedFor ? undefined : refusedChain(NO_ISSUER, 0);
  }

  #judgeNames(peer: X509Certificate, { instead, besides }: ExpectedNames): PeerRefusal | undefined {
    const tests =
      instead === undefined ? this.#names : [(name: SubjectAltName) => isExpected(name, instead)];
    if (tests.length === 0 && besides === undefined) return undefined;
    const names = subjectAltNames(peer);
    const shown = `[${names.map(({ value }) => value).join(', ')}]`;
    if (besides !== undefined && !names.some((name) => isExpected(name, besides))) {
      return refusedName(
        `verify SAN list, expected SANs: [${besides}], certificate SANs: ${shown}`,
      );
    }
    if (tests.length === 0 || names.some((name) => tests.some((test) => test(name)))) {
      return undefined;
    }
    return refusedName(`SAN matcher, certificate SANs are ${shown}`);
  }

  /** Either list may hold the certificate. */
  #judgePins(peer: X509Certificate): PeerRefusal | undefined {
    const { certificateHashes, spkiHashes } = this.#validation;
    if (certificateHashes.length === 0 && spkiHashes.length === 0) return undefined;
    const hash = peer.fingerprint256.replaceAll(':', '').toLowerCase();
    if (certificateHashes.includes(hash)) return undefined;
    if (spkiHashes.length > 0) {
      const parts = readCertificate(peer.raw);
      const spki = parts === undefined ? Buffer.of() : wholeOf(parts.raw, parts.publicKey);
      if (spkiHashes.includes(createHash('sha256').update(spki).digest('base64'))) return undefined;
    }
    return { stat: 'fail_verify_cert_hash', detail: 'verify cert failed: cert hash and spki' };
  }

  #chainOf(peer: X509Certificate): readonly X509Certificate[] | undefined {
    this.#authorities ??= parseAll(this.#validation.trustedCa ?? '');
    return chainTo(peer, this.#authorities);
  }
}

const EXPIRED = 'CERT_HAS_EXPIRED';
const NOT_YET_VALID = 'CERT_NOT_YET_VALID';
const DATES: ReadonlySet<string> = new Set([EXPIRED, NOT_YET_VALID]);
/** A certificate is good until the end of the second that it names. */
const LAST_SECOND_MS = 999;
const NO_ISSUER = 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY';

function refusedChain(code: string, depth: number, message = code): PeerRefusal {
  const text = VERIFY_TEXTS[code] ?? message;
  return {
    stat: 'fail_verify_error',
    detail: `verify cert failed: X509_verify_cert: certificate verification error at depth ${depth}: ${text}`,
  };
}

function refusedByOpenSsl(
  error: NodeJS.ErrnoException | null | undefined,
): PeerRefusal | undefined {
  const code = error?.code;
  return code === undefined ? undefined : refusedChain(code, DEPTHS[code] ?? 0, error?.message);
}

function refusedName(detail: string): PeerRefusal {
  return { stat: 'fail_verify_san', detail: `verify cert failed: ${detail}` };
}

function isExpected({ kind, value }: SubjectAltName, wanted: string): boolean {
  return kind === 'dns'
    ? dnsNameMatches(wanted, value)
    : (kind === 'ip' || kind === 'uri') && value === wanted;
}

/** Whether `name` is meant by a certificate's name, whose first label may be `*`. */
function dnsNameMatches(name: string, pattern: string): boolean {
  const wanted = name.toLowerCase();
  const given = pattern.toLowerCase();
  if (wanted === given) return true;
  if (!given.startsWith('*.')) return false;
  const dot = wanted.indexOf('.');
  return dot > 0 && wanted.slice(dot) === given.slice(1);
}

/** Envoy's words for OpenSSL's complaints, where they differ from this runtime's. */
const VERIFY_TEXTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not yet valid',
  CERT_REVOKED: 'certificate revocation check against provided CRLs failed: certificate revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self signed certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'self signed certificate in certificate chain',
  UNABLE_TO_GET_CRL:
    'certificate revocation check against provided CRLs failed: unable to get certificate CRL',
  UNABLE_TO_GET_ISSUER_CERT: 'unable to get issuer certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unable to get local issuer certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unable to get local issuer certificate',
};

const DEPTHS: Readonly<Record<string, number>> = { SELF_SIGNED_CERT_IN_CHAIN: 1 };

/** Tests one name of a certificate. */
export function compileName({ type, oid, matcher }: SanMatcher): NameTest {
  const wantedKind = SAN_KINDS[type];
  // An exact DNS name is found in a wildcard too, as Envoy reads it.
  const test =
    type === 'DNS' && matcher.kind === 'exact' && !matcher.ignoreCase
      ? (value: string) => dnsNameMatches(matcher.value, value)
      : compileStringMatcher(matcher);
  return (name) => name.kind === wantedKind && name.oid === oid && test(name.value);
}
