/**
 * The requests by which one check asks hosts, in any version of HTTP: what the check itself says,
 * then the changes of headers that its configuration wants. These see the host and nothing of a
 * client.
 */
import type { Clock } from '../../shared/process/clock.ts';
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { GrpcProbe, HttpProbe } from '../../shared/resources/clusters/health-check.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { pseudoOrder } from '../stream/pseudo-order.ts';
import { JOINED_IN_REQUESTS } from '../stream/joined-headers.ts';
import { StreamInfo } from '../stream/stream-info.ts';
import type { Address, ConnectionInfo } from '../net/connection-info.ts';
import { compileHeaderMutations, type HeaderMutation } from '../routing/header-mutations.ts';
import { writeGrpcTimeout } from '../routing/timeouts.ts';
import { hostInfo } from '../stream/host-info.ts';
import { grpcCheckMessage } from './grpc-check.ts';
import { USER_AGENT } from './judge-http.ts';

export interface CheckRequest {
  readonly headers: HeaderMap;
  /** Empty: the request ends with its headers. */
  readonly body: Buffer;
}

export interface CheckedBy {
  readonly probe: HttpProbe | GrpcProbe;
  readonly timeoutMs: number;
}

export class CheckRequests {
  readonly #check: CheckedBy;
  readonly #clock: Clock;
  readonly #body: Buffer;
  readonly #change: HeaderMutation | undefined;

  constructor(check: CheckedBy, clock: Clock) {
    const { probe } = check;
    this.#check = check;
    this.#clock = clock;
    this.#body =
      probe.kind === 'grpc'
        ? grpcCheckMessage(probe.service)
        : Buffer.from(probe.payload ?? '', 'hex');
    this.#change = compileHeaderMutations([probe.headers], JOINED_IN_REQUESTS);
  }

  /** `authority`: where the check itself has none. */
  make(host: HostResource, scheme: string, authority: string): CheckRequest {
    const { probe, timeoutMs } = this.#check;
    const headers = new HeaderMap();
    headers.scheme = scheme;
    headers.pseudoOrder = probe.kind === 'grpc' ? GRPC_ORDER : HTTP_ORDER;
    headers.authority = probe.authority ?? authority;
    if (probe.kind === 'grpc') {
      headers.method = 'POST';
      headers.path = '/grpc.health.v1.Health/Check';
      headers.add('te', 'trailers');
      headers.add('content-type', 'application/grpc');
    } else {
      headers.method = probe.method;
      headers.path = probe.path;
    }
    headers.add('user-agent', USER_AGENT);
    this.#change?.(headers, this.#infoOf(host));
    if (probe.kind === 'grpc') writeGrpcTimeout(headers, timeoutMs);
    else if (this.#body.length > 0) {
      headers.add('content-length', String(this.#body.length));
    }
    return { headers, body: this.#body };
  }

  #infoOf(host: HostResource): StreamInfo {
    const { probe } = this.#check;
    const clock = this.#clock;
    const info = new StreamInfo(NOBODY, clock.monotonicMs(), clock.wallMs());
    info.protocol = probe.kind === 'grpc' || probe.isHttp2 ? 'HTTP/2' : 'HTTP/1.1';
    info.upstreamHost = hostInfo(host);
    return info;
  }
}

const GRPC_ORDER = pseudoOrder(':method', ':path', ':authority', ':scheme');
const HTTP_ORDER = pseudoOrder(':method', ':authority', ':path', ':scheme');

const NOWHERE: Address = { kind: 'ip', ip: '127.0.0.1', port: 0, text: '127.0.0.1:0' };

/** What headers may say of the client that a check does not have. */
const NOBODY: ConnectionInfo = {
  id: 0,
  remoteAddress: NOWHERE,
  directRemoteAddress: NOWHERE,
  localAddress: NOWHERE,
  listenerName: '',
  direction: 'UNSPECIFIED',
  filterChainName: '',
  requestedServerName: '',
  tls: undefined,
  terminationDetails: '',
  transportFailureReason: '',
};
