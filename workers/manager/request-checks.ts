/** What the connection manager refuses before any filter sees it. */
import { HTTP_CONNECTION_MANAGER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { MessageFault } from '../stream/codec.ts';
import type { LocalReply } from '../stream/filter.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { ConnectionManager, ManagerParts } from './manager.ts';
import type { HeaderPolicy, RequestRefusal } from './types.ts';

const NON_RELATIVE_PATH = HTTP_CONNECTION_MANAGER.index.downstream_rq_non_relative_path;

const OVERLOAD_CLOSE = HTTP_CONNECTION_MANAGER.index.downstream_rq_overload_close;
const OVERLOADED = { status: 503, body: 'envoy overloaded', details: 'overload' };
const TELLING = {
  ...OVERLOADED,
  modifyHeaders: (answer: HeaderMap): void => answer.set('x-envoy-local-overloaded', 'true'),
};

const FAILED_NORMALIZATION = HTTP_CONNECTION_MANAGER.index.downstream_rq_failed_path_normalization;
const DETECTION_FAILED = 'rejecting_because_detection_failed';
const REJECTED_BY_DETECTION = HTTP_CONNECTION_MANAGER.index.downstream_rq_rejected_via_ip_detection;
const REDIRECTED = HTTP_CONNECTION_MANAGER.index.downstream_rq_redirected_with_normalized_path;

export interface CheckedRefusal {
  /** Answered as the protocol has it, or by the reply. */
  readonly refusal: MessageFault | LocalReply;
  /** The connection ends with the answer, where one answer can end it. */
  readonly closes: boolean;
}

/** What is asked of a connection manager here. */
export interface CheckingManager {
  readonly config: ConnectionManager['config'];
  readonly parts: {
    readonly overload: Pick<ManagerParts['overload'], 'sheds' | 'refusesRequest'>;
    readonly stats: { count(statistic: number): void };
    readonly policy: HeaderPolicy;
  };
}

/** Applies the header policy; undefined when the request may go on. */
export function requestRefusal(
  headers: HeaderMap,
  info: StreamInfo,
  manager: CheckingManager,
): CheckedRefusal | undefined {
  const { overload, stats } = manager.parts;
  if (overload.sheds('http_connection_manager_decode_headers') || overload.refusesRequest()) {
    stats.count(OVERLOAD_CLOSE);
    const refusal = manager.config.tellsOverload === true ? TELLING : OVERLOADED;
    return { refusal, closes: false };
  }
  const closesOnInvalid = !manager.config.streamErrorOnInvalidHttpMessage;
  if (headers.authority === '') {
    const refusal = { status: 400, body: '', details: 'missing_host_header' };
    return { refusal, closes: closesOnInvalid };
  }
  if (headers.method === 'QUERY' && headers.get('content-type') === undefined) {
    const refusal = { status: 400, body: '', details: 'query_missing_content_type' };
    return { refusal, closes: closesOnInvalid };
  }
  const isConnect = headers.method === 'CONNECT';
  if (!isConnect && headers.path.charCodeAt(0) !== 0x2f) {
    manager.parts.stats.count(NON_RELATIVE_PATH);
    const refusal = { status: 404, body: '', details: 'absolute_path_rejected' };
    return { refusal, closes: false };
  }
  const refusal = manager.parts.policy.onRequest(headers, info);
  if (refusal === undefined) return undefined;
  if (refusal.fault === undefined) return ofPolicy(refusal, manager, closesOnInvalid);
  // As what a codec refuses: nothing of it is told to logs.
  info.requestHeaders = undefined;
  return { refusal: refusal.fault, closes: closesOnInvalid };
}

function ofPolicy(
  refusal: RequestRefusal,
  manager: CheckingManager,
  closesOnInvalid: boolean,
): CheckedRefusal {
  if (refusal.details === DETECTION_FAILED) manager.parts.stats.count(REJECTED_BY_DETECTION);
  const { location } = refusal;
  if (refusal.details === 'path_normalization_failed') {
    manager.parts.stats.count(location === undefined ? FAILED_NORMALIZATION : REDIRECTED);
  }
  const reply = { status: refusal.status, body: refusal.body, details: refusal.details };
  if (location === undefined) {
    return { refusal: reply, closes: refusal.status === 400 && closesOnInvalid };
  }
  const modifyHeaders = (answer: HeaderMap): void => answer.set('location', location);
  return { refusal: { ...reply, modifyHeaders }, closes: false };
}
