/** What to write in place of a message type that the API does not declare. */
import { nearestName } from '../../shared/text/nearest-name.ts';

/**
 * Extensions of Envoy's contrib builds: their messages are not in the API of a plain Envoy either.
 * The words are those that follow `envoy.extensions.` or the older `envoy.`.
 */
const CONTRIB =
  /^envoy\.(extensions\.)?(filters\.(http\.(golang|dynamo|squash|sxg|checksum|language|istio_stats|peer_metadata|alpn)|network\.(golang|kafka_broker|kafka_mesh|mysql_proxy|postgres_proxy|postgres_inspector|rocketmq_proxy|sip_proxy|client_ssl_auth|generic_proxy\.codecs|metadata_exchange)|listener\.postgres_inspector)|private_key_providers\.(cryptomb|qat|kae)|matching\.input_matchers\.hyperscan|regex_engines\.hyperscan|network\.connection_balance\.dlb|compression\.(qatzip|qatzstd)|bootstrap\.vcl|vcl|tap_sinks\.udp_sink|load_balancing_policies\.peak_ewma|config\.(squash|rocketmq))\b/;

/** Undefined: nothing that could have been meant is known. */
export function adviceForType(name: string, known: () => readonly string[]): string | undefined {
  if (/\.v2(alpha\d*)?\./.test(name) || name.startsWith('envoy.api.v2.')) {
    return 'the v2 API is no longer served; write the v3 type';
  }
  if (CONTRIB.test(name)) {
    return "it belongs to Envoy's contrib builds, which a plain Envoy refuses too; leave it out";
  }
  const near = nearestName(name, known());
  return near === undefined || !isSameThing(name, near)
    ? undefined
    : `did you mean type.googleapis.com/${near}?`;
}

/**
 * Whether one is a misspelling of the other, step by step: a long common prefix makes extensions
 * near that have nothing in common.
 */
function isSameThing(name: string, near: string): boolean {
  const steps = name.split('.');
  const others = near.split('.');
  if (steps.length !== others.length) return true;
  return steps.every((step, index) => {
    const other = others[index] ?? '';
    const isVersion = /^v\d/.test(step) && /^v\d/.test(other);
    return step === other || isVersion || nearestName(step, [other]) !== undefined;
  });
}
