/**
 * What the choice of a host may depend on for one request: its hash, and on retries the hosts tried
 * before. Collects the cookies that hash policies make.
 */
import type { Struct } from '../../shared/text/dictionary.ts';
import { addMetadata } from '../filters/common/add-metadata.ts';
import type { Hash64 } from '../hash/xxhash64.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { filterStateOf, type StreamInfo } from '../stream/stream-info.ts';
import type { Address } from '../net/connection-info.ts';
import type { RequestHash } from '../stream/route.ts';
import type { ClusterRoute } from '../stream/route.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import type { BalanceContext } from '../upstream/balancing/load-balancer.ts';
import type { SubsetCriteria } from '../stream/route.ts';
import type { RetryState } from './retry/retry-state.ts';

/** What a route says of the choice of hosts. */
export type BalancedRoute = Pick<ClusterRoute, 'hashOf' | 'subset'>;

export class RequestBalance implements BalanceContext {
  readonly requestHeaders: HeaderMap;
  /** Set once the request is retried. */
  retry: RetryState | undefined = undefined;
  readonly subset: SubsetCriteria | undefined;
  readonly #route: BalancedRoute;
  readonly #info: StreamInfo;
  #hash: Hash64 | undefined = undefined;
  #hasHash = false;
  #setCookies: string[] | undefined = undefined;

  constructor(requestHeaders: HeaderMap, route: BalancedRoute, info: StreamInfo) {
    this.requestHeaders = requestHeaders;
    this.#route = route;
    const own = info.dynamicMetadata?.get('envoy.lb');
    this.subset = own === undefined ? route.subset : { ...route.subset, ...own };
    this.#info = info;
  }

  get overrideHost(): StreamInfo['overrideHost'] {
    return this.retry === undefined ? this.#info.overrideHost : undefined;
  }

  get originalDestination(): Address | undefined {
    return this.#info.connection.originalDestination;
  }

  filterState(key: string): string | undefined {
    return filterStateOf(this.#info, key);
  }

  get dynamicMetadata(): StreamInfo['dynamicMetadata'] {
    return this.#info.dynamicMetadata;
  }

  addMetadata(namespace: string, value: Struct): void {
    addMetadata(this.#info, namespace, value);
  }

  get maxHostDraws(): number {
    return this.retry?.maxHostDraws ?? 0;
  }

  get excludedPriorities(): ReadonlySet<number> | undefined {
    return this.retry?.triedPriorities;
  }

  noPriorityLeft(): void {
    this.retry?.forgetTriedPriorities();
  }

  refusesHost(host: UpstreamHost): boolean {
    return this.retry?.refuses(host) === true;
  }

  /** The first choice decides: what it hashed may be rewritten before a retry. */
  computeHash(own?: RequestHash): Hash64 | undefined {
    if (this.#hasHash) return this.#hash;
    this.#hasHash = true;
    const hashOf = own ?? this.#route.hashOf;
    this.#hash = hashOf?.(this.requestHeaders, this.#info, (setCookie) => {
      (this.#setCookies ??= []).push(setCookie);
    });
    return this.#hash;
  }

  /** Adds to a response the cookies that bring later requests to the same host. */
  addCookies(headers: HeaderMap): void {
    if (this.#setCookies === undefined) return;
    for (const setCookie of this.#setCookies) headers.add('set-cookie', setCookie);
  }
}
