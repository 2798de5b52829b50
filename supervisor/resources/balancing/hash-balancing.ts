/** Resolves the policies that choose hosts by a hash of the request. */
import type { ConsistentHashingLbConfig } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/common/v3/common.ts';
import type { Maglev } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/maglev/v3/maglev.ts';
import type { RingHash } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/ring_hash/v3/ring_hash.ts';
import type { MaglevPolicy, RingHashPolicy } from '../../../shared/resources/clusters/lb-policy.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveHashPolicies } from '../routes/hash-policy.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const RING_FIELDS = knownFields<RingHash>([
  'hash_function',
  'minimum_ring_size',
  'maximum_ring_size',
  'use_hostname_for_hashing',
  'hash_balance_factor',
  'consistent_hashing_lb_config',
  'locality_weighted_lb_config',
]);
const MAGLEV_FIELDS = knownFields<Maglev>([
  'table_size',
  'consistent_hashing_lb_config',
  'locality_weighted_lb_config',
]);
const CONSISTENT_FIELDS = knownFields<ConsistentHashingLbConfig>([
  'use_hostname_for_hashing',
  'hash_balance_factor',
  'hash_policy',
]);

const MIN_RING_SIZE = 1024;
const MAX_RING_SIZE = 8 * 1024 * 1024;
const TABLE_SIZE = 65_537;

export const RING_HASH_POLICY = extension(
  'envoy.load_balancing_policies.ring_hash',
  'envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash',
  resolveRingHash,
);

export const MAGLEV_POLICY = extension(
  'envoy.load_balancing_policies.maglev',
  'envoy.extensions.load_balancing_policies.maglev.v3.Maglev',
  resolveMaglev,
);

export function resolveRingHash(message: RingHash, scope: Scope): RingHashPolicy {
  refuseOtherFields(message, RING_FIELDS, scope);
  const earlier = earlierForm(message);
  const hashing = earlier.consistent_hashing_lb_config;
  const minRingSize = Number(message.minimum_ring_size ?? MIN_RING_SIZE);
  const maxRingSize = Number(message.maximum_ring_size ?? MAX_RING_SIZE);
  if (minRingSize > maxRingSize) {
    scope.error(
      'conflict',
      `ring hash: minimum_ring_size (${minRingSize}) > maximum_ring_size (${maxRingSize})`,
    );
  }
  const options = {
    minRingSize,
    maxRingSize,
    hashFunction: message.hash_function === 'MURMUR_HASH_2' ? 'MURMUR_HASH_2' : 'XX_HASH',
    usesHostname: usesHostname(hashing, scope),
  } as const;
  return { kind: 'ring_hash', options, ...commonOf({ ...message, ...earlier }, scope) };
}

/** The deprecated fields count where the message that took their place is missing. */
function earlierForm({
  consistent_hashing_lb_config: hashing,
  use_hostname_for_hashing: usesName,
  hash_balance_factor: factor,
}: RingHash): Required<Pick<RingHash, 'consistent_hashing_lb_config'>> {
  if (hashing !== undefined) return { consistent_hashing_lb_config: hashing };
  return {
    consistent_hashing_lb_config: {
      ...optional('use_hostname_for_hashing', usesName),
      ...optional('hash_balance_factor', factor),
    },
  };
}

export function resolveMaglev(message: Maglev, scope: Scope): MaglevPolicy {
  refuseOtherFields(message, MAGLEV_FIELDS, scope);
  const tableSize = Number(message.table_size ?? TABLE_SIZE);
  if (!isPrime(tableSize)) {
    scope.at('table_size').error('conflict', 'The table size of maglev must be prime number');
  }
  const options = {
    tableSize,
    usesHostname: usesHostname(message.consistent_hashing_lb_config, scope),
  };
  return { kind: 'maglev', options, ...commonOf(message, scope) };
}

function commonOf(
  {
    consistent_hashing_lb_config: hashing,
    locality_weighted_lb_config: localities,
  }: RingHash | Maglev,
  scope: Scope,
): Omit<RingHashPolicy, 'kind' | 'options'> {
  const place = scope.at('consistent_hashing_lb_config', 'hash_policy');
  const hashPolicies = resolveHashPolicies(hashing?.hash_policy, place);
  return {
    ...optional('balanceFactor', hashing?.hash_balance_factor || undefined),
    ...optional('hashPolicies', hashPolicies.length === 0 ? undefined : hashPolicies),
    ...(localities === undefined ? {} : { localities: { kind: 'weighted' } }),
  };
}

function usesHostname(message: ConsistentHashingLbConfig | undefined, scope: Scope): boolean {
  if (message === undefined) return false;
  refuseOtherFields(message, CONSISTENT_FIELDS, scope.at('consistent_hashing_lb_config'));
  return message.use_hostname_for_hashing ?? false;
}

function isPrime(number: number): boolean {
  if (number < 2) return false;
  for (let divisor = 2; divisor * divisor <= number; divisor++) {
    if (number % divisor === 0) return false;
  }
  return true;
}
