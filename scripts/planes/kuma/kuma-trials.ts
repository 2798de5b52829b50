/** Kuma drives the data planes of three services and a gateway; each policy is seen from outside. */
import { freePort } from '../../../test/support/free-port.ts';
import { type Answer, fetchOnce } from '../../../test/support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../../test/support/peers/upstream.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { trialWithGo } from '../../programs/go-programs.ts';
import { check, passed, type Trial, type TrialOutcome } from '../../programs/trial.ts';
import type { DataPlane } from '../data-plane.ts';
import { KUMA_FEATURES, type KumaMesh } from './kuma-features.ts';
import { type KumaPlane, type KumaProxy, startKuma } from './kuma-plane.ts';

const PROBE_LIMIT_MS = 20_000;
const PORTS = ['one', 'two', 'web', 'api', 'outside', 'edge'] as const;
type Ports = Readonly<Record<(typeof PORTS)[number], number>>;

export function kumaTrials(proxy: DataPlane): readonly Trial[] {
  return [trialWithGo(`Kuma with ${proxy}: features`, () => features(proxy))];
}

async function features(proxy: DataPlane): Promise<TrialOutcome> {
  await using one = await startHost('one');
  await using two = await startHost('two');
  await using outside = await startHost('outside');
  await using plane = await startKuma();
  const ports = await takePorts();
  await writeMesh(plane, outside.port, ports.edge);
  const networks = networksOf(ports, one.port, two.port);
  await using started = await startProxies(plane, proxy, networks);
  const { proxies } = started;
  const mesh: KumaMesh = {
    plane,
    one,
    two,
    inbound: ports.one,
    ask: (way, path = '/', headers = {}) => ask(ports[way], path, headers),
  };
  const failures: string[] = [];
  for (const feature of KUMA_FEATURES) {
    let failure = '';
    const serves = (): Promise<boolean> =>
      feature.probe(mesh).then(
        () => true,
        (error: unknown) => {
          failure = String(error);
          return false;
        },
      );
    await feature.change?.(mesh);
    await waitUntil(feature.name, serves, PROBE_LIMIT_MS).catch(() =>
      failures.push(`${feature.name}: ${failure}`),
    );
  }
  for (const each of proxies) {
    const refused = (await each.stats('update_rejected')).trim();
    if (refused !== '') failures.push(`${each.name}: ${refused} ${each.output().slice(-1500)}`);
  }
  check(failures.length === 0, `${failures.length} failed: ${failures.join('; ')}`);
  return passed(`${KUMA_FEATURES.length} features of ${proxies.length} data planes`);
}

/** By the name of the data plane. */
function networksOf(ports: Ports, one: number, two: number): Readonly<Record<string, object>> {
  const address = '127.0.0.1';
  const api = (port: number, servicePort: number, version: string): object => {
    const tags = { 'kuma.io/service': 'api', 'kuma.io/protocol': 'http', version };
    const serviceProbe = { interval: '0.2s', timeout: '0.2s', tcp: {} };
    return { address, inbound: [{ port, servicePort, tags, serviceProbe }] };
  };
  const webTags = { 'kuma.io/service': 'web', 'kuma.io/protocol': 'http' };
  const web = { port: ports.web, servicePort: one, tags: webTags };
  const outbound = [
    { port: ports.api, tags: { 'kuma.io/service': 'api' } },
    { port: ports.outside, tags: { 'kuma.io/service': 'outside' } },
  ];
  return {
    'api-one': api(ports.one, one, 'one'),
    'api-two': api(ports.two, two, 'two'),
    web: { address, inbound: [web], outbound },
    edge: { address, gateway: { type: 'BUILTIN', tags: { 'kuma.io/service': 'edge' } } },
  };
}

interface Started extends AsyncDisposable {
  readonly proxies: readonly KumaProxy[];
}

/** Ends those that began when one of them does not. */
async function startProxies(
  plane: KumaPlane,
  proxy: DataPlane,
  networks: Readonly<Record<string, object>>,
): Promise<Started> {
  const starts = await Promise.allSettled(
    Object.entries(networks).map(([name, part]) => plane.start(proxy, name, part)),
  );
  const proxies = starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(proxies.map((each) => each[Symbol.asyncDispose]()));
  };
  for (const each of starts) {
    if (each.status === 'rejected') {
      await stop();
      throw each.reason;
    }
  }
  return { proxies, [Symbol.asyncDispose]: stop };
}

/** `/flaky/NAME` fails once for each name. */
async function startHost(name: string): Promise<HttpUpstream> {
  const failed = new Set<string>();
  return startHttpUpstream(({ url = '' }, response) => {
    if (url.startsWith('/flaky') && !failed.has(url)) {
      failed.add(url);
      response.statusCode = 500;
    }
    response.end(name);
  });
}

/** By name, none twice: a free port may be given again. */
async function takePorts(): Promise<Ports> {
  const taken = new Set<number>();
  while (taken.size < PORTS.length) taken.add(await freePort());
  const all = [...taken];
  return Object.fromEntries(PORTS.map((name, index) => [name, all[index] ?? 0])) as Ports;
}

async function writeMesh(plane: KumaPlane, outside: number, edge: number): Promise<void> {
  const backends = [{ name: 'ca', type: 'builtin' }];
  const mtls = { enabledBackend: 'ca', backends };
  await plane.put('', { type: 'Mesh', name: 'default', mtls });
  await plane.put('/external-services/outside', {
    type: 'ExternalService',
    name: 'outside',
    tags: { 'kuma.io/service': 'outside', 'kuma.io/protocol': 'http' },
    networking: { address: `127.0.0.1:${outside}` },
  });
  const selectors = [{ match: { 'kuma.io/service': 'edge' } }];
  await plane.put('/meshgateways/edge', {
    type: 'MeshGateway',
    name: 'edge',
    selectors,
    conf: { listeners: [{ port: edge, protocol: 'HTTP', tags: { port: 'http' } }] },
  });
  const matches = [{ path: { match: 'PREFIX', value: '/' } }];
  const destinations = [{ destination: { 'kuma.io/service': 'api' }, weight: 1 }];
  await plane.put('/meshgatewayroutes/edge', {
    type: 'MeshGatewayRoute',
    name: 'edge',
    selectors,
    conf: { http: { rules: [{ matches, backends: destinations }] } },
  });
}

async function ask(port: number, path: string, headers: Record<string, string>): Promise<Answer> {
  return fetchOnce({ port, path, headers: { host: 'tried.test', ...headers } });
}
