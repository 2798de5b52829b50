/**
 * Resolves envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig: trust domains, each
 * with the authorities that may vouch for its members.
 */
import { X509Certificate } from 'node:crypto';
import type { SPIFFECertValidatorConfig } from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/tls_spiffe_validator_config.ts';
import type { TrustDomain } from '../../../shared/resources/tls.ts';
import { isSkippedSecret, readFilledSource } from '../data-source.ts';
import type { Dictionary } from '../../../shared/text/dictionary.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { parseCertificate } from './certificates.ts';

const FIELDS = knownFields<SPIFFECertValidatorConfig>(['trust_domains', 'trust_bundles']);
const SVID_USE = 'x509-svid';

export const CERTIFICATE_VALIDATORS = new ExtensionRegistry<readonly TrustDomain[]>(
  'envoy.tls.cert_validator',
  'certificate validator',
  [
    extension(
      'envoy.tls.cert_validator.spiffe',
      'envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig',
      resolveTrustDomains,
    ),
  ],
);

function resolveTrustDomains(
  message: SPIFFECertValidatorConfig,
  scope: Scope,
): readonly TrustDomain[] {
  refuseOtherFields(message, FIELDS, scope);
  if (message.trust_bundles !== undefined) return readBundles(message, scope.at('trust_bundles'));
  const domains: TrustDomain[] = [];
  for (const [index, domain] of (message.trust_domains ?? []).entries()) {
    const { name = '', trust_bundle: source } = domain;
    const place = scope.at('trust_domains', index);
    if (domain.workload_trust_domain !== undefined) {
      place.at('workload_trust_domain').unsupported(`field 'workload_trust_domain' is`);
    }
    if (domains.some((other) => other.name === name)) {
      place.error('conflict', `Multiple trust bundles are given for one trust domain for ${name}`);
    }
    if (isSkippedSecret(source, scope)) continue;
    const text = readFilledSource(source, place.at('trust_bundle'))?.toString('latin1') ?? '';
    if (parseCertificate(text) === undefined) {
      place.error('file', `Failed to load trusted CA certificate for ${name}`);
    }
    domains.push({ name, bundle: text });
  }
  return domains;
}

/** A map of trust bundles as SPIFFE's federation has it: domains with sets of JSON web keys. */
function readBundles(message: SPIFFECertValidatorConfig, scope: Scope): readonly TrustDomain[] {
  const { trust_bundles: source } = message;
  if (isSkippedSecret(source, scope)) return [];
  const text = readFilledSource(source, scope)?.toString('utf8') ?? '';
  try {
    const { trust_domains: domains } = JSON.parse(text) as BundleMap;
    const all = Object.entries(domains ?? {}).map(([name, { keys }]) => ({
      name,
      bundle: pemOf(keys),
    }));
    const empty = all.find(({ bundle }) => bundle === '');
    if (all.length > 0 && empty === undefined) return all;
    const name = empty === undefined ? '' : ` for domain '${empty.name}'`;
    scope.error(
      'file',
      `No ${name === '' ? 'trust domains' : 'keys'} found in SPIFFE bundle${name}`,
    );
  } catch {
    scope.error('file', 'Invalid JSON of a SPIFFE bundle');
  }
  return [];
}

interface BundleMap {
  readonly trust_domains?: Dictionary<{ readonly keys: readonly BundleKey[] }>;
}

interface BundleKey {
  readonly use?: string;
  readonly x5c?: readonly string[];
}

function pemOf(keys: readonly BundleKey[]): string {
  return keys
    .filter(({ use }) => use === SVID_USE)
    .flatMap(({ x5c = [] }) => x5c)
    .map((der) => new X509Certificate(Buffer.from(der, 'base64')).toString())
    .join('');
}
