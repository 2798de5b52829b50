/**
 * Lets a connection wait until the name that its TLS client asked for has been looked up, where the
 * TCP proxy behind it has a cluster that forwards to any name. What could not be looked up goes on:
 * the cluster has no host for it. Source: envoy.filters.network.sni_dynamic_forward_proxy.
 */
import type { HostAnswer } from '../../../shared/resources/clusters/cluster.ts';
import type { SniForwardProxy } from '../../../shared/resources/filters/network/sni-dynamic-forward-proxy.ts';
import type { HostWaiter } from '../../upstream/named-hosts/wanted-hosts.ts';
import {
  DYNAMIC_PORT_KEY,
  dynamicHost,
  dynamicPort,
} from '../../upstream/named-hosts/dynamic-host.ts';
import type { NetworkFilterContext } from '../network-filter-context.ts';
import type { NetworkGate, Resume } from '../network-gate.ts';
import { FilterState } from '../../net/filter-state.ts';

export function makeSniForwardProxyGate(
  { clusters, port: configuredPort }: SniForwardProxy,
  context: NetworkFilterContext,
): NetworkGate {
  return {
    onConnection({ connection }, resume) {
      const filterState = (key: string): string | undefined => connection.filterState?.get(key);
      const name = dynamicHost(filterState) ?? connection.requestedServerName;
      if (name === '') return true;
      const given = dynamicPort(filterState);
      if (given === undefined) {
        (connection.filterState ??= new FilterState()).set(
          DYNAMIC_PORT_KEY,
          String(configuredPort),
        );
      }
      const cluster = connection.upstreamCluster;
      const hosts = (cluster === undefined ? clusters : [cluster])
        .map((each) => context.wantedHosts(each))
        .find((each) => each !== undefined);
      const wanted = hosts?.nameOf(name, given ?? configuredPort) ?? '';
      if (hosts === undefined || hosts.has(wanted)) return true;
      const ticket = hosts.wait(wanted, new Waiter(resume));
      return { cancel: () => hosts.leave(wanted, ticket) };
    },
    release: () => undefined,
  };
}

class Waiter implements HostWaiter {
  readonly #resume: Resume;

  constructor(resume: Resume) {
    this.#resume = resume;
  }

  onHostAnswer({ outcome }: HostAnswer): void {
    this.#resume(outcome === 'found' || outcome === 'failed');
  }
}
