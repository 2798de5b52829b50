/** Which extensions of the API are served here and which are refused. */
import { knownExtensions } from '../resources/known-extensions.ts';
import { adviceForRefusal } from '../resources/refusal-advice.ts';
import { ENVOY_EXTENSIONS } from './envoy-extensions.ts';

export interface Feature {
  /** The API's, such as `envoy.filters.http`. */
  readonly category: string;
  readonly name: string;
  /** Full names of its messages: settings, and settings per route. */
  readonly types: readonly string[];
  readonly isServed: boolean;
  /** The nearest way out of what is refused, where there is one. */
  readonly advice: string | undefined;
}

/** Served, but chosen by a field of its own instead of a registry: by name. */
const WITHOUT_REGISTRY: ReadonlySet<string> = new Set([
  'envoy.cluster.original_dst',
  'envoy.compression.brotli.decompressor',
  'envoy.compression.gzip.decompressor',
  'envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
  'envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions',
  'envoy.health_checkers.grpc',
  'envoy.health_checkers.http',
  'envoy.health_checkers.tcp',
  'envoy.queue_policy.fifo',
  // Only of HTTP/3: it changes nothing where there is none.
  'envoy.route.early_data_policy.default',
]);

/** Parts of Envoy's own machinery, which no configuration needs to choose. */
const MACHINERY =
  /^envoy\.(listener_manager_impl|udp_packet_writer|http\.header_validators|connection_handler|route_config_update)/;

/** By category, then by name; what only Sluice has, too. */
export function features(): readonly Feature[] {
  const served = knownExtensions();
  const servedTypes = new Set(served.map(({ type }) => type));
  const rows: Feature[] = [];
  const listed = new Set<string>();
  for (const line of ENVOY_EXTENSIONS.trimEnd().split('\n')) {
    const [category = '', name = '', ...types] = line.split(' ');
    if (MACHINERY.test(category)) continue;
    const isServed = WITHOUT_REGISTRY.has(name) || types.some((type) => servedTypes.has(type));
    const advice = isServed ? undefined : adviceForRefusal(types[0] ?? name);
    rows.push({ category, name, types, isServed, advice });
    for (const type of types) listed.add(type);
  }
  for (const { category, name, type } of served) {
    if (listed.has(type)) continue;
    rows.push({ category, name, types: [type], isServed: true, advice: undefined });
  }
  return rows.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function sortKey({ category, name }: Feature): string {
  return `${category} ${name}`;
}
