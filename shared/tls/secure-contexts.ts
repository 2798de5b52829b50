/**
 * The OpenSSL contexts of one TLS configuration: one per set of names that certificates share, so
 * that an RSA and an ECDSA certificate for the same names stand in one and are chosen by what the
 * client can verify. Knows which context serves which server name.
 */
import { X509Certificate } from 'node:crypto';
import type tls from 'node:tls';
import type { TlsCertificate, TlsContext, TlsValidation } from '../resources/tls.ts';
import { asciiLower } from '../text/ascii.ts';
import { needsWholeChain } from './peer-check.ts';
import { SessionContext } from './session-context.ts';

export interface ServerSessions {
  /** 48 bytes. */
  readonly ticketKeys: Buffer;
  readonly usesTickets: boolean;
  readonly timeoutS: number;
  readonly preferClientCiphers: boolean;
  readonly requiresPeer: boolean;
  readonly requiresServerName: boolean;
  /** For which the filter chain is chosen. */
  readonly serverNames: readonly string[];
}

export interface ContextInput {
  readonly tls: TlsContext;
  readonly certificates: readonly TlsCertificate[];
  readonly validation: TlsValidation | undefined;
  /** Absent for clients. */
  readonly sessions?: ServerSessions;
}

export class SecureContexts {
  readonly #byName = new Map<string, tls.SecureContext>();
  /** For clients that name nobody, or nobody who is here. */
  readonly first: tls.SecureContext;
  /** All but the first. */
  readonly others: readonly tls.SecureContext[];
  readonly #onlyChain: string | undefined;
  /** Absent for clients. */
  readonly #sessions: SessionContext | undefined;
  #only: X509Certificate | undefined;

  /** Throws when OpenSSL takes a part of it not. */
  constructor(input: ContextInput) {
    this.#sessions = sessionContextOf(input);
    const groups = groupByNames(input.certificates);
    const contexts = groups.map((group) => {
      const context = makeContext(input, group);
      for (const name of group[0]?.names ?? []) {
        if (!this.#byName.has(name)) this.#byName.set(name, context);
      }
      return context;
    });
    this.first = contexts[0] ?? makeContext(input, []);
    this.others = contexts.slice(1);
    this.#onlyChain = input.certificates.length === 1 ? input.certificates[0]?.chain : undefined;
  }

  /** The certificate of every handshake, undefined where there are several or none. */
  get onlyCertificate(): X509Certificate | undefined {
    if (this.#onlyChain === undefined) return undefined;
    this.#only ??= new X509Certificate(this.#onlyChain);
    return this.#only;
  }

  get hasSeveral(): boolean {
    return this.others.length > 0;
  }

  /** Before each handshake of a server: which tickets its client may resume with at this moment. */
  renewSessions(nowMs: number): void {
    const sessions = this.#sessions;
    if (sessions?.isOver(nowMs) !== true) return;
    const text = sessions.at(nowMs);
    for (const { context } of [this.first, ...this.others]) {
      (context as InnerSecureContext).setSessionIdContext(text);
    }
  }

  /** An exact name, then a wildcard for its first label, then the first certificate. */
  choose(serverName: string): tls.SecureContext {
    const name = asciiLower(serverName);
    const dot = name.indexOf('.');
    const wildcard = dot > 0 ? `*${name.slice(dot)}` : '';
    return this.#byName.get(name) ?? this.#byName.get(wildcard) ?? this.first;
  }
}

function groupByNames(certificates: readonly TlsCertificate[]): readonly TlsCertificate[][] {
  const groups = new Map<string, TlsCertificate[]>();
  for (const certificate of certificates) {
    const key = certificate.names.join(' ');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [certificate]);
    else group.push(certificate);
  }
  return [...groups.values()];
}

function makeContext(
  input: ContextInput,
  certificates: readonly TlsCertificate[],
): tls.SecureContext {
  const { parameters } = input.tls;
  const { validation, sessions } = input;
  const options: ContextOptions = {
    cert: certificates.map(({ chain }) => chain),
    key: certificates.map(({ key }) => key),
    minVersion: parameters.minVersion,
    maxVersion: parameters.maxVersion,
    ciphers: parameters.ciphers,
    ecdhCurve: parameters.curves,
    // Any certificate in the bundle ends a chain, as in Envoy.
    allowPartialTrustChain: true,
    // Without an authority nothing is verified: the runtime's own list must not stand in for it.
    ca: validation?.trustedCa ?? [],
  };
  if (parameters.signatureAlgorithms !== undefined)
    options.sigalgs = parameters.signatureAlgorithms;
  // The runtime reads one list of each text.
  if (validation?.crl !== undefined) options.crl = validation.crl.split(/(?=-----BEGIN X509 CRL)/);
  if (sessions !== undefined) {
    options.ticketKeys = sessions.ticketKeys;
    options.sessionTimeout = sessions.timeoutS;
    options.honorCipherOrder = !sessions.preferClientCiphers;
  }
  options.secureOptions = protections(input);
  return nodeTls().createSecureContext(options);
}

/** Fields that the runtime knows and its types do not. */
interface ContextOptions extends tls.SecureContextOptions {
  allowPartialTrustChain?: boolean;
}

/** Loaded with the first TLS configuration: plain servers do without it. */
export function nodeTls(): typeof tls {
  return process.getBuiltinModule('node:tls');
}

/** Not among the runtime's constants. */
const NO_RENEGOTIATION = 0x4000_0000;

/**
 * A peer that begins handshakes again and again costs much and gains nothing: listeners never let
 * it, as Envoy. Clients that have ChaCha20 on top have no instructions for AES.
 */
function protections({ tls: context, sessions, validation }: ContextInput): number {
  const { SSL_OP_NO_TICKET, SSL_OP_PRIORITIZE_CHACHA } =
    process.getBuiltinModule('node:crypto').constants;
  if (sessions === undefined) return context.allowsRenegotiation === true ? 0 : NO_RENEGOTIATION;
  const always = NO_RENEGOTIATION | SSL_OP_PRIORITIZE_CHACHA;
  const usesTickets = sessions.usesTickets && !needsWholeChain(validation);
  return usesTickets ? always : always | SSL_OP_NO_TICKET;
}

function sessionContextOf(input: ContextInput): SessionContext | undefined {
  const { tls: context, certificates, validation, sessions } = input;
  if (sessions === undefined) return undefined;
  const { requiresPeer, requiresServerName, serverNames } = sessions;
  const { parameters } = context;
  return new SessionContext({
    parameters,
    certificates,
    validation,
    requiresPeer,
    requiresServerName,
    serverNames,
  });
}

/** Parts of the runtime's contexts that its types leave out. */
interface InnerSecureContext {
  setSessionIdContext(text: string): void;
}
