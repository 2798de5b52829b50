/**
 * Finds what envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig names: a static secret of
 * the bootstrap, whose value is taken over at once, or one that comes from elsewhere.
 */
import { meantName } from '../meant-name.ts';
import type {
  Secret,
  SdsSecretConfig,
} from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/secret.ts';
import type { TlsSecret } from '../../../shared/resources/tls.ts';
import { resolveConfigSource } from '../config-source.ts';
import { checkConfigSource } from '../check-config-source.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { resolveCertificate } from './certificates.ts';
import { resolveValidation } from './validation.ts';

const FIELDS = knownFields<SdsSecretConfig>(['name', 'sds_config']);

/** Reports what is wrong with a secret that nothing uses yet. */
export function checkSecret(secret: Secret, scope: Scope): void {
  const { tls_certificate: certificate, validation_context: validation } = secret;
  if (certificate !== undefined) resolveCertificate(certificate, scope.at('tls_certificate'));
  if (validation !== undefined) {
    resolveValidation(validation, scope.at('validation_context'), true);
  }
}

/** A secret as a TLS context refers to it. */
export type SecretReference =
  | { readonly at: 'bootstrap'; readonly name: string; readonly secret: Secret }
  | { readonly at: 'source'; readonly key: string };

/** Envoy's words for a name that no static secret has. */
export const UNKNOWN = {
  certificate: 'Unknown static secret',
  validation: 'Unknown static certificate validation context',
  tickets: 'Unknown tls session ticket keys',
  generic: 'Unknown static generic secret',
} as const satisfies Readonly<Record<TlsSecret['kind'], string>>;

/** For a name that a secret of another kind has. */
export const OTHER_KIND = 'there is a secret of that name, of another kind';

/** Undefined after a reported problem. */
export function resolveSecretReference(
  message: SdsSecretConfig,
  kind: TlsSecret['kind'],
  scope: Scope,
): SecretReference | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { name = '' } = message;
  if (message.sds_config !== undefined) {
    const place = scope.at('sds_config');
    const source = resolveConfigSource(message.sds_config, place);
    if (source === undefined) return undefined;
    // Whether its cluster is there is known when all of the bootstrap is.
    checkConfigSource(source, () => true, place);
    const key = `${name} ${kind} ${JSON.stringify(source)}`;
    scope.context.onNamedSecret?.({ key, name, kind, source });
    return { at: 'source', key };
  }
  const secret = scope.context.secrets?.get(name);
  if (secret === undefined) {
    const names = scope.context.secrets?.keys() ?? [];
    scope.error('reference', `${UNKNOWN[kind]}: ${name}`, meantName(name, names));
    return undefined;
  }
  return { at: 'bootstrap', name, secret };
}
