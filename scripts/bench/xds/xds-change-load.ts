/**
 * A fleet whose endpoints change at a steady rate, with traffic for one of its clusters: what
 * benchmarks of changes share.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { httpListener } from '../../../test/support/parts/bootstrap.ts';
import { typeUrlOf, type ControlPlane } from '../../../test/support/peers/control-plane.ts';
import { resource } from '../../../test/support/peers/discovery-files.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { ENDPOINTS, LISTENER, listenerPort, type Fleet } from './xds-fleet.ts';

export const PORTS = [19_871, 19_872] as const;
export const CHANGED_CLUSTER = 'service_7';

export interface ChangePlan {
  readonly perSecond: number;
  readonly clusters: number;
  /** Each cluster changes in its turn, else the one that has the traffic. */
  readonly isOfAll: boolean;
}

let versions = 0;

/**
 * Requests of the one listener go to the cluster that changes; resolves with its port when they do.
 */
export async function route({ control, admin }: Fleet): Promise<number> {
  sendEndpoints(control, 0);
  const toCluster = { match: { prefix: '/' }, route: { cluster: CHANGED_CLUSTER } };
  control.set(LISTENER, 'load', [resource.listener(httpListener([toCluster]))]);
  const port = await waitUntil('the listener', async () => await listenerPort(admin));
  await waitUntil('an answer', async () => await isAnswered(port));
  return port;
}

/** `stop` resolves with how many changes were sent. */
export function keepChanging(
  control: ControlPlane,
  { perSecond, clusters, isOfAll }: ChangePlan,
): { stop(): Promise<number> } {
  let isStopped = false;
  const beganMs = performance.now();
  const done = (async (): Promise<number> => {
    let sent = 0;
    while (!isStopped) {
      sent += 1;
      // The second time a cluster has one host again.
      const round = Math.floor(sent / clusters);
      if (isOfAll) sendEndpoints(control, round + 1, `service_${sent % clusters}`);
      else sendEndpoints(control, sent);
      await delay(Math.max(0, (sent * 1000) / perSecond - (performance.now() - beganMs)));
    }
    return sent;
  })();
  return {
    stop: async () => {
      isStopped = true;
      return await done;
    },
  };
}

/** The answers come from two upstreams, of which the second comes and goes. */
function sendEndpoints(control: ControlPlane, change: number, cluster = CHANGED_CLUSTER): void {
  const ports = change % 2 === 0 ? [PORTS[0]] : PORTS;
  const assignment = resource.endpoints(cluster, ports);
  versions += 1;
  control.sendRaw({
    type_url: typeUrlOf(ENDPOINTS),
    resources: [{ name: cluster, version: `load ${versions}`, resource: assignment }],
  });
}

async function isAnswered(port: number): Promise<boolean> {
  try {
    return (await (await fetch(`http://127.0.0.1:${port}/`)).text()).includes('Hello');
  } catch {
    return false;
  }
}
