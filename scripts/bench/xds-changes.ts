/** Endpoints that change a hundred times a second under the requests of one cluster, beside the same requests in quiet. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { httpListener } from '../../test/support/bootstrap.ts';
import { typeUrlOf, type ControlPlane } from '../../test/support/control-plane.ts';
import { resource } from '../../test/support/discovery-files.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { startUpstream } from './upstream.ts';
import { runWrk } from './wrk.ts';

const CHANGES_PER_SECOND = 100;
const CONNECTIONS = 16;
const PORTS = [19_871, 19_872] as const;

export interface Changes {
  readonly control: ControlPlane;
  /** An EDS cluster that the control plane has sent. */
  readonly cluster: string;
  readonly seconds: number;
  /** For the upstreams' files. */
  readonly folder: (name: string) => string;
  /** The port of the one listener, undefined until it is there. */
  readonly listenerPort: () => Promise<number | undefined>;
}

/** Figures as a text. The answers come from two upstreams, of which the second comes and goes. */
export async function changesUnderLoad(changes: Changes): Promise<string> {
  const { control, cluster, seconds, folder, listenerPort } = changes;
  const first = await startUpstream(folder('first'), PORTS[0]);
  const second = await startUpstream(folder('second'), PORTS[1]);
  try {
    sendEndpoints(control, cluster, 0);
    const route = { match: { prefix: '/' }, route: { cluster } };
    control.set('listener.v3.Listener', 'load', [resource.listener(httpListener([route]))]);
    const port = await waitUntil('the listener', listenerPort);
    await waitUntil('an answer', async () => await isAnswered(port));
    const load = { port, connections: CONNECTIONS, seconds };
    const quiet = await runWrk(load);
    const sender = { isDone: false, sent: 0 };
    const sending = keepChanging(control, cluster, sender);
    const busy = await runWrk(load);
    sender.isDone = true;
    await sending;
    return (
      `${sender.sent} endpoint changes in ${seconds} s: p99 ${quiet.p99Ms} ms in quiet, ` +
      `${busy.p99Ms} ms during changes (${(busy.p99Ms / quiet.p99Ms).toFixed(2)}), ` +
      `${quiet.failed + busy.failed} failed, ${busy.requestsPerSecond.toFixed(0)} requests/s`
    );
  } finally {
    await first.stop();
    await second.stop();
  }
}

async function keepChanging(
  control: ControlPlane,
  cluster: string,
  sender: { isDone: boolean; sent: number },
): Promise<void> {
  const beganMs = performance.now();
  while (!sender.isDone) {
    sender.sent += 1;
    sendEndpoints(control, cluster, sender.sent);
    const dueMs = (sender.sent * 1000) / CHANGES_PER_SECOND;
    await delay(Math.max(0, dueMs - (performance.now() - beganMs)));
  }
}

function sendEndpoints(control: ControlPlane, cluster: string, change: number): void {
  const ports = change % 2 === 0 ? [PORTS[0]] : PORTS;
  const assignment = resource.endpoints(cluster, ports);
  control.sendRaw({
    type_url: typeUrlOf('endpoint.v3.ClusterLoadAssignment'),
    resources: [{ name: cluster, version: `load ${change}`, resource: assignment }],
  });
}

async function isAnswered(port: number): Promise<boolean> {
  try {
    return (await (await fetch(`http://127.0.0.1:${port}/`)).text()).includes('Hello');
  } catch {
    return false;
  }
}
