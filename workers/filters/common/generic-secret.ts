/** The present value of a secret that a filter was given or that comes from elsewhere. */
import type { GenericSecret } from '../../../shared/resources/generic-secret.ts';
import type { SecretStore } from '../../tls/secret-store.ts';

/** One character per byte; empty while it is not there. */
export function secretText(secret: GenericSecret, secrets: SecretStore): string {
  return Buffer.from(secretBytes(secret, secrets)).toString('latin1');
}

function secretBytes(secret: GenericSecret, secrets: SecretStore): Uint8Array {
  if (secret.kind === 'value') return secret.value;
  const present = secrets.get(secret.key);
  return present?.kind === 'generic' ? present.value : new Uint8Array();
}
