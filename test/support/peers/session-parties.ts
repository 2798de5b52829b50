/** The certificates of a matrix of session tickets: servers, and clients of every kind. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import {
  altNames,
  type BuiltKeys,
  buildCertificate,
  buildRevocationList,
  type CertificateDraft,
  commonName,
  isAuthority,
  makeKeys,
  SAN,
  sha256Hex,
  utcTime,
} from '../parts/certificate-builder.ts';
import type { TestCertificate } from '../parts/certificates.ts';
import type { Scratch } from '../scratch.ts';
import type { Parties } from './session-tickets.ts';

export interface Credential {
  readonly name: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface SessionParties extends Parties {
  readonly credentials: readonly Credential[];
  /** 80 bytes. */
  readonly ticketPath: string;
}

const HOUR_MS = 3600 * 1000;

export function makeParties(scratch: Scratch): SessionParties {
  const write = (name: string, cert: string, key: string): TestCertificate => {
    const [certPath, keyPath] = [scratch.file(`${name}.pem`), scratch.file(`${name}.key`)];
    writeFileSync(certPath, cert);
    writeFileSync(keyPath, key);
    return { cert, key, certPath, keyPath };
  };
  const authority = makeRoot('authority');
  const other = makeRoot('other');
  const between = makeKeys();
  const betweenCert = authority.issue('between', between, { extensions: [isAuthority()] });
  let serial = 16;
  const server = (file: string, name: string): TestCertificate => {
    const keys = makeKeys();
    const extensions = [altNames([SAN.dns, Buffer.from(`${name}.test`)])];
    return write(file, authority.issue(name, keys, { extensions }), keys.key);
  };
  const client = (
    issuer: BuiltKeys,
    by: string,
    draft: Partial<CertificateDraft> = {},
  ): Required<Pick<Credential, 'cert' | 'key'>> => {
    const keys = makeKeys();
    const cert = buildCertificate({
      subject: commonName('client'),
      issuer: commonName(by),
      keys,
      signer: issuer,
      serial: Buffer.of((serial += 1)),
      extensions: [altNames([SAN.dns, Buffer.from('c.test')])],
      ...draft,
    });
    return { cert, key: keys.key };
  };
  const good = client(authority.keys, 'authority');
  const past = { to: utcTime(Date.now() - HOUR_MS) };
  const through = client(between, 'between');
  const credentials: readonly Credential[] = [
    { name: 'none' },
    { name: 'good', ...good },
    { name: 'unnamed', ...client(authority.keys, 'authority', { extensions: [] }) },
    { name: 'revoked', ...client(authority.keys, 'authority', { serial: Buffer.of(7) }) },
    { name: 'expired', ...client(authority.keys, 'authority', past) },
    { name: 'stranger', ...client(makeKeys(), 'authority') },
    { name: 'other', ...client(other.keys, 'other') },
    { name: 'through', key: through.key, cert: through.cert + betweenCert },
  ];
  const crlPath = scratch.file('revoked.crl');
  writeFileSync(
    crlPath,
    buildRevocationList(commonName('authority'), authority.keys, [Buffer.of(7)]),
  );
  const ticketPath = scratch.file('tickets');
  writeFileSync(ticketPath, randomBytes(80));
  const bothPath = scratch.file('both.pem');
  writeFileSync(bothPath, authority.cert + other.cert);
  return {
    authority: write('authority', authority.cert, authority.keys.key),
    other: write('other', other.cert, other.keys.key),
    server: server('server', 's'),
    renewed: server('renewed', 's'),
    elsewhere: server('elsewhere', 'e'),
    clientHash: sha256Hex(good.cert),
    crlPath,
    bothPath,
    ticketPath,
    credentials,
  };
}

function makeRoot(name: string): {
  readonly keys: BuiltKeys;
  readonly cert: string;
  issue(of: string, to: BuiltKeys, draft?: Partial<CertificateDraft>): string;
} {
  const keys = makeKeys();
  const issuer = commonName(name);
  const parts = { issuer, signer: keys };
  const cert = buildCertificate({
    ...parts,
    subject: issuer,
    keys,
    extensions: [isAuthority()],
  });
  return {
    keys,
    cert,
    issue: (of, to, draft) =>
      buildCertificate({ ...parts, subject: commonName(of), keys: to, ...draft }),
  };
}
