/** What matcher trees may look at, and the matchers that are extensions of their own. */
import { env } from 'node:process';
import type { Config as EnvironmentVariable } from '../../../shared/api/generated/envoy/extensions/matching/common_inputs/environment_variable/v3/input.ts';
import type {
  DynamicMetadataInput,
  FilterStateInput,
} from '../../../shared/api/generated/envoy/extensions/matching/common_inputs/network/v3/network_inputs.ts';
import type { Ip } from '../../../shared/api/generated/envoy/extensions/matching/input_matchers/ip/v3/ip.ts';
import type { Metadata } from '../../../shared/api/generated/envoy/extensions/matching/input_matchers/metadata/v3/metadata.ts';
import type { RuntimeFraction } from '../../../shared/api/generated/envoy/extensions/matching/input_matchers/runtime_fraction/v3/runtime_fraction.ts';
import type {
  HttpRequestHeaderMatchInput,
  HttpRequestQueryParamMatchInput,
} from '../../../shared/api/generated/envoy/type/matcher/v3/http_inputs.ts';
import type { CelMatcher } from '../../../shared/api/generated/xds/type/matcher/v3/cel.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
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

/** What is known of a connection as soon as it is there, whoever looks. */
const ADDRESS_INPUTS = [
  plainInput('destination_ip', `${NETWORK}.DestinationIPInput`),
  plainInput('destination_port', `${NETWORK}.DestinationPortInput`),
  plainInput('source_ip', `${NETWORK}.SourceIPInput`),
  plainInput('source_port', `${NETWORK}.SourcePortInput`),
  plainInput('direct_source_ip', `${NETWORK}.DirectSourceIPInput`),
  plainInput('source_type', `${NETWORK}.SourceTypeInput`),
  plainInput('server_name', `${NETWORK}.ServerNameInput`),
];

const FILTER_STATE_FIELDS = knownFields<FilterStateInput>(['key']);

export const MATCH_INPUTS = new ExtensionRegistry<MatchInput>(
  'envoy.matching.http.input',
  'input',
  [
    headerInput('request_header', 'HttpRequestHeaderMatchInput'),
    headerInput('request_trailer', 'HttpRequestTrailerMatchInput'),
    headerInput('response_header', 'HttpResponseHeaderMatchInput'),
    headerInput('response_trailer', 'HttpResponseTrailerMatchInput'),
    plainInput('status_code', 'envoy.type.matcher.v3.HttpResponseStatusCodeMatchInput'),
    plainInput('status_code_class', 'envoy.type.matcher.v3.HttpResponseStatusCodeClassMatchInput'),
    extension(
      'envoy.matching.inputs.cel_data_input',
      'xds.type.matcher.v3.HttpAttributesCelMatchInput',
      () => ({ kind: 'attributes' }),
    ),
    extension(
      'envoy.matching.inputs.query_params',
      'envoy.type.matcher.v3.HttpRequestQueryParamMatchInput',
      ({ query_param: name = '' }: HttpRequestQueryParamMatchInput) => ({
        kind: 'query_parameter',
        name: toByteString(name),
      }),
    ),
    extension(
      'envoy.matching.inputs.filter_state',
      `${NETWORK}.FilterStateInput`,
      (message: FilterStateInput, scope) => {
        refuseOtherFields(message, FILTER_STATE_FIELDS, scope);
        return { kind: 'filter_state', key: message.key ?? '' };
      },
    ),
    extension(
      'envoy.matching.inputs.dynamic_metadata',
      `${NETWORK}.DynamicMetadataInput`,
      ({ filter = '', path = [] }: DynamicMetadataInput) => ({
        kind: 'dynamic_metadata',
        namespace: filter,
        path: path.map(({ key = '' }) => key),
      }),
    ),
    extension(
      'envoy.matching.common_inputs.environment_variable',
      'envoy.extensions.matching.common_inputs.environment_variable.v3.Config',
      ({ name = '' }: EnvironmentVariable) => ({
        kind: 'constant',
        ...optional('value', env[name]),
      }),
    ),
    ...ADDRESS_INPUTS,
    plainInput('uri_san', `${SSL}.UriSanInput`),
    plainInput('dns_san', `${SSL}.DnsSanInput`),
    plainInput('subject', `${SSL}.SubjectInput`),
  ],
);

/** What is known of a connection before its filter chain is chosen. */
export const CONNECTION_INPUTS = new ExtensionRegistry<MatchInput>(
  'envoy.matching.network.input',
  'input',
  [
    ...ADDRESS_INPUTS,
    plainInput('transport_protocol', `${NETWORK}.TransportProtocolInput`),
    plainInput('application_protocols', `${NETWORK}.ApplicationProtocolInput`),
  ],
);

function headerInput(kind: HeaderInput, message: string): ExtensionFactory<MatchInput> {
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
function plainInput(kind: PlainInput, type: string): ExtensionFactory<MatchInput> {
  return extension(`envoy.matching.inputs.${kind}`, type, () => ({ kind }));
}

const IP_FIELDS = knownFields<Ip>(['cidr_ranges', 'stat_prefix']);
const METADATA_FIELDS = knownFields<Metadata>(['value', 'invert']);
const FRACTION_FIELDS = knownFields<RuntimeFraction>(['runtime_fraction']);

export const VALUE_MATCHERS = new ExtensionRegistry<ValueMatch>(
  'envoy.matching.input_matchers',
  'input matcher',
  [
    extension(
      'envoy.matching.matchers.ip',
      'envoy.extensions.matching.input_matchers.ip.v3.Ip',
      (message: Ip, scope) => {
        refuseOtherFields(message, IP_FIELDS, scope);
        const ranges = resolveRanges(message.cidr_ranges, scope.at('cidr_ranges'));
        return { kind: 'address', ranges };
      },
    ),
    extension(
      'envoy.matching.matchers.metadata_matcher',
      'envoy.extensions.matching.input_matchers.metadata.v3.Metadata',
      (message: Metadata, scope) => {
        refuseOtherFields(message, METADATA_FIELDS, scope);
        const matcher = resolveValueMatcher(message.value ?? {}, scope.at('value'));
        return matcher && { kind: 'value', matcher, invert: message.invert ?? false };
      },
    ),
    extension(
      'envoy.matching.matchers.cel_matcher',
      'xds.type.matcher.v3.CelMatcher',
      ({ expr_match: message = {} }: CelMatcher, scope) => {
        const expression = resolveCelExpression(message, scope.at('expr_match'));
        return expression && { kind: 'cel', expression };
      },
    ),
    extension(
      'envoy.matching.matchers.runtime_fraction',
      'envoy.extensions.matching.input_matchers.runtime_fraction.v3.RuntimeFraction',
      (message: RuntimeFraction, scope) => {
        refuseOtherFields(message, FRACTION_FIELDS, scope);
        const fraction = resolveRuntimeFraction(message.runtime_fraction ?? {});
        return fraction && { kind: 'runtime_fraction', fraction };
      },
    ),
  ],
);
