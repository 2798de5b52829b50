/**
 * Envoy Gateway without Kubernetes: resources from files, and as its infrastructure this machine,
 * where it starts the server itself, in the place of the Envoy that func-e would have fetched.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { freePort } from '../../support/programs/epochs.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';
import { isFree } from '../fixed-admin-port.ts';
import { hasGo, leftOut, outcomeOf, withoutGo } from '../outcome.ts';
import type { Outcome } from '../outcome.ts';
import { writeServerProgram } from './go-module.ts';

const ENVOY_GATEWAY = 'github.com/envoyproxy/gateway/cmd/envoy-gateway@v1.9.1';
const XDS_PORT = 18_000;
/** Any: what stands in its folder is taken for it. */
const VERSION = '1.40.0';
const ANSWER = 'from behind the gateway';
const LIMIT_MS = 30_000;

export async function serveEnvoyGateway(): Promise<Outcome> {
  const client = 'envoy-gateway server';
  if (!hasGo()) return withoutGo(client);
  if (!(await isFree(XDS_PORT))) return leftOut(client, `port ${XDS_PORT} is taken`);
  using scratch = makeScratch();
  const install = spawnSync('go', ['install', ENVOY_GATEWAY], {
    env: { ...process.env, GOBIN: scratch.path },
    encoding: 'utf8',
  });
  if (install.status !== 0) return leftOut(client, install.stderr);
  await using upstream = await startHttpUpstream((_, response) => response.end(ANSWER));
  const ports = { http: await freePort(), tcp: await freePort() };
  const program = `data/envoy-versions/${VERSION}/bin/envoy`;
  mkdirSync(dirname(scratch.file(program)), { recursive: true });
  writeServerProgram(scratch, program);
  mkdirSync(scratch.file('resources'));
  writeFileSync(scratch.file('resources/all.yaml'), resources(ports, upstream.port));
  writeFileSync(scratch.file('gateway.yaml'), settings(scratch));
  const words = ['certgen', '--local', '--config-home', scratch.file('config')];
  spawnSync(scratch.file('envoy-gateway'), words);
  const gateway = spawn(
    scratch.file('envoy-gateway'),
    ['server', '--config-path', scratch.file('gateway.yaml')],
    { stdio: 'ignore' },
  );
  try {
    await check(scratch, ports);
    return outcomeOf(client, true, '');
  } catch (error) {
    return outcomeOf(client, false, String(error));
  } finally {
    gateway.kill('SIGINT');
    await once(gateway, 'exit');
  }
}

interface Ports {
  readonly http: number;
  readonly tcp: number;
}

async function check(scratch: Scratch, ports: Ports): Promise<void> {
  const ask = async (port: number, path: string): Promise<string> =>
    (await fetchOnce({ port, path }).catch(() => undefined))?.body ?? '';
  await waitUntil('an answer', async () => (await ask(ports.http, '/')) === ANSWER, LIMIT_MS);
  await waitUntil('a connection', () => canConnect(ports.tcp), LIMIT_MS);
  const [run = ''] = readdirSync(scratch.file('run'));
  const address = readFileSync(scratch.file(`run/${run}/admin-address.txt`), 'utf8').trim();
  const stats = await ask(Number(address.split(':').at(-1)), '/stats?filter=update_rejected');
  const refused = stats.split('\n').filter((line) => /: [1-9]/.test(line));
  if (refused.length > 0) throw new Error(refused.join(' '));
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

function settings(scratch: Scratch): string {
  return JSON.stringify({
    apiVersion: 'gateway.envoyproxy.io/v1alpha1',
    kind: 'EnvoyGateway',
    gateway: { controllerName: 'gateway.envoyproxy.io/gatewayclass-controller' },
    provider: {
      type: 'Custom',
      custom: {
        resource: { type: 'File', file: { paths: [scratch.file('resources')] } },
        infrastructure: {
          type: 'Host',
          host: {
            configHome: scratch.file('config'),
            dataHome: scratch.file('data'),
            stateHome: scratch.file('state'),
            runtimeDir: scratch.file('run'),
          },
        },
      },
    },
    extensionApis: { enableBackend: true },
  });
}

function resources({ http, tcp }: Ports, upstream: number): string {
  return `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec:
  controllerName: gateway.envoyproxy.io/gatewayclass-controller
  parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: host, namespace: default}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: host, namespace: default}
spec: {provider: {type: Host, host: {envoyVersion: ${VERSION}}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: eg, namespace: default}
spec:
  gatewayClassName: eg
  listeners:
    - {name: http, protocol: HTTP, port: ${http}}
    - {name: tcp, protocol: TCP, port: ${tcp}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: default}
spec:
  parentRefs: [{name: eg, sectionName: http}]
  rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: up}], timeouts: {request: 10s}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: TCPRoute
metadata: {name: tcp, namespace: default}
spec:
  parentRefs: [{name: eg, sectionName: tcp}]
  rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: up}]}]
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {name: up, namespace: default}
spec: {endpoints: [{ip: {address: 127.0.0.1, port: ${upstream}}}]}
`;
}
