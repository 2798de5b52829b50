/**
 * Lets a request wait until the name that it bears has been looked up, where its cluster forwards to
 * any name. Source: envoy.filters.http.dynamic_forward_proxy.
 */
import type { HostAnswer } from '../../shared/resources/cluster.ts';
import type {
  DynamicForwardProxyPerRoute,
  HttpFilter,
} from '../../shared/resources/http-filters.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../http/filter.ts';
import type { HeaderMap } from '../http/header-map.ts';
import { ResponseFlag } from '../http/response-flags.ts';
import { LoopTimer, type TimerOwner } from '../timers.ts';
import type { HostWaiter, WantedHosts } from '../upstream/wanted-hosts.ts';
import type { FilterContext } from './filter-context.ts';
import { PassThroughFilter } from './pass-through-filter.ts';

interface Refusal {
  readonly body: string;
  readonly details: string;
  readonly flag: number;
}

type Settings = Extract<HttpFilter, { readonly kind: 'dynamic_forward_proxy' }>;

export function makeDynamicForwardProxyFilter(
  settings: Settings,
  context: FilterContext,
): FilterFactory {
  return {
    name: settings.name,
    create: (callbacks) => new DynamicForwardProxyFilter(settings, context, callbacks),
  };
}

class DynamicForwardProxyFilter extends PassThroughFilter implements HostWaiter, TimerOwner {
  private readonly settings: Settings;
  private readonly context: FilterContext;
  private readonly timer = new LoopTimer(this, 0);
  private readonly callbacks: FilterCallbacks;
  /** There while the request waits. */
  private waitsAt: WantedHosts | undefined = undefined;
  private wanted = '';
  private ticket = 0;

  constructor(settings: Settings, context: FilterContext, callbacks: FilterCallbacks) {
    super();
    this.settings = settings;
    this.context = context;
    this.callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { route } = this.callbacks;
    if (route?.kind !== 'cluster') return 'continue';
    const hosts = this.context.wantedHosts(route.clusterName);
    if (hosts === undefined) return 'continue';
    this.rewriteHost(headers);
    this.callbacks.info.upstreamCluster = route.clusterName;
    const name = hosts.nameOf(headers.authority);
    if (hosts.has(name)) return 'continue';
    this.waitsAt = hosts;
    this.wanted = name;
    this.ticket = hosts.wait(name, this);
    if (hosts.hasSubClusters) {
      const { clusterInitTimeoutMs } = this.settings;
      this.context.loop.timers.list(clusterInitTimeoutMs).arm(this.timer);
    }
    return 'stop';
  }

  /** The cluster of this name takes too long. */
  onTimer(): void {
    this.leave();
    this.refuse({
      body: 'Sub cluster warming timeout',
      details: 'sub_cluster_warming_timeout',
      flag: 0,
    });
  }

  override decodeData(): DataStatus {
    return this.waitsAt === undefined ? 'continue' : 'stop_and_buffer';
  }

  override decodeTrailers(): TrailersStatus {
    return this.waitsAt === undefined ? 'continue' : 'stop';
  }

  onHostAnswer(answer: HostAnswer): void {
    this.waitsAt = undefined;
    this.timer.disarm();
    if (answer.outcome === 'found') this.callbacks.continueDecoding();
    else this.refuse(refusalOf(answer));
  }

  override onDestroy(): void {
    this.leave();
  }

  private leave(): void {
    this.timer.disarm();
    this.waitsAt?.leave(this.wanted, this.ticket);
    this.waitsAt = undefined;
  }

  private refuse({ body, details, flag }: Refusal): void {
    this.callbacks.info.responseFlags |= flag;
    this.callbacks.sendLocalReply({ status: 503, body, details });
  }

  private rewriteHost(headers: HeaderMap): void {
    const settings = this.callbacks.routeConfig(this.settings.name);
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
