/**
 * Resolves the policies that need nothing of the request: in turn, by least requests, at random.
 */
import type { LeastRequest } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/least_request/v3/least_request.ts';
import type { Random } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/random/v3/random.ts';
import type { RoundRobin } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/round_robin/v3/round_robin.ts';
import type {
  LeastRequestPolicy,
  RandomPolicy,
  RoundRobinPolicy,
} from '../../../shared/resources/clusters/lb-policy.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { float, optional } from '../values.ts';
import { resolveLocalities } from './locality-balancing.ts';
import { resolveSlowStart } from './slow-start.ts';

const RANDOM_FIELDS = knownFields<Random>(['locality_lb_config']);
const ROUND_ROBIN_FIELDS = knownFields<RoundRobin>(['locality_lb_config', 'slow_start_config']);
const LEAST_REQUEST_FIELDS = knownFields<LeastRequest>(
  [
    'choice_count',
    'active_request_bias',
    'slow_start_config',
    'locality_lb_config',
    'selection_method',
  ],
  // The older field: Envoy looks at selection_method alone.
  ['enable_full_scan'],
);

export const ROUND_ROBIN_POLICY = extension(
  'envoy.load_balancing_policies.round_robin',
  'envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin',
  roundRobin,
);

export const RANDOM_POLICY = extension(
  'envoy.load_balancing_policies.random',
  'envoy.extensions.load_balancing_policies.random.v3.Random',
  random,
);

export const LEAST_REQUEST_POLICY = extension(
  'envoy.load_balancing_policies.least_request',
  'envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest',
  leastRequest,
);

export function roundRobin(message: RoundRobin, scope: Scope): RoundRobinPolicy {
  refuseOtherFields(message, ROUND_ROBIN_FIELDS, scope);
  return {
    kind: 'round_robin',
    ...resolveSlowStart(message.slow_start_config, scope.at('slow_start_config')),
    ...resolveLocalities(message.locality_lb_config, scope.at('locality_lb_config')),
  };
}

function random(message: Random, scope: Scope): RandomPolicy {
  refuseOtherFields(message, RANDOM_FIELDS, scope);
  const place = scope.at('locality_lb_config');
  return { kind: 'random', ...resolveLocalities(message.locality_lb_config, place) };
}

export function leastRequest(message: LeastRequest, scope: Scope): LeastRequestPolicy {
  refuseOtherFields(message, LEAST_REQUEST_FIELDS, scope);
  const { choice_count: choiceCount = 2, active_request_bias: bias } = message;
  const activeRequestBias = bias === undefined ? 1 : float(bias.default_value ?? 0);
  const biasKey = bias?.runtime_key;
  const scansAll = message.selection_method === 'FULL_SCAN';
  return {
    kind: 'least_request',
    options: {
      choiceCount,
      activeRequestBias,
      ...optional('activeRequestBiasKey', biasKey === '' ? undefined : biasKey),
      ...(scansAll ? { scansAll } : {}),
    },
    ...resolveSlowStart(message.slow_start_config, scope.at('slow_start_config')),
    ...resolveLocalities(message.locality_lb_config, scope.at('locality_lb_config')),
  };
}
