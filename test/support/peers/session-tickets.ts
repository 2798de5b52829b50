/**
 * Listeners that differ in one setting of TLS, and clients that resume sessions of one at another.
 */
import tls from 'node:tls';
import { GREETING, httpListener } from '../parts/bootstrap.ts';
import type { TestCertificate } from '../parts/certificates.ts';
import { certificateFiles, tlsSocket } from '../parts/tls.ts';

export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** Who may be asked for in a matrix of tickets. */
export interface Parties {
  readonly authority: TestCertificate;
  readonly other: TestCertificate;
  readonly server: TestCertificate;
  readonly renewed: TestCertificate;
  readonly elsewhere: TestCertificate;
  /** SHA-256 of the client's certificate. */
  readonly clientHash: string;
  /** One of the clients is in it. */
  readonly crlPath: string;
  /** Both authorities. */
  readonly bothPath: string;
}

export interface Variant {
  readonly name: string;
  /** Variants of the same group differ in nothing that decides who may pass. */
  readonly group: string;
  /** Sessions are resumed at all. */
  readonly resumes: boolean;
  readonly listener: object;
}

interface Settings {
  readonly fields?: object;
  readonly validation?: object;
  readonly server?: TestCertificate;
  readonly common?: object;
  readonly match?: object;
  readonly group?: string;
  readonly resumes?: boolean;
}

/** `tickets` are fields of `DownstreamTlsContext`. */
export function makeVariants(parties: Parties, tickets: object): readonly Variant[] {
  const { authority, server } = parties;
  const trusted_ca = { filename: authority.certPath };
  const dns = (matcher: object): object[] => [{ san_type: 'DNS', matcher }];
  const settings: Readonly<Record<string, Settings>> = {
    base: {},
    // Nothing of these decides who may pass.
    alpn: { common: { alpn_protocols: ['http/1.1'] }, group: 'base' },
    timeout: { fields: { session_timeout: '60s' }, group: 'base' },
    renewed: { server: parties.renewed, group: 'base' },
    required: { fields: { require_client_certificate: true } },
    named: { fields: { require_sni: true } },
    unjudged: { validation: {} },
    other_authority: { validation: { trusted_ca: { filename: parties.other.certPath } } },
    both: { validation: { trusted_ca: { filename: parties.bothPath } } },
    matched: {
      validation: { trusted_ca, match_typed_subject_alt_names: dns({ exact: 'c.test' }) },
    },
    mismatched: {
      validation: { trusted_ca, match_typed_subject_alt_names: dns({ exact: 'd.test' }) },
    },
    pinned: { validation: { trusted_ca, verify_certificate_hash: [parties.clientHash] } },
    mispinned: { validation: { trusted_ca, verify_certificate_hash: ['ab'.repeat(32)] } },
    pinned_alone: { validation: { verify_certificate_hash: [parties.clientHash] } },
    revoked: { validation: { trusted_ca, crl: { filename: parties.crlPath } } },
    deep: { validation: { trusted_ca, max_verify_depth: 3 }, resumes: false },
    expired: { validation: { trusted_ca, allow_expired_certificate: true }, resumes: false },
    untrusted: { validation: { trusted_ca, trust_chain_verification: 'ACCEPT_UNTRUSTED' } },
    elsewhere: { server: parties.elsewhere },
    chosen: { match: { server_names: ['s.test'] } },
    ciphers: {
      common: { tls_params: { cipher_suites: ['ECDHE-ECDSA-AES256-GCM-SHA384'] } },
    },
  };
  return Object.entries(settings).map(([name, each]) => ({
    name,
    group: each.group ?? name,
    resumes: each.resumes ?? true,
    listener: listenerOf(name, each, { server, trusted_ca, tickets }),
  }));
}

function listenerOf(
  name: string,
  { fields = {}, validation, server, common = {}, match }: Settings,
  base: { readonly server: TestCertificate; readonly trusted_ca: object; readonly tickets: object },
): object {
  const { trusted_ca, tickets } = base;
  const context = {
    tls_certificates: [certificateFiles(server ?? base.server)],
    ...(validation !== undefined && Object.keys(validation).length === 0
      ? {}
      : { validation_context: validation ?? { trusted_ca } }),
    ...common,
  };
  const plain = httpListener(GREETING, { name, statPrefix: name }) as {
    readonly filter_chains: readonly object[];
  };
  const socket = tlsSocket('Downstream', {
    common_tls_context: context,
    ...tickets,
    ...fields,
  });
  const chains = plain.filter_chains.map((chain) => ({
    ...chain,
    ...(match === undefined ? {} : { filter_chain_match: match }),
    transport_socket: socket,
  }));
  return { ...plain, filter_chains: chains };
}

export interface Visit {
  readonly passes: boolean;
  readonly isReused: boolean;
  readonly session: Buffer | undefined;
}

/**
 * One request; the session is the last that the server gave, whether or not it let the client pass.
 */
export async function visit(port: number, options: tls.ConnectionOptions): Promise<Visit> {
  const where = { port, host: '127.0.0.1', servername: 's.test', rejectUnauthorized: false };
  const client = tls.connect({ ...where, ...options });
  let text = '';
  let isReused = false;
  let session: Buffer | undefined;
  client.on('session', (each: Buffer) => (session = each));
  client.on('secureConnect', () => {
    isReused = client.isSessionReused();
    client.write('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
  });
  client.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
    // Tickets come before the answer.
    if (text.includes('hi')) client.destroy();
  });
  await new Promise<void>((resolve) => {
    client.on('error', () => undefined);
    client.on('close', () => resolve());
  });
  return { passes: text.includes(' 200 '), isReused, session };
}
