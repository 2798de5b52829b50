/** Resolves what names a generic secret of the bootstrap, or one that comes from elsewhere. */
import type { GenericSecret as SecretMessage } from '../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/secret.ts';
import type { SdsSecretConfig } from '../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/secret.ts';
import type { GenericSecret } from '../../shared/resources/generic-secret.ts';
import { readDataSource } from './data-source.ts';
import { knownFields, refuseOtherFields } from './fields.ts';
import type { Scope } from './scope.ts';
import { resolveSecretReference } from './tls/secret-references.ts';

const FIELDS = knownFields<SecretMessage>(['secret']);

/** Undefined after a reported problem. */
export function resolveGenericSecret(
  message: SdsSecretConfig,
  scope: Scope,
): GenericSecret | undefined {
  const reference = resolveSecretReference(message, 'generic', scope);
  if (reference === undefined) return undefined;
  if (reference.at === 'source') return { kind: 'named', key: reference.key };
  const value = readGenericSecret(reference.secret.generic_secret, scope);
  return value && { kind: 'value', value };
}

/** Undefined after a reported problem. */
export function readGenericSecret(
  secret: SecretMessage | undefined,
  scope: Scope,
): Buffer | undefined {
  if (secret === undefined) {
    scope.error('reference', 'the secret has no generic_secret');
    return undefined;
  }
  refuseOtherFields(secret, FIELDS, scope);
  return readDataSource(secret.secret ?? {}, scope.at('secret'));
}
