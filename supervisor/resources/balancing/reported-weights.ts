/** Resolves the policy whose weights follow from what hosts report of their load. */
import type { ClientSideWeightedRoundRobin } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/client_side_weighted_round_robin/v3/client_side_weighted_round_robin.ts';
import type { OrcaOobReportingConfig } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/common/v3/common.ts';
import type {
  OobReportOptions,
  WeightedRoundRobinPolicy,
} from '../../../shared/resources/clusters/lb-policy.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { structOf } from '../../../shared/text/dictionary.ts';
import { durationMsOr, float, optional } from '../values.ts';
import { resolveSlowStart } from './slow-start.ts';

/** As Envoy reads an absent penalty, whatever its documentation says. */
const ERROR_PENALTY = 0;

const FIELDS = knownFields<ClientSideWeightedRoundRobin>([
  'blackout_period',
  'weight_expiration_period',
  'weight_update_period',
  'error_utilization_penalty',
  'enable_oob_load_report',
  'metric_names_for_computing_utilization',
  'slow_start_config',
  'oob_reporting_period',
  'oob_reporting_config',
]);
const OOB_FIELDS = knownFields<OrcaOobReportingConfig>([
  'port_value',
  'authority',
  'transport_socket_match_criteria',
]);
const OOB_PERIOD_MS = 10_000;
const BLACKOUT_MS = 10_000;
const EXPIRATION_MS = 180_000;
const UPDATE_MS = 1_000;
const LEAST_UPDATE_MS = 100;

export const WEIGHTED_ROUND_ROBIN_POLICY = extension(
  'envoy.load_balancing_policies.client_side_weighted_round_robin',
  'envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin',
  resolveReportedWeights,
);

function resolveReportedWeights(
  message: ClientSideWeightedRoundRobin,
  scope: Scope,
): WeightedRoundRobinPolicy {
  refuseOtherFields(message, FIELDS, scope);
  const { error_utilization_penalty: penalty } = message;
  return {
    kind: 'client_side_weighted_round_robin',
    ...resolveSlowStart(message.slow_start_config, scope.at('slow_start_config')),
    loadReports: {
      blackoutMs: durationMsOr(message.blackout_period, BLACKOUT_MS),
      expirationMs: durationMsOr(message.weight_expiration_period, EXPIRATION_MS),
      updateMs: Math.max(LEAST_UPDATE_MS, durationMsOr(message.weight_update_period, UPDATE_MS)),
      metricNames: message.metric_names_for_computing_utilization ?? [],
      errorPenalty: penalty === undefined ? ERROR_PENALTY : float(penalty),
      ...optional('oob', resolveOob(message, scope)),
    },
  };
}

function resolveOob(
  message: ClientSideWeightedRoundRobin,
  scope: Scope,
): OobReportOptions | undefined {
  if (message.enable_oob_load_report !== true) return undefined;
  const { oob_reporting_config: config = {} } = message;
  refuseOtherFields(config, OOB_FIELDS, scope.at('oob_reporting_config'));
  const { port_value: port = 0, authority = '', transport_socket_match_criteria: match } = config;
  return {
    periodMs: durationMsOr(message.oob_reporting_period, OOB_PERIOD_MS),
    authority,
    ...optional('port', port > 0 ? port : undefined),
    ...optional('socketCriteria', match && structOf(match)),
  };
}
