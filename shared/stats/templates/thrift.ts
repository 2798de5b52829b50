/** Statistics of the Thrift proxy; those of its clusters are named when they first occur. */
import { defineTemplate } from '../template.ts';
import { counter, gauge, histogram } from './spec.ts';

/** Prefix: `thrift.<stat_prefix>.` */
export const THRIFT_PROXY = defineTemplate('thrift_proxy', {
  cx_destroy_local_with_active_rq: counter('Connections closed here with open requests'),
  cx_destroy_remote_with_active_rq: counter('Connections that clients closed with open requests'),
  downstream_cx_max_requests: counter('Connections that had as many requests as they may have'),
  downstream_response_drain_close: counter('Connections closed behind an answer'),
  no_healthy_upstream: counter('Requests whose cluster has no host'),
  request: counter('Requests'),
  request_active: gauge('Open requests'),
  request_call: counter('Requests that want an answer'),
  request_decoding_error: counter('Requests that break the protocol'),
  request_internal_error: counter('Never counted: such requests are counted by what failed'),
  request_invalid_type: counter('Messages that are no requests'),
  request_oneway: counter('Requests that want no answer'),
  request_passthrough: counter('Never counted: messages are always read'),
  request_time_ms: histogram('From a request to its answer', 'ms'),
  response: counter('Answers'),
  response_decoding_error: counter('Answers that break the protocol'),
  response_error: counter('Answers that are errors of the service'),
  response_exception: counter('Answers that are exceptions'),
  response_invalid_type: counter('Messages of hosts that are no answers'),
  response_passthrough: counter('Never counted: messages are always read'),
  response_reply: counter('Answers that are no exceptions'),
  response_success: counter('Answers that are no errors'),
  route_missing: counter('Requests without a route'),
  shadow_request_submit_failure: counter('Never counted: requests are not mirrored'),
  unknown_cluster: counter('Requests whose cluster is not there'),
  upstream_rq_maintenance_mode: counter('Never counted: there is no maintenance mode'),
});
