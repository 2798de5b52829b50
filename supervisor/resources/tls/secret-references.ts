/**
 * Finds what envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig names: a static secret of the
 * bootstrap, whose value is taken over at once.
 */
import type {
  Secret,
  SdsSecretConfig,
} from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/secret.ts';
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

/** The static secret of that name, undefined after a reported problem. */
export function findStaticSecret(message: SdsSecretConfig, scope: Scope): Secret | undefined {
  refuseOtherFields(message, FIELDS, scope);
  if (message.sds_config !== undefined) {
    scope.at('sds_config').unsupported('fetching secrets (sds_config) is');
    return undefined;
  }
  const { name = '' } = message;
  const secret = scope.context.secrets?.get(name);
  if (secret === undefined) scope.error('reference', `Unknown static secret: ${name}`);
  return secret;
}
