/** Takes the host that has the name of the request. */
import type { Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { BalanceContext, LoadBalancer } from '../balancing/load-balancer.ts';
import type { WantedHosts } from './wanted-hosts.ts';

export class ForwardProxyBalancer implements LoadBalancer {
  readonly #hosts: WantedHosts;
  readonly isPanicking = false;

  constructor(hosts: WantedHosts) {
    this.#hosts = hosts;
  }

  choose(context: BalanceContext): UpstreamHost | undefined {
    const authority = context.requestHeaders.authority || (context.serverName ?? '');
    const name = this.#hosts.nameFor(authority, (key) => context.filterState?.(key));
    return this.#hosts.choose(name, context);
  }

  *prepare(hosts: readonly UpstreamHost[]): Steps<() => void> {
    yield;
    return () => this.#hosts.putHosts(hosts);
  }
}
