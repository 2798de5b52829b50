/** Statistics of the Redis proxy, and of the clusters that it sends commands to. */
import { defineTemplate } from '../template.ts';
import { counter, gauge, histogram } from './spec.ts';

/** Prefix: `redis.<stat_prefix>.` */
export const REDIS_PROXY = defineTemplate('redis_proxy', {
  downstream_cx_active: gauge('Open connections'),
  downstream_cx_drain_close: counter('Connections closed by draining'),
  downstream_cx_protocol_error: counter(
    'Connections closed because their client broke the protocol',
  ),
  downstream_cx_rx_bytes_buffered: gauge('Received bytes that wait in connections'),
  downstream_cx_rx_bytes_total: counter('Bytes received'),
  downstream_cx_total: counter('Connections'),
  downstream_cx_tx_bytes_buffered: gauge('Always 0: the runtime and the kernel keep what waits'),
  downstream_cx_tx_bytes_total: counter('Bytes sent'),
  downstream_rq_active: gauge('Open commands'),
  downstream_rq_noproto: counter('Commands refused because their client has not agreed to RESP3'),
  downstream_rq_total: counter('Commands'),
  'splitter.invalid_request': counter('Commands without a name or with too few arguments'),
  'splitter.unsupported_command': counter('Commands of unknown names'),
});

const COMMAND = {
  delay_fault: counter('Commands whose answer was delayed on purpose'),
  error: counter('Commands that failed'),
  error_fault: counter('Commands that were made to fail on purpose'),
  success: counter('Commands that were answered'),
  total: counter('Commands'),
};

/** Prefix: `redis.<stat_prefix>.command.<name>.` */
export const REDIS_COMMAND = defineTemplate('redis_command', {
  ...COMMAND,
  latency: histogram('Time until a command was answered', 'ms'),
});

/** The same for a proxy that counts in microseconds. */
export const REDIS_COMMAND_MICROS = defineTemplate('redis_command_micros', {
  ...COMMAND,
  latency: histogram('Time until a command was answered', 'us'),
});

/** Prefix: `cluster.<name>.redis_cluster.` */
export const REDIS_CLUSTER = defineTemplate('redis_cluster', {
  connection_rate_limited: counter('Commands that failed because too many connections were opened'),
  max_upstream_unknown_connections_reached: counter(
    'Redirections not followed because there are too many connections to unknown hosts',
  ),
  upstream_cx_drained: counter('Connections to removed hosts that closed after their commands'),
  upstream_resp3_hello_failure: counter('Connections whose host did not agree to RESP3'),
});

/** Prefix: `cluster.<name>.redis_cluster.upstream_commands.`; from the first command on. */
export const REDIS_UPSTREAM_TIME = defineTemplate('redis_upstream_time', {
  upstream_rq_time: histogram('Time until a host answered', 'us'),
});

/**
 * Prefix: `cluster.<name>.redis_cluster.upstream_commands.<command>.` From the first such command
 * on, its first answer, and its first answer that is an error.
 */
export const REDIS_UPSTREAM_COMMAND = defineTemplate('redis_upstream_command', {
  total: counter('Commands sent'),
  latency: histogram('Time until the host answered', 'us'),
});
export const REDIS_UPSTREAM_SUCCESS = defineTemplate('redis_upstream_success', {
  success: counter('Commands that the host answered'),
});
export const REDIS_UPSTREAM_FAILURE = defineTemplate('redis_upstream_failure', {
  failure: counter('Commands that the host answered with an error'),
});
