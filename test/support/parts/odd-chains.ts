/** Clients whose chains have one fault each, alone and beside dates that are over. */
import {
  altNames,
  type BuiltKeys,
  buildCertificate,
  type CertificateDraft,
  commonName,
  der,
  extension,
  isAuthority,
  makeKeys,
  SAN,
  sequence,
  utcTime,
} from './certificate-builder.ts';
import type { Credential } from '../peers/session-parties.ts';

const HOUR_MS = 3600 * 1000;
const REVOKED = Buffer.of(7);
const past = (): { readonly to: Buffer } => ({ to: utcTime(Date.now() - HOUR_MS) });
const future = (): { readonly from: Buffer } => ({ from: utcTime(Date.now() + HOUR_MS) });
const purpose = (hex: string): { readonly extensions: Buffer[] } => ({
  extensions: [extension('2.5.29.37', sequence(Buffer.from(hex, 'hex')))],
});
const SERVER = purpose('06082b06010505070301');
const CLIENT = purpose('06082b06010505070302');
const ANY = purpose('0604551d2500');
const NULL = Buffer.of(5, 0);

interface Issuer {
  readonly name: string;
  readonly keys: BuiltKeys;
  /** Its own certificate and those above it, without the root. */
  readonly above: string;
}

function issue(
  { name, keys: signer, above }: Issuer,
  draft: Partial<CertificateDraft>,
): Credential {
  const { keys = makeKeys() } = draft;
  const subject = commonName('client');
  const base = { subject, issuer: commonName(name), keys, signer, serial: Buffer.of(8) };
  return { name: '', key: keys.key, cert: buildCertificate({ ...base, ...draft }) + above };
}

function issuerBelow(by: Issuer, name: string, draft: Partial<CertificateDraft> = {}): Issuer {
  const keys = makeKeys();
  const { cert = '' } = issue(by, { subject: commonName(name), keys, ...draft });
  return { name, keys, above: cert };
}

export interface OddChains {
  readonly root: { readonly cert: string; readonly name: Buffer; readonly keys: BuiltKeys };
  readonly revoked: Buffer;
  readonly clients: Readonly<Record<string, Credential>>;
}

export function makeOddChains(): OddChains {
  const keys = makeKeys();
  const name = commonName('root');
  const extensions = [isAuthority()];
  const cert = buildCertificate({ subject: name, issuer: name, keys, signer: keys, extensions });
  const root: Issuer = { name: 'root', keys, above: '' };
  const leaf = issuerBelow(root, 'leaf');
  const plainLeaf = issuerBelow(root, 'plain leaf', {
    extensions: [extension('2.5.29.19', sequence())],
  });
  const noneBelow = extension(
    '2.5.29.19',
    sequence(der(1, Buffer.of(0xff)), der(2, Buffer.of(0))),
    true,
  );
  const first = issuerBelow(root, 'first', { extensions: [noneBelow] });
  const second = issuerBelow(first, 'second', { extensions });
  const old = issuerBelow(root, 'old', { extensions, ...past() });
  const critical = { extensions: [extension('1.2.3.4', NULL, true)] };
  const named = altNames([SAN.dns, Buffer.from('c.test')]);
  const clients = {
    good: issue(root, {}),
    expired: issue(root, past()),
    early: issue(root, future()),
    revoked: issue(root, { serial: REVOKED }),
    'revoked, expired': issue(root, { serial: REVOKED, ...past() }),
    'by a leaf': issue(leaf, {}),
    'by a leaf, expired': issue(leaf, past()),
    'by a plain leaf, expired': issue(plainLeaf, past()),
    'for servers': issue(root, SERVER),
    'for servers, expired': issue(root, { ...SERVER, ...past() }),
    'for clients, expired': issue(root, { ...CLIENT, ...past() }),
    'for anything, expired': issue(root, { ...ANY, ...past() }),
    'critical, expired': issue(root, { ...critical, ...past() }),
    'names twice, expired': issue(root, { extensions: [named, named], ...past() }),
    'below one, expired': issue(first, past()),
    'too deep': issue(second, {}),
    'too deep, expired': issue(second, past()),
    'by an old one': issue(old, {}),
  };
  return { root: { cert, name, keys }, revoked: REVOKED, clients };
}
