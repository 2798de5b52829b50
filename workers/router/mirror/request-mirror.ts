/**
 * The mirrored copies of one request: each goes to a host of its own cluster, and what comes back
 * is thrown away. A mirror never answers and never fails a request; one that takes the body too
 * slowly slows the request down, as the request's own upstream would.
 */
import type { RequestMirrorPolicy } from '../../../shared/resources/routes/route.ts';
import { isEnabled, type Runtime } from '../../loop/runtime.ts';
import type { TerminalCallbacks } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { JOINED_IN_REQUESTS } from '../../stream/joined-headers.ts';
import type { HeaderMutation } from '../../routing/header-mutations.ts';
import { compileHeaderRules } from '../../routing/header-rules.ts';
import type { ClusterRoute } from '../../stream/route.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { ClusterManager } from '../../upstream/cluster-manager.ts';
import type { ClientCallbacks, ClientStream, UpstreamClient } from '../client/upstream-client.ts';

export interface MirrorContext {
  readonly clusters: ClusterManager;
  readonly runtime: Runtime;
  readonly client: UpstreamClient;
}

interface MirroredRequest {
  readonly mirrorPolicies: readonly RequestMirrorPolicy[];
  readonly headers: HeaderMap;
  readonly endStream: boolean;
  readonly callbacks: TerminalCallbacks;
  readonly route: ClusterRoute;
  readonly timeoutMs: number;
}

/** Starts the mirrors that are wanted of this request, whose headers are ready to be sent. */
export function startMirrors(
  request: MirroredRequest,
  context: MirrorContext,
): RequestMirrors | undefined {
  let mirrors: RequestMirror[] | undefined;
  for (const policy of request.mirrorPolicies) {
    const { fraction } = policy;
    if (fraction !== undefined && !isEnabled(fraction, context.runtime, context.runtime.random())) {
      continue;
    }
    const cluster = context.clusters.get(clusterName(policy, request.headers));
    if (cluster === undefined) continue;
    const mirror = new RequestMirror(request.callbacks);
    const headers = mirroredHeaders(request, policy);
    mirror.start(context.client, cluster, headers, request);
    (mirrors ??= []).push(mirror);
  }
  return mirrors === undefined ? undefined : new RequestMirrors(mirrors);
}

/** All mirrors of one request. */
export class RequestMirrors {
  readonly #mirrors: readonly RequestMirror[];

  constructor(mirrors: readonly RequestMirror[]) {
    this.#mirrors = mirrors;
  }

  sendData(data: Buffer, endStream: boolean): void {
    for (const mirror of this.#mirrors) mirror.sendData(data, endStream);
  }

  sendTrailers(trailers: HeaderMap): void {
    for (const mirror of this.#mirrors) mirror.sendTrailers(trailers);
  }

  /** The request is over; mirrors that have all of it go on by themselves. */
  leave(): void {
    for (const mirror of this.#mirrors) mirror.leave();
  }
}

class RequestMirror implements ClientCallbacks {
  #source: TerminalCallbacks | undefined;
  #stream: ClientStream | undefined = undefined;
  #isWhole = false;

  constructor(source: TerminalCallbacks) {
    this.#source = source;
  }

  start(
    client: UpstreamClient,
    cluster: UpstreamCluster,
    headers: HeaderMap,
    { endStream, callbacks, route, timeoutMs }: MirroredRequest,
  ): void {
    this.#isWhole = endStream;
    const request = {
      headers,
      endStream,
      timeoutMs,
      bufferLimitBytes: callbacks.bufferLimitBytes,
      connection: callbacks.info.connection,
      priority: route.action.priority,
      balancing: route,
      retryPolicy: undefined,
    };
    this.#stream = client.send(cluster, request, this);
  }

  sendData(data: Buffer, endStream: boolean): void {
    if (endStream) this.#isWhole = true;
    this.#stream?.sendData(data, endStream);
  }

  sendTrailers(trailers: HeaderMap): void {
    this.#isWhole = true;
    this.#stream?.sendTrailers(trailers);
  }

  leave(): void {
    this.#source = undefined;
    if (!this.#isWhole) this.#stream?.cancel();
  }

  onHeaders(): void {
    // Nobody waits for it, nor for the rest of it.
  }

  onData(): void {
    // As above.
  }

  onTrailers(): void {
    // As above.
  }

  onFailure(): void {
    // The client has counted it.
  }

  pauseRequest(paused: boolean): void {
    this.#source?.pauseRequest(paused);
  }

  onException(): void {
    // The client has ended it, and nobody else is concerned.
  }
}

function clusterName({ cluster, clusterHeader }: RequestMirrorPolicy, headers: HeaderMap): string {
  return clusterHeader === undefined ? (cluster ?? '') : (headers.get(clusterHeader) ?? '');
}

const mutationsOf = new WeakMap<RequestMirrorPolicy, HeaderMutation | undefined>();

/** The request as it goes to the mirror, which its host's name says. */
function mirroredHeaders(
  { headers, callbacks }: MirroredRequest,
  policy: RequestMirrorPolicy,
): HeaderMap {
  const copy = headers.clone();
  const { hostRewriteLiteral: host, requestMutations: rules } = policy;
  if (rules !== undefined) {
    if (!mutationsOf.has(policy)) {
      mutationsOf.set(policy, compileHeaderRules(rules, JOINED_IN_REQUESTS));
    }
    mutationsOf.get(policy)?.(copy, callbacks.info);
  }
  if (host !== undefined) copy.authority = host;
  else if (!policy.disableShadowHostSuffixAppend) copy.authority = mirrorHost(headers.authority);
  return copy;
}

/** `host:port` becomes `host-shadow:port`. */
function mirrorHost(authority: string): string {
  const port = /:\d+$/.exec(authority);
  if (port === null || authority.endsWith(']')) return `${authority}-shadow`;
  return `${authority.slice(0, port.index)}-shadow${port[0]}`;
}
