/** Takes the host that bears the name of the request. */
import type { UpstreamHost } from './host.ts';
import type { BalanceContext, LoadBalancer } from './load-balancer.ts';
import type { WantedHosts } from './wanted-hosts.ts';

export class ForwardProxyBalancer implements LoadBalancer {
  readonly #hosts: WantedHosts;
  readonly isPanicking = false;

  constructor(hosts: WantedHosts) {
    this.#hosts = hosts;
  }

  choose(context: BalanceContext): UpstreamHost | undefined {
    return this.#hosts.choose(this.#hosts.nameOf(context.requestHeaders.authority), context);
  }

  update(hosts: readonly UpstreamHost[]): void {
    this.#hosts.putHosts(hosts);
  }
}
