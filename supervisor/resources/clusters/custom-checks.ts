/** Resolves health checks that are extensions. */
import type { Redis } from '../../../shared/api/generated/envoy/extensions/health_checkers/redis/v3/redis.ts';
import type { RedisProbe } from '../../../shared/resources/clusters/health-check.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const REDIS_FIELDS = knownFields<Redis>(['key']);

export const HEALTH_CHECKERS = new ExtensionRegistry<RedisProbe>(
  'envoy.health_checkers',
  'health check',
  {
    redis: extension(
      'envoy.health_checkers.redis',
      'envoy.extensions.health_checkers.redis.v3.Redis',
      (message: Redis, scope: Scope) => {
        refuseOtherFields(message, REDIS_FIELDS, scope);
        return { kind: 'redis' as const, ...optional('key', message.key || undefined) };
      },
    ),
  },
);
