/**
 * Who a request comes from and how it is named: addresses, trusted hops, request ids, certificates.
 */
import type { CidrRange } from '../../../shared/api/generated/envoy/config/core/v3/address.ts';
import type {
  ForwardProtoConfig,
  HttpConnectionManager as ManagerMessage,
  HttpConnectionManager_InternalAddressConfig as InternalMessage,
  HttpConnectionManager_SetCurrentClientCertDetails as CertDetailsMessage,
  RequestIDExtension,
} from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { UuidRequestIdConfig } from '../../../shared/api/generated/envoy/extensions/request_id/uuid/v3/uuid.ts';
import type {
  ClientCertForwarding,
  HttpConnectionManager,
} from '../../../shared/resources/listener.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveCidr } from './cidr.ts';
import { resolveEarlyMutations } from './early-mutations.ts';
import { resolveIpDetection } from './ip-detection.ts';

type Identity = Pick<
  HttpConnectionManager,
  | 'addUserAgent'
  | 'forwardsClientCert'
  | 'clientCert'
  | 'useRemoteAddress'
  | 'skipXffAppend'
  | 'xffNumTrustedHops'
  | 'ipDetection'
  | 'earlyMutations'
  | 'appendXForwardedPort'
  | 'forwardedProtoPorts'
  | 'internalCidrs'
  | 'hasInternalSockets'
  | 'generateRequestId'
  | 'preserveExternalRequestId'
  | 'alwaysSetRequestIdInResponse'
>;

const CERT_DETAILS = ['subject', 'cert', 'chain', 'dns', 'uri'] as const;
const CERT_FIELDS = knownFields<CertDetailsMessage>(CERT_DETAILS);

const PROTO_FIELDS = knownFields<ForwardProtoConfig>([
  'https_destination_ports',
  'http_destination_ports',
]);

const INTERNAL_FIELDS = knownFields<InternalMessage>(['cidr_ranges', 'unix_sockets']);

/** Which clients are internal where nothing says it: the private networks that Envoy counts, this machine. */
const PRIVATE_RANGES: HttpConnectionManager['internalCidrs'] = [
  { address: '10.0.0.0', prefixLength: 8 },
  { address: '172.16.0.0', prefixLength: 12 },
  { address: '192.168.0.0', prefixLength: 16 },
  { address: '127.0.0.1', prefixLength: 32 },
  { address: 'fd00::', prefixLength: 8 },
  { address: '::1', prefixLength: 128 },
];

/** Both are read where requests are traced. */
const REQUEST_ID_FIELDS = knownFields<UuidRequestIdConfig>([
  'pack_trace_reason',
  'use_request_id_for_trace_sampling',
]);

export const REQUEST_ID = new ExtensionRegistry<UuidRequestIdConfig>(
  'envoy.request_id',
  'request id extension',
  [
    extension(
      'envoy.request_id.uuid',
      'envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig',
      (message: UuidRequestIdConfig, scope) => {
        refuseOtherFields(message, REQUEST_ID_FIELDS, scope);
        return message;
      },
    ),
  ],
);

export function resolveRequestIdentity(message: ManagerMessage, scope: Scope): Identity {
  const { forward_client_cert_details: forward = 'SANITIZE' } = message;
  return {
    forwardsClientCert: forward === 'ALWAYS_FORWARD_ONLY',
    ...optional('clientCert', resolveClientCert(message, scope)),
    addUserAgent: message.add_user_agent ?? false,
    useRemoteAddress: message.use_remote_address ?? false,
    skipXffAppend: message.skip_xff_append ?? false,
    xffNumTrustedHops: message.xff_num_trusted_hops ?? 0,
    ...optional('ipDetection', resolveIpDetection(message, scope)),
    ...optional(
      'earlyMutations',
      resolveEarlyMutations(
        message.early_header_mutation_extensions,
        scope.at('early_header_mutation_extensions'),
      ),
    ),
    ...optional('appendXForwardedPort', message.append_x_forwarded_port),
    ...optional(
      'forwardedProtoPorts',
      resolveProtoPorts(message.forward_proto_config, scope.at('forward_proto_config')),
    ),
    ...optional(
      'internalCidrs',
      resolveInternal(message.internal_address_config, scope.at('internal_address_config')),
    ),
    ...optional('hasInternalSockets', message.internal_address_config?.unix_sockets),
    generateRequestId: message.generate_request_id ?? true,
    preserveExternalRequestId: message.preserve_external_request_id ?? false,
    alwaysSetRequestIdInResponse: message.always_set_request_id_in_response ?? false,
  };
}

function resolveClientCert(
  message: ManagerMessage,
  scope: Scope,
): ClientCertForwarding | undefined {
  const { forward_client_cert_details: mode, set_current_client_cert_details: set } = message;
  if (mode !== 'FORWARD_ONLY' && mode !== 'APPEND_FORWARD' && mode !== 'SANITIZE_SET') {
    return undefined;
  }
  const place = scope.at('set_current_client_cert_details');
  refuseOtherFields(set ?? {}, CERT_FIELDS, place);
  return { mode, details: CERT_DETAILS.filter((name) => set?.[name] === true) };
}

function resolveProtoPorts(
  message: ForwardProtoConfig | undefined,
  scope: Scope,
): HttpConnectionManager['forwardedProtoPorts'] {
  if (message === undefined) return undefined;
  refuseOtherFields(message, PROTO_FIELDS, scope);
  const { https_destination_ports: https = [], http_destination_ports: http = [] } = message;
  return { https, http };
}

/** How requests are numbered; as far as tracing reads it. */
export function resolveRequestId(
  message: RequestIDExtension | undefined,
  scope: Scope,
): UuidRequestIdConfig {
  if (message?.typed_config === undefined) return {};
  const place = scope.at('request_id_extension');
  return REQUEST_ID.resolve({ typed_config: message.typed_config }, place) ?? {};
}

function resolveInternal(
  message: InternalMessage | undefined,
  scope: Scope,
): HttpConnectionManager['internalCidrs'] {
  if (message === undefined) return undefined;
  refuseOtherFields(message, INTERNAL_FIELDS, scope);
  const { cidr_ranges: own = [] } = message;
  if (own.length === 0) return PRIVATE_RANGES;
  const ranges = own.map((range: CidrRange, index) =>
    resolveCidr(range, scope.at('cidr_ranges', index)),
  );
  return ranges.filter((range) => range !== undefined);
}
