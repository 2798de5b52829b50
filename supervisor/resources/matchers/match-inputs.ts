/** What matcher trees may look at, and the matchers that are extensions of their own. */
import { env } from 'node:process';
import type { Config as EnvironmentVariable } from '../../../shared/api/generated/envoy/extensions/matching/common_inputs/environment_variable/v3/input.ts';
import type {
  DynamicMetadataInput,
  FilterStateInput,
} from '../../../shared/api/generated/envoy/extensions/matching/common_inputs/network/v3/network_inputs.ts';
import type { ConsistentHashing } from '../../../shared/api/generated/envoy/extensions/matching/input_matchers/consistent_hashing/v3/consistent_hashing.ts';
import type { Ip } from '../../../shared/api/generated/envoy/extensions/matching/input_matchers/ip/v3/ip.ts';
import type { Metadata } from '../../../shared/api/generated/envoy/extensions/matching/input_matchers/metadata/v3/metadata.ts';
import type { RuntimeFraction } from '../../../shared/api/generated/envoy/extensions/matching/input_matchers/runtime_fraction/v3/runtime_fraction.ts';
import type {
  HttpRequestHeaderMatchInput,
  HttpRequestQueryParamMatchInput,
} from '../../../shared/api/generated/envoy/type/matcher/v3/http_inputs.ts';
import type { CelMatcher } from '../../../shared/api/generated/xds/type/matcher/v3/cel.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { OfKind } from '../../../shared/resources/by-kind.ts';
import type {
  HeaderInput,
  MatchInput,
  PlainInput,
  ValueMatch,
} from '../../../shared/resources/routes/matcher-tree.ts';
import { resolveCelExpression } from '../cel.ts';
import { extension, ExtensionRegistry, type ExtensionFactory } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { optional } from '../values.ts';
import { resolveRanges } from './filter-state-matcher.ts';
import { resolveRuntimeFraction } from './fraction.ts';
import { asciiLower } from './string-matcher.ts';
import { resolveValueMatcher } from './value-matcher.ts';

const NETWORK = 'envoy.extensions.matching.common_inputs.network.v3';
const SSL = 'envoy.extensions.matching.common_inputs.ssl.v3';

const FILTER_STATE_FIELDS = knownFields<FilterStateInput>(['key']);

const INPUTS = {
  request_header: headerInput('request_header', 'HttpRequestHeaderMatchInput'),
  request_trailer: headerInput('request_trailer', 'HttpRequestTrailerMatchInput'),
  response_header: headerInput('response_header', 'HttpResponseHeaderMatchInput'),
  response_trailer: headerInput('response_trailer', 'HttpResponseTrailerMatchInput'),
  status_code: plainInput('status_code', 'envoy.type.matcher.v3.HttpResponseStatusCodeMatchInput'),
  status_code_class: plainInput(
    'status_code_class',
    'envoy.type.matcher.v3.HttpResponseStatusCodeClassMatchInput',
  ),
  local_reply: plainInput('local_reply', 'envoy.type.matcher.v3.HttpResponseLocalReplyMatchInput'),
  attributes: extension(
    'envoy.matching.inputs.cel_data_input',
    'xds.type.matcher.v3.HttpAttributesCelMatchInput',
    () => ({ kind: 'attributes' }),
  ),
  query_parameter: extension(
    'envoy.matching.inputs.query_params',
    'envoy.type.matcher.v3.HttpRequestQueryParamMatchInput',
    ({ query_param: name = '' }: HttpRequestQueryParamMatchInput) => ({
      kind: 'query_parameter',
      name: toByteString(name),
    }),
  ),
  filter_state: extension(
    'envoy.matching.inputs.filter_state',
    `${NETWORK}.FilterStateInput`,
    (message: FilterStateInput, scope) => {
      refuseOtherFields(message, FILTER_STATE_FIELDS, scope);
      return { kind: 'filter_state', key: message.key ?? '' };
    },
  ),
  dynamic_metadata: extension(
    'envoy.matching.inputs.dynamic_metadata',
    `${NETWORK}.DynamicMetadataInput`,
    ({ filter = '', path = [] }: DynamicMetadataInput) => ({
      kind: 'dynamic_metadata',
      namespace: filter,
      path: path.map(({ key = '' }) => key),
    }),
  ),
  constant: extension(
    'envoy.matching.common_inputs.environment_variable',
    'envoy.extensions.matching.common_inputs.environment_variable.v3.Config',
    ({ name = '' }: EnvironmentVariable) => ({
      kind: 'constant',
      ...optional('value', env[name]),
    }),
  ),
  destination_ip: plainInput('destination_ip', `${NETWORK}.DestinationIPInput`),
  destination_port: plainInput('destination_port', `${NETWORK}.DestinationPortInput`),
  source_ip: plainInput('source_ip', `${NETWORK}.SourceIPInput`),
  source_port: plainInput('source_port', `${NETWORK}.SourcePortInput`),
  direct_source_ip: plainInput('direct_source_ip', `${NETWORK}.DirectSourceIPInput`),
  source_type: plainInput('source_type', `${NETWORK}.SourceTypeInput`),
  network_namespace: plainInput('network_namespace', `${NETWORK}.NetworkNamespaceInput`),
  server_name: plainInput('server_name', `${NETWORK}.ServerNameInput`),
  uri_san: plainInput('uri_san', `${SSL}.UriSanInput`),
  dns_san: plainInput('dns_san', `${SSL}.DnsSanInput`),
  subject: plainInput('subject', `${SSL}.SubjectInput`),
  transport_protocol: plainInput('transport_protocol', `${NETWORK}.TransportProtocolInput`),
  application_protocols: plainInput('application_protocols', `${NETWORK}.ApplicationProtocolInput`),
} satisfies {
  readonly [Kind in MatchInput['kind']]: ExtensionFactory<OfKind<MatchInput, Kind>>;
};

const {
  transport_protocol: transportProtocol,
  application_protocols: applicationProtocols,
  ...ofRequests
} = INPUTS;

/** What may be looked at once there is a request. */
export const MATCH_INPUTS = new ExtensionRegistry<
  MatchInput,
  ExtensionFactory<MatchInput>,
  keyof typeof ofRequests
>('envoy.matching.http.input', 'input', ofRequests);

const ofConnections = {
  destination_ip: INPUTS.destination_ip,
  destination_port: INPUTS.destination_port,
  source_ip: INPUTS.source_ip,
  source_port: INPUTS.source_port,
  direct_source_ip: INPUTS.direct_source_ip,
  source_type: INPUTS.source_type,
  server_name: INPUTS.server_name,
  transport_protocol: transportProtocol,
  application_protocols: applicationProtocols,
};

/** What is known of a connection before its filter chain is chosen. */
export const CONNECTION_INPUTS = new ExtensionRegistry<
  MatchInput,
  ExtensionFactory<MatchInput>,
  keyof typeof ofConnections
>('envoy.matching.network.input', 'input', ofConnections);

function headerInput(
  kind: HeaderInput,
  message: string,
): ExtensionFactory<OfKind<MatchInput, HeaderInput>> {
  return extension(
    `envoy.matching.inputs.${kind}s`,
    `envoy.type.matcher.v3.${message}`,
    ({ header_name: name = '' }: HttpRequestHeaderMatchInput) => ({
      kind,
      name: asciiLower(name) === 'host' ? ':authority' : asciiLower(name),
    }),
  );
}

/** An input that has nothing to configure. */
function plainInput(
  kind: PlainInput,
  type: string,
): ExtensionFactory<OfKind<MatchInput, PlainInput>> {
  return extension(`envoy.matching.inputs.${kind}`, type, () => ({ kind }));
}

const IP_FIELDS = knownFields<Ip>(['cidr_ranges', 'stat_prefix']);
const METADATA_FIELDS = knownFields<Metadata>(['value', 'invert']);
const FRACTION_FIELDS = knownFields<RuntimeFraction>(['runtime_fraction']);

export const VALUE_MATCHERS = new ExtensionRegistry<
  Exclude<ValueMatch, { readonly kind: 'string' }>
>(
  'envoy.matching.input_matchers',
  'input matcher',
  // Texts are compared by a matcher of the API's own.
  {
    address: extension(
      'envoy.matching.matchers.ip',
      'envoy.extensions.matching.input_matchers.ip.v3.Ip',
      (message: Ip, scope) => {
        refuseOtherFields(message, IP_FIELDS, scope);
        const ranges = resolveRanges(message.cidr_ranges, scope.at('cidr_ranges'));
        return { kind: 'address', ranges };
      },
    ),
    value: extension(
      'envoy.matching.matchers.metadata_matcher',
      'envoy.extensions.matching.input_matchers.metadata.v3.Metadata',
      (message: Metadata, scope) => {
        refuseOtherFields(message, METADATA_FIELDS, scope);
        const matcher = resolveValueMatcher(message.value ?? {}, scope.at('value'));
        return matcher && { kind: 'value', matcher, invert: message.invert ?? false };
      },
    ),
    cel: extension(
      'envoy.matching.matchers.cel_matcher',
      'xds.type.matcher.v3.CelMatcher',
      ({ expr_match: message = {} }: CelMatcher, scope) => {
        const expression = resolveCelExpression(message, scope.at('expr_match'));
        return expression && { kind: 'cel', expression };
      },
    ),
    runtime_fraction: extension(
      'envoy.matching.matchers.runtime_fraction',
      'envoy.extensions.matching.input_matchers.runtime_fraction.v3.RuntimeFraction',
      (message: RuntimeFraction, scope) => {
        refuseOtherFields(message, FRACTION_FIELDS, scope);
        const fraction = resolveRuntimeFraction(message.runtime_fraction ?? {});
        return fraction && { kind: 'runtime_fraction', fraction };
      },
    ),
    consistent_hashing: extension(
      'envoy.matching.matchers.consistent_hashing',
      'envoy.extensions.matching.input_matchers.consistent_hashing.v3.ConsistentHashing',
      ({ threshold = 0, modulo = 0, seed: text = '0' }: ConsistentHashing, scope) => {
        if (threshold > modulo) {
          const numbers = `${threshold} > ${modulo}`;
          scope.error('conflict', `threshold cannot be greater than modulo: ${numbers}`);
        }
        const seed = BigInt(text);
        const halves = { high: Number(seed >> 32n), low: Number(seed & 0xffffffffn) };
        return { kind: 'consistent_hashing', threshold, modulo, seed: halves };
      },
    ),
  },
);
