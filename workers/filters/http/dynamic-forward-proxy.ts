/**
 * Lets a request wait until the name that it has has been looked up, where its cluster forwards to
 * any name. Source: envoy.filters.http.dynamic_forward_proxy.
 */
import { parseAuthority } from '../../../shared/addresses/authority.ts';
import type { HostAnswer } from '../../../shared/resources/clusters/cluster.ts';
import type {
  DynamicForwardProxyFilterSettings,
  DynamicForwardProxyPerRoute,
} from '../../../shared/resources/filters/http/dynamic-forward-proxy.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { filterStateOf } from '../../stream/stream-info.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import { dynamicHost, dynamicPort } from '../../upstream/named-hosts/dynamic-host.ts';
import type { HostWaiter, WantedHosts } from '../../upstream/named-hosts/wanted-hosts.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

interface Refusal {
  readonly body: string;
  readonly details: string;
  readonly flag: number;
}

export function makeDynamicForwardProxyFilter(
  settings: DynamicForwardProxyFilterSettings,
  context: FilterContext,
): FilterFactory {
  return {
    name: settings.name,
    create: (callbacks) => new DynamicForwardProxyFilter(settings, context, callbacks),
  };
}

class DynamicForwardProxyFilter extends PassThroughFilter implements HostWaiter, TimerOwner {
  readonly #settings: DynamicForwardProxyFilterSettings;
  readonly #context: FilterContext;
  readonly #filterState = (key: string): string | undefined =>
    filterStateOf(this.#callbacks.info, key);
  readonly #timer = new LoopTimer(this, 0);
  readonly #callbacks: FilterCallbacks;
  /** There while the request waits. */
  #waitsAt: WantedHosts | undefined = undefined;
  #wanted = '';
  #chosen = '';
  #isOptional = false;
  #ticket = 0;

  constructor(
    settings: DynamicForwardProxyFilterSettings,
    context: FilterContext,
    callbacks: FilterCallbacks,
  ) {
    super();
    this.#settings = settings;
    this.#context = context;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { route } = this.#callbacks;
    if (route?.kind !== 'cluster') return 'continue';
    const hosts = this.#context.wantedHosts(route.clusterName);
    if (hosts === undefined) return 'continue';
    this.#rewriteHost(headers);
    this.#callbacks.info.upstreamCluster = route.clusterName;
    const own = this.#nameOf(headers.authority, hosts);
    // What the balancer goes by differs where filters name a host that is not taken here.
    this.#chosen = hosts.nameFor(headers.authority, this.#filterState);
    return this.#waitsFor(own, hosts) || this.#waitsForChosen(hosts) ? 'stop' : 'continue';
  }

  /** Without it the router finds no host. */
  #waitsForChosen(hosts: WantedHosts): boolean {
    this.#isOptional = true;
    return this.#waitsFor(this.#chosen, hosts);
  }

  #waitsFor(name: string, hosts: WantedHosts): boolean {
    if (hosts.has(name)) return false;
    this.#waitsAt = hosts;
    this.#wanted = name;
    this.#ticket = hosts.wait(name, this);
    if (hosts.hasSubClusters) {
      const { clusterInitTimeoutMs } = this.#settings.options;
      this.#context.loop.timers.list(clusterInitTimeoutMs).arm(this.#timer);
    }
    return true;
  }

  onException(): void {
    this.#callbacks.onException();
  }

  /** The cluster of this name takes too long. */
  onTimer(): void {
    this.#leave();
    this.#refuse({
      body: 'Sub cluster warming timeout',
      details: 'sub_cluster_warming_timeout',
      flag: 0,
    });
  }

  override decodeData(): DataStatus {
    return this.#waitsAt === undefined ? 'continue' : 'stop_and_buffer';
  }

  override decodeTrailers(): TrailersStatus {
    return this.#waitsAt === undefined ? 'continue' : 'stop';
  }

  onHostAnswer(answer: HostAnswer): void {
    this.#context.loop.run(this, () => this.#takeAnswer(answer));
  }

  #takeAnswer(answer: HostAnswer): void {
    const hosts = this.#waitsAt;
    const isOptional = this.#isOptional;
    const wanted = this.#wanted;
    const chosen = this.#chosen;
    this.#waitsAt = undefined;
    this.#timer.disarm();
    if (answer.outcome !== 'found' && !isOptional) {
      this.#refuse(refusalOf(answer));
    } else if (hosts === undefined || wanted === chosen || !this.#waitsForChosen(hosts)) {
      this.#callbacks.continueDecoding();
    }
  }

  override onDestroy(): void {
    this.#leave();
  }

  /** A host that filters name without a port has that of the request. */
  #nameOf(authority: string, hosts: WantedHosts): string {
    if (this.#settings.options.takesDynamicHost !== true) return hosts.nameOf(authority);
    const name = dynamicHost(this.#filterState);
    const port = dynamicPort(this.#filterState);
    if (name === undefined) return hosts.nameOf(authority, port);
    return hosts.nameOf(name, port ?? parseAuthority(hosts.nameOf(authority), 0).port);
  }

  #leave(): void {
    this.#timer.disarm();
    this.#waitsAt?.leave(this.#wanted, this.#ticket);
    this.#waitsAt = undefined;
  }

  #refuse({ body, details, flag }: Refusal): void {
    this.#callbacks.info.responseFlags |= flag;
    this.#callbacks.sendLocalReply({ status: 503, body, details });
  }

  #rewriteHost(headers: HeaderMap): void {
    const settings = this.#callbacks.routeConfig(this.#settings.name);
    if (settings === undefined) return;
    const { hostRewriteLiteral, hostRewriteHeader } = settings as DynamicForwardProxyPerRoute;
    if (hostRewriteLiteral !== undefined) headers.authority = hostRewriteLiteral;
    const named = hostRewriteHeader === undefined ? undefined : headers.get(hostRewriteHeader);
    if (named !== undefined) headers.authority = named;
  }
}

function refusalOf({ outcome, details }: HostAnswer): Refusal {
  switch (outcome) {
    case 'cache_overflow':
      return { body: 'DNS cache overflow', details: 'dns_cache_overflow', flag: 0 };
    case 'cluster_overflow':
      return { body: 'Sub cluster overflow', details: 'sub_cluster_overflow', flag: 0 };
    case 'pending_overflow':
      return {
        body: 'Dynamic forward proxy pending request overflow',
        details: 'dynamic_forward_proxy_pending_request_overflow',
        flag: 0,
      };
    default:
      return {
        body: 'DNS resolution failure',
        details: `dns_resolution_failure{${details}}`,
        flag: ResponseFlag.dnsResolutionFailed,
      };
  }
}
