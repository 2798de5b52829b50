/**
 * The commands of substitution formats (`%REQ(X)%`, `%RESPONSE_CODE%`) with what each takes between
 * its brackets and whether `:Z` may follow. Read by the parser only; what a command prints is the
 * worker's affair. Source: Envoy's command operators, observed one by one.
 */

/** How the text between a command's brackets is read. */
type ArgumentForm =
  /** Neither a text nor a length may stand there. */
  | 'command_only'
  /** `X?Y`: one header name, or two. */
  | 'header'
  /** A strftime format. */
  | 'time'
  /** `namespace:key:key`. */
  | 'keys'
  /** One text; some commands take only certain words or parts separated by colons. */
  | 'word';

export interface CommandSyntax {
  readonly form: ArgumentForm;
  readonly required: boolean;
  /** Whether `:Z` may follow. */
  readonly length: boolean;
}

const only: CommandSyntax = { form: 'command_only', required: false, length: false };
const header: CommandSyntax = { form: 'header', required: true, length: true };
const time: CommandSyntax = { form: 'time', required: false, length: false };
const keys: CommandSyntax = { form: 'keys', required: true, length: false };
const cutKeys: CommandSyntax = { form: 'keys', required: true, length: true };
const cutOptionalKeys: CommandSyntax = { form: 'keys', required: false, length: true };
const word: CommandSyntax = { form: 'word', required: true, length: false };
const optionalWord: CommandSyntax = { form: 'word', required: false, length: false };
const cutWord: CommandSyntax = { form: 'word', required: true, length: true };
const cutOptionalWord: CommandSyntax = { form: 'word', required: false, length: true };

/** Every command by name. */
export const COMMANDS = {
  ACCESS_LOG_TYPE: only,
  BYTES_RECEIVED: only,
  BYTES_RETRANSMITTED: only,
  BYTES_SENT: only,
  CEL: cutWord,
  CLUSTER_METADATA: keys,
  COALESCE: cutWord,
  COMMON_DURATION: word,
  CONNECTION_ID: only,
  CONNECTION_TERMINATION_DETAILS: only,
  CUSTOM_FLAGS: only,
  DOWNSTREAM_CX_RTT: only,
  DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED: only,
  DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_SENT: only,
  DOWNSTREAM_DETECTED_CLOSE_TYPE: only,
  DOWNSTREAM_DIRECT_LOCAL_ADDRESS: only,
  DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID: only,
  DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT: optionalWord,
  DOWNSTREAM_DIRECT_LOCAL_PORT: only,
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS: only,
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT: optionalWord,
  DOWNSTREAM_DIRECT_REMOTE_PORT: only,
  DOWNSTREAM_HANDSHAKE_DURATION: only,
  DOWNSTREAM_HEADER_BYTES_RECEIVED: only,
  DOWNSTREAM_HEADER_BYTES_SENT: only,
  DOWNSTREAM_LOCAL_ADDRESS: only,
  DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID: only,
  DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT: optionalWord,
  DOWNSTREAM_LOCAL_CLOSE_REASON: only,
  DOWNSTREAM_LOCAL_DNS_SAN: only,
  DOWNSTREAM_LOCAL_EMAIL_SAN: only,
  DOWNSTREAM_LOCAL_IP_SAN: only,
  DOWNSTREAM_LOCAL_OTHERNAME_SAN: only,
  DOWNSTREAM_LOCAL_PORT: only,
  DOWNSTREAM_LOCAL_SUBJECT: only,
  DOWNSTREAM_LOCAL_URI_SAN: only,
  DOWNSTREAM_PEER_CERT: only,
  DOWNSTREAM_PEER_CERT_V_END: time,
  DOWNSTREAM_PEER_CERT_V_START: time,
  DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_1: only,
  DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_256: only,
  DOWNSTREAM_PEER_CHAIN_SERIALS: only,
  DOWNSTREAM_PEER_DNS_SAN: only,
  DOWNSTREAM_PEER_EMAIL_SAN: only,
  DOWNSTREAM_PEER_FINGERPRINT_1: only,
  DOWNSTREAM_PEER_FINGERPRINT_256: only,
  DOWNSTREAM_PEER_IP_SAN: only,
  DOWNSTREAM_PEER_ISSUER: only,
  DOWNSTREAM_PEER_ISSUER_FINGERPRINT_256: only,
  DOWNSTREAM_PEER_ISSUER_SERIAL: only,
  DOWNSTREAM_PEER_OTHERNAME_SAN: only,
  DOWNSTREAM_PEER_SERIAL: only,
  DOWNSTREAM_PEER_SUBJECT: only,
  DOWNSTREAM_PEER_URI_SAN: only,
  DOWNSTREAM_REMOTE_ADDRESS: only,
  DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: optionalWord,
  DOWNSTREAM_REMOTE_PORT: only,
  DOWNSTREAM_TLS_CIPHER: only,
  DOWNSTREAM_TLS_GROUP: only,
  DOWNSTREAM_TLS_SESSION_ID: only,
  DOWNSTREAM_TLS_VERSION: only,
  DOWNSTREAM_TRANSPORT_FAILURE_REASON: only,
  DOWNSTREAM_WIRE_BYTES_RECEIVED: only,
  DOWNSTREAM_WIRE_BYTES_SENT: only,
  DURATION: only,
  DYNAMIC_METADATA: cutKeys,
  EMIT_TIME: time,
  EMIT_TIME_LOCAL: time,
  ENVIRONMENT: cutWord,
  FILTER_CHAIN_NAME: only,
  FILTER_STATE: cutOptionalKeys,
  GRPC_STATUS: optionalWord,
  GRPC_STATUS_NUMBER: only,
  HOSTNAME: only,
  LISTENER_NAME: only,
  LOCAL_REPLY_BODY: only,
  METADATA: cutOptionalKeys,
  PACKETS_RETRANSMITTED: only,
  PATH: cutOptionalWord,
  PROTOCOL: only,
  QUERY_PARAM: cutWord,
  QUERY_PARAMS: cutOptionalWord,
  REQ: header,
  REQ_WITHOUT_QUERY: header,
  REQUESTED_SERVER_NAME: optionalWord,
  REQUEST_BODY: cutOptionalKeys,
  REQUEST_DURATION: only,
  REQUEST_HEADER: header,
  REQUEST_HEADERS_BYTES: only,
  REQUEST_TX_DURATION: only,
  RESP: header,
  RESPONSE_BODY: cutOptionalKeys,
  RESPONSE_CODE: only,
  RESPONSE_CODE_DETAILS: optionalWord,
  RESPONSE_DURATION: only,
  RESPONSE_FLAGS: only,
  RESPONSE_FLAGS_LONG: only,
  RESPONSE_HEADER: header,
  RESPONSE_HEADERS_BYTES: only,
  RESPONSE_TRAILER: header,
  RESPONSE_TRAILERS_BYTES: only,
  RESPONSE_TX_DURATION: only,
  ROUNDTRIP_DURATION: only,
  ROUTE_NAME: only,
  ROUTE_RESOLUTION_COUNT: only,
  ROUTE_RESOLUTION_TIME_US: only,
  SPAN_ID: only,
  START_TIME: time,
  START_TIME_LOCAL: time,
  STREAM_ID: only,
  STREAM_INFO_REQ: header,
  TLS_JA3_FINGERPRINT: only,
  TLS_JA4_FINGERPRINT: only,
  TRACE_ID: only,
  TRAILER: header,
  TYPED_CEL: cutWord,
  UNIQUE_ID: only,
  UPSTREAM_CLUSTER: only,
  UPSTREAM_CLUSTER_RAW: only,
  UPSTREAM_CONNECTION_ID: only,
  UPSTREAM_CONNECTION_IDS_ATTEMPTED: only,
  UPSTREAM_CONNECTION_POOL_READY_DURATION: only,
  UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED: only,
  UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT: only,
  UPSTREAM_DETECTED_CLOSE_TYPE: only,
  UPSTREAM_FILTER_STATE: cutOptionalKeys,
  UPSTREAM_HEADER_BYTES_RECEIVED: only,
  UPSTREAM_HEADER_BYTES_SENT: only,
  UPSTREAM_HOST: only,
  UPSTREAM_HOSTS_ATTEMPTED: only,
  UPSTREAM_HOSTS_ATTEMPTED_WITHOUT_PORT: only,
  UPSTREAM_HOST_NAME: only,
  UPSTREAM_HOST_NAMES_ATTEMPTED: only,
  UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT: only,
  UPSTREAM_HOST_NAME_WITHOUT_PORT: only,
  UPSTREAM_LOCAL_ADDRESS: only,
  UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT: optionalWord,
  UPSTREAM_LOCAL_CLOSE_REASON: only,
  UPSTREAM_LOCAL_DNS_SAN: only,
  UPSTREAM_LOCAL_IP_SAN: only,
  UPSTREAM_LOCAL_PORT: only,
  UPSTREAM_LOCAL_URI_SAN: only,
  UPSTREAM_METADATA: keys,
  UPSTREAM_PEER_CERT: only,
  UPSTREAM_PEER_CERT_V_END: time,
  UPSTREAM_PEER_CERT_V_START: time,
  UPSTREAM_PEER_DNS_SAN: only,
  UPSTREAM_PEER_IP_SAN: only,
  UPSTREAM_PEER_ISSUER: only,
  UPSTREAM_PEER_SUBJECT: only,
  UPSTREAM_PEER_URI_SAN: only,
  UPSTREAM_PROTOCOL: only,
  UPSTREAM_REMOTE_ADDRESS: only,
  UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID: only,
  UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: optionalWord,
  UPSTREAM_REMOTE_PORT: only,
  UPSTREAM_REQUEST_ATTEMPT_COUNT: only,
  UPSTREAM_SERVER_NAME: only,
  UPSTREAM_TLS_CIPHER: only,
  UPSTREAM_TLS_GROUP: only,
  UPSTREAM_TLS_SESSION_ID: only,
  UPSTREAM_TLS_VERSION: only,
  UPSTREAM_TRANSPORT_FAILURE_REASON: only,
  UPSTREAM_WIRE_BYTES_RECEIVED: only,
  UPSTREAM_WIRE_BYTES_SENT: only,
  VIRTUAL_CLUSTER_NAME: only,
  XFCC_VALUE: cutOptionalWord,
} as const satisfies Record<string, CommandSyntax>;

export type FormatCommandName = keyof typeof COMMANDS;
