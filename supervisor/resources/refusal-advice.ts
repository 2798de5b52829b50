/**
 * What is lost with an extension that Sluice does not serve, and the nearest way out: for the hint
 * of a refusal.
 */

const ADVICE: readonly (readonly [type: RegExp, advice: string])[] = [
  [
    /quic|http3|alternate_protocols_cache|HTTP3/i,
    'Node.js has no QUIC: leave HTTP/3 out, clients that offer it speak HTTP/2 as well',
  ],
  [
    /dynamic_modules/,
    'it loads native code that was built for Envoy; docs/extending.md says how to write it in TypeScript',
  ],
  [/wasm/i, 'there is no runtime for WebAssembly filters; docs/extending.md says how to write one'],
  [
    /reverse_tunnel|reverse_connection/,
    'tunnels that hosts open towards the proxy are not served: let the proxy reach its hosts, or keep Envoy for these listeners',
  ],
  [
    /mongo_proxy|zookeeper_proxy/,
    'only its statistics and logs are lost: leave it out, the tcp_proxy behind it carries the bytes',
  ],
  [
    /dubbo|generic_proxy/,
    'a tcp_proxy carries the bytes to one cluster, without routes by service and method',
  ],
  [
    /original_src/,
    'hosts see the address of the proxy: send x-forwarded-for or the PROXY protocol instead',
  ],
  [
    /transport_sockets\.tcp_stats/,
    'only statistics of the kernel are lost: take the transport_socket that is inside it',
  ],
  [
    /http_11_proxy/,
    'connections go to hosts directly: take the transport_socket that is inside it, and tunneling_config where a CONNECT is needed',
  ],
  [
    /udp_proxy\.session/,
    'sessions go to the hosts of a cluster: as datagrams, in capsules or through tunnels',
  ],
  [
    /clusters\.redis/,
    'name the hosts in a cluster with RING_HASH or MAGLEV: slots of Redis Cluster are not asked for',
  ],
  [
    /network\.ext_proc/,
    'the bytes of connections are shown to nobody: HTTP has a filter ext_proc, which is served',
  ],
  [
    /tcp_bandwidth_limit/,
    'connections are not slowed down: the HTTP filter bandwidth_limit is served, and the kernel can do it (tc)',
  ],
  [/fluentd/, 'write access logs to a file or send them over OpenTelemetry, which fluentd reads'],
  [/XRayConfig/, 'send spans over OpenTelemetry: the collector of AWS takes them'],
  [/backtrace_action/, 'the log says which worker was stuck and for how long'],
  [/\.alts\.|googledefault/i, "it needs the services of Google's cloud"],
];

/** `type` is the full name of the message. Undefined: there is no way out to tell. */
export function adviceForRefusal(type: string): string | undefined {
  return ADVICE.find(([pattern]) => pattern.test(type))?.[1];
}
