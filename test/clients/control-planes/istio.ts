/**
 * Istio's discovery server with configuration from a file, and the bootstrap of its own template.
 * What only Istio's build of Envoy has (metadata exchange, its ALPN filter) is switched off by its
 * own settings; with them on Envoy refuses every cluster and listener.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../support/programs/epochs.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { MAIN } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil, within } from '../../support/wait.ts';
import { hasGo, leftOut, outcomeOf, withoutGo } from '../outcome.ts';
import type { Outcome } from '../outcome.ts';
import { copyModule } from './go-module.ts';

const SOURCE = join(import.meta.dirname, '../../../../test/clients/istio');
const MODULE = 'istio.io/istio@v0.0.0-20260827124520-eed52ebb66ad';
const TEMPLATE = 'module/tools/packaging/common/envoy_bootstrap.json';
const NODES = ['router', 'sidecar'] as const;
const ANSWER = 'from behind the gateway';

export async function serveIstio(): Promise<Outcome> {
  const client = "Istio's discovery server";
  if (!hasGo()) return withoutGo(client);
  using scratch = makeScratch();
  const problem = copyModule(MODULE, scratch.file('module'));
  if (problem !== undefined) return leftOut(client, problem);
  // The build adds to go.mod what Istio needs in its turn.
  cpSync(SOURCE, scratch.file('source'), { recursive: true });
  const program = scratch.file('discovery');
  const build = spawnSync('go', ['build', '-o', program, './discovery'], {
    cwd: scratch.file('source'),
    encoding: 'utf8',
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  });
  if (build.status !== 0) return leftOut(client, build.stderr);
  for (const kind of NODES) {
    try {
      await serveNode(scratch, kind);
    } catch (error) {
      return outcomeOf(`${client}: ${kind}`, false, String(error));
    }
  }
  return outcomeOf(client, true, '');
}

async function serveNode(scratch: Scratch, kind: (typeof NODES)[number]): Promise<void> {
  await using upstream = await startHttpUpstream((_, response) => response.end(ANSWER));
  using folder = makeScratch();
  const ports = { admin: await freePort(), status: await freePort(), metrics: await freePort() };
  const gateway = await freePort();
  writeFileSync(folder.file('config.yaml'), configuration(gateway, upstream.port));
  const words = Object.entries({
    folder: folder.path,
    config: folder.file('config.yaml'),
    template: scratch.file(TEMPLATE),
    node: `${kind}~127.0.0.1~app.default~default.svc.cluster.local`,
    ...ports,
  }).flatMap(([flag, value]) => [`-${flag}`, String(value)]);
  const discovery = spawn(scratch.file('discovery'), words, {
    env: {
      ...process.env,
      PILOT_ENABLE_METADATA_EXCHANGE: 'false',
      PILOT_ENABLE_ALPN_FILTER: 'false',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface(discovery.stdout);
  const ready = (async () => {
    for await (const line of lines) if (line === 'ready') return;
  })();
  await within('Istio serves', ready);
  lines.resume();
  const server = spawn(
    process.execPath,
    [MAIN, '-c', folder.file('bootstrap.json'), '--disable-hot-restart'],
    { cwd: folder.path, stdio: 'ignore' },
  );
  try {
    await check(kind, ports.admin, gateway);
  } finally {
    server.kill('SIGKILL');
    discovery.kill('SIGKILL');
    await Promise.all([once(server, 'exit'), once(discovery, 'exit')]);
  }
}

async function check(kind: string, admin: number, gateway: number): Promise<void> {
  const ask = async (port: number, path: string): Promise<string> =>
    (await fetchOnce({ port, path }).catch(() => undefined))?.body ?? '';
  const stats = (): Promise<string> => ask(admin, '/stats?filter=update_');
  await waitUntil(`${kind}: listeners`, async () =>
    /listener_manager\.lds\.update_(success|rejected): [1-9]/.test(await stats()),
  );
  const refused = (await stats()).split('\n').filter((line) => /update_rejected: [1-9]/.test(line));
  if (refused.length > 0) throw new Error(refused.join(' '));
  if (kind !== 'router') return;
  await waitUntil('an answer', async () => (await ask(gateway, '/')) === ANSWER);
}

function configuration(gateway: number, upstream: number): string {
  return `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: up, namespace: default}
spec:
  hosts: [up.example.com]
  addresses: [240.1.1.1]
  ports: [{number: 80, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: 127.0.0.1, ports: {http: ${upstream}}}]
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: gw, namespace: default}
spec:
  selector: {istio: ingressgateway}
  servers: [{port: {number: ${gateway}, name: http, protocol: HTTP}, hosts: ["*"]}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: vs, namespace: default}
spec:
  hosts: ["*"]
  gateways: [gw]
  http: [{timeout: 5s, route: [{destination: {host: up.example.com, port: {number: 80}}}]}]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: dr, namespace: default}
spec:
  host: up.example.com
  trafficPolicy: {outlierDetection: {consecutive5xxErrors: 5, interval: 5s}}
`;
}
