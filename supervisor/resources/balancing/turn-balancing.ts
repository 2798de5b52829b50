/**
 * Resolves the policies that need nothing of the request: in turn, by least requests, at random.
 */
import type { LeastRequest } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/least_request/v3/least_request.ts';
import type { Random } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/random/v3/random.ts';
import type { RoundRobin } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/round_robin/v3/round_robin.ts';
import type { LbPolicy } from '../../../shared/resources/clusters/lb-policy.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { float, optional } from '../values.ts';
import { resolveLocalities } from './locality-balancing.ts';
import { resolveSlowStart } from './slow-start.ts';

type Policy = Pick<
  LbPolicy,
  'kind' | 'leastRequest' | 'slowStart' | 'weighsLocalities' | 'zoneAware' | 'failsInPanic'
>;

const RANDOM_FIELDS = knownFields<Random>(['locality_lb_config']);
const ROUND_ROBIN_FIELDS = knownFields<RoundRobin>(['locality_lb_config', 'slow_start_config']);
const LEAST_REQUEST_FIELDS = knownFields<LeastRequest>([
  'choice_count',
  'active_request_bias',
  'slow_start_config',
  'locality_lb_config',
  'selection_method',
]);

export function roundRobin(message: RoundRobin, scope: Scope): Policy {
  refuseOtherFields(message, ROUND_ROBIN_FIELDS, scope);
  return {
    kind: 'ROUND_ROBIN',
    ...resolveSlowStart(message.slow_start_config, scope.at('slow_start_config')),
    ...resolveLocalities(message.locality_lb_config, scope.at('locality_lb_config')),
  };
}

export function random(message: Random, scope: Scope): Policy {
  refuseOtherFields(message, RANDOM_FIELDS, scope);
  const place = scope.at('locality_lb_config');
  return { kind: 'RANDOM', ...resolveLocalities(message.locality_lb_config, place) };
}

export function leastRequest(message: LeastRequest, scope: Scope): Policy {
  refuseOtherFields(message, LEAST_REQUEST_FIELDS, scope);
  const { choice_count: choiceCount = 2, active_request_bias: bias } = message;
  const activeRequestBias = bias === undefined ? 1 : float(bias.default_value ?? 0);
  const biasKey = bias?.runtime_key;
  const scansAll = message.selection_method === 'FULL_SCAN';
  return {
    kind: 'LEAST_REQUEST',
    leastRequest: {
      choiceCount,
      activeRequestBias,
      ...optional('activeRequestBiasKey', biasKey === '' ? undefined : biasKey),
      ...(scansAll ? { scansAll } : {}),
    },
    ...resolveSlowStart(message.slow_start_config, scope.at('slow_start_config')),
    ...resolveLocalities(message.locality_lb_config, scope.at('locality_lb_config')),
  };
}
