/** Secrets, by the places that they stand in. */
import { createHash } from 'node:crypto';

/** Distinct, and in no other text. */
export const planted = (place: string): string => `planted7f3a-${place}-9c1d`;

/** Places of the configuration that Envoy's own `/config_dump` hides, so that every page must. */
export const HIDDEN = [
  'oauth-token',
  'oauth-hmac',
  'injected',
  'basic-hash',
  'api-key',
  'aws-key',
  'aws-session',
  'ticket-key',
  'redis-client',
  'redis-host',
  'config-yaml',
  'refused-listener',
] as const;

/** Places that the API does not mark: `/config_dump` shows them as Envoy's does, and nothing else. */
export const DUMPED = [
  'jwks-shared',
  'jwks-private',
  'authz-header',
  'authz-metadata',
  'google-token',
  'route-header',
  'probe-header',
  'span-header',
  'log-metadata',
  'sink-metadata',
  'limit-metadata',
] as const;

export const PASSWORD = planted('basic-password');
const HASH = createHash('sha1').update(PASSWORD).digest('base64');
/** What stands for `basic-hash` in the configuration. */
export const PASSWORD_HASH = `{SHA}${HASH}`;
