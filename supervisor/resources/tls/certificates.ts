/** Resolves envoy.extensions.transport_sockets.tls.v3.TlsCertificate: a chain and the key to it. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { DataSource } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { TlsCertificate as CertificateMessage } from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/common.ts';
import type { TlsCertificate } from '../../../shared/resources/tls.ts';
import { isSkippedSecret, readDataSource } from '../data-source.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { subjectAltNames } from '../../../shared/tls/certificate-names.ts';

const FIELDS = knownFields<CertificateMessage>(
  ['certificate_chain', 'private_key', 'password'],
  // Files of secrets are watched in any case.
  ['watched_directory'],
);

const RSA_BITS_MIN = 2048;
const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/** Undefined after a reported problem. */
export function resolveCertificate(
  message: CertificateMessage,
  scope: Scope,
): TlsCertificate | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const sources = [message.certificate_chain, message.private_key, message.password];
  if (sources.some((source) => isSkippedSecret(source, scope))) return undefined;
  const path = pathOf(message.certificate_chain);
  const chain = readPem(message.certificate_chain, scope.at('certificate_chain'));
  const keyText = readPem(message.private_key, scope.at('private_key'));
  if (keyText === '') {
    const shown = shownFile(message.private_key);
    scope.error(
      'file',
      `Failed to load incomplete private key from path: ${shown}`,
      whyEmpty(message.private_key, 'private_key'),
    );
    return undefined;
  }
  if (chain === '') {
    scope.error(
      'file',
      `Failed to load incomplete certificate from ${shownFile(message.certificate_chain)}: certificate chain not set`,
      whyEmpty(message.certificate_chain, 'certificate_chain'),
    );
    return undefined;
  }
  const leaf = parseCertificate(chain);
  if (leaf === undefined) {
    scope.at('certificate_chain').error('file', `Failed to load certificate chain from ${path}`);
    return undefined;
  }
  const weakness = weaknessOf(leaf.publicKey);
  if (weakness !== undefined) {
    const place = scope.at('certificate_chain');
    place.error('file', `Failed to load certificate chain from ${path}, ${weakness}`);
    return undefined;
  }
  const key = loadKey(message, keyText, leaf, scope);
  if (key === undefined) return undefined;
  return { chain, key, path, names: namesOf(leaf) };
}

/** The first certificate of a PEM text, undefined when there is none. */
export function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** As Envoy shows where a data source comes from. */
export function pathOf(source: DataSource | undefined): string {
  return source?.filename ?? '<inline>';
}

function shownFile(source: DataSource | undefined): string {
  return source?.filename ?? '';
}

/** Why nothing was read, since Envoy's words do not say it. */
function whyEmpty(source: DataSource | undefined, field: string): string {
  const { filename } = source ?? {};
  if (filename === undefined) return `${field} has no file and no text`;
  const path = resolve(filename);
  if (fileExists(filename)) return `${field}: ${path} is empty`;
  const folder = dirname(path);
  return fileExists(folder)
    ? `${field}: there is no file ${path}`
    : `${field}: there is no folder ${folder}`;
}

/** Empty when there is nothing; a file that is not there counts as empty here, as in Envoy. */
function readPem(source: DataSource | undefined, scope: Scope): string {
  if (source === undefined) return '';
  const isMissing = source.filename !== undefined && !fileExists(source.filename);
  return isMissing ? '' : (readDataSource(source, scope)?.toString('latin1') ?? '');
}

function fileExists(path: string): boolean {
  return process.getBuiltinModule('node:fs').existsSync(path);
}

function weaknessOf(key: KeyObject): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa' && (details?.modulusLength ?? 0) < RSA_BITS_MIN) {
    return 'only RSA certificates with 2048-bit or larger keys are supported';
  }
  if (type === 'ec' && !CURVES.has(details?.namedCurve ?? '')) {
    return 'only P-256, P-384 or P-521 ECDSA certificates are supported';
  }
  return undefined;
}

/** The key as PEM without its passphrase. */
function loadKey(
  message: CertificateMessage,
  text: string,
  leaf: X509Certificate,
  scope: Scope,
): string | undefined {
  const place = scope.at('private_key');
  const password = message.password;
  const passphrase =
    password === undefined
      ? undefined
      : readDataSource(password, scope.at('password'))?.toString('utf8');
  const failed = (cause: string): undefined => {
    const path = pathOf(message.private_key);
    place.error('file', `Failed to load private key from ${path}, Cause: ${cause}`);
    return undefined;
  };
  try {
    const key = createPrivateKey({ key: text, passphrase: passphrase ?? '' });
    if (!leaf.checkPrivateKey(key)) return failed(CAUSES.mismatch);
    return key.export({ type: 'pkcs8', format: 'pem' }).toString();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return failed(code === 'ERR_OSSL_BAD_DECRYPT' ? CAUSES.badDecrypt : CAUSES.noKey);
  }
}

const CAUSES = {
  noKey: 'error:0900006e:PEM routines:OPENSSL_internal:NO_START_LINE',
  mismatch: 'error:0b000074:X.509 certificate routines:OPENSSL_internal:KEY_VALUES_MISMATCH',
  badDecrypt: 'error:1e000065:Cipher functions:OPENSSL_internal:BAD_DECRYPT',
} as const;

function namesOf(leaf: X509Certificate): readonly string[] {
  const dns = subjectAltNames(leaf).filter(({ kind }) => kind === 'dns');
  if (dns.length > 0) return dns.map(({ value }) => value.toLowerCase());
  const commonName = /^CN=(.*)$/m.exec(leaf.subject ?? '')?.[1];
  return commonName === undefined ? [] : [commonName.toLowerCase()];
}
