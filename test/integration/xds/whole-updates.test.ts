import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { describe, it } from 'node:test';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };
const UPDATES = 15;
/**
 * Connections, each of which stays with one worker; that all go to the same one of two has no
 * chance.
 */
const LANES = 16;

/**
 * What one answer says of the version at four places of the routes, and of that of the endpoints.
 */
interface Seen {
  readonly routes: readonly string[];
  readonly endpoints: number;
}

const added = (name: string, value: string): object => ({
  response_headers_to_add: [{ header: { key: name, value } }],
});

/** Every level of the configuration names the version. */
function routesOf(version: number): object {
  const route = {
    match: { prefix: '/' },
    route: { cluster: 'service' },
    ...added('x-route', `${version}`),
  };
  const host = { name: 'all', domains: ['*'], routes: [route], ...added('x-host', `${version}`) };
  return {
    ...resource.routes('rc', []),
    virtual_hosts: [host],
    response_headers_to_add: [
      { header: { key: 'x-routes', value: `${version}` } },
      { header: { key: 'x-set', value: '%UPSTREAM_METADATA(["envoy.lb", "set"])%' } },
    ],
    request_headers_to_add: [{ header: { key: 'x-asked', value: `${version}` } }],
  };
}

/** Every host of a set names the version. */
function endpointsOf(version: number, ports: readonly number[]): object {
  const metadata = { filter_metadata: { 'envoy.lb': { set: `${version}` } } };
  const { endpoints = [], ...rest } = resource.endpoints('service', ports) as {
    readonly endpoints?: readonly { readonly lb_endpoints: readonly object[] }[];
  };
  const marked = endpoints.map(({ lb_endpoints: hosts }) => ({
    lb_endpoints: hosts.map((host) => ({ ...host, metadata })),
  }));
  return { ...rest, endpoints: marked };
}

async function ask(agent: Agent, port: number): Promise<Seen> {
  return await new Promise((resolve, reject) => {
    const asked = get({ agent, host: '127.0.0.1', port }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('error', reject).on('end', () => {
        const { headers } = response;
        const routes = ['x-route', 'x-host', 'x-routes'].map((name) => String(headers[name]));
        resolve({ routes: [...routes, body], endpoints: Number(headers['x-set']) });
      });
    });
    asked.on('error', reject);
  });
}

/** `due`: what the admin interface told of before the request was sent. */
function faultsOf(seen: Seen, last: Seen, due: number): readonly string[] {
  const version = Number(seen.routes[0]);
  const faults: string[] = [];
  if (new Set(seen.routes).size !== 1) faults.push(`half of an update: ${seen.routes.join(' ')}`);
  if (!(version >= due)) faults.push(`routes ${version} when ${due} were in force`);
  if (!(version >= Number(last.routes[0]))) faults.push(`routes ${version} again`);
  if (!(seen.endpoints >= last.endpoints)) faults.push(`endpoints ${seen.endpoints} again`);
  return faults;
}

/** The version of the routes that the admin interface says are in force. */
async function inForce(sluice: Sluice): Promise<number> {
  const { body } = await sluice.admin('/config_dump?resource=dynamic_route_configs');
  const { configs = [] } = JSON.parse(body) as { configs?: { version_info: string }[] };
  return Number(configs[0]?.version_info);
}

describe('updates of routes and endpoints under the requests of two workers', () => {
  it('are seen whole, in order, and nowhere late once the admin interface has told of them', async () => {
    const echo = async (): ReturnType<typeof startHttpUpstream> =>
      await startHttpUpstream((request, response) => response.end(request.headers['x-asked']));
    await using first = await echo();
    await using second = await echo();
    const ports = [first.port, second.port];
    await using control = await startControlPlane();
    const set = (version: number): void => {
      control.set('endpoint.v3.ClusterLoadAssignment', `${version}`, [endpointsOf(version, ports)]);
      control.set('route.v3.RouteConfiguration', `${version}`, [routesOf(version)]);
    };
    const eds = { type: 'EDS', eds_cluster_config: { eds_config: ADS } };
    control.set('cluster.v3.Cluster', '1', [
      resource.cluster({ name: 'service', connect_timeout: '1s', ...eds }),
    ]);
    const hcm = { route_config: undefined, rds: { config_source: ADS, route_config_name: 'rc' } };
    control.set('listener.v3.Listener', '1', [resource.listener(httpListener([], { hcm }))]);
    set(1);
    await using sluice = await startSluice({
      bootstrap: adsBootstrap(control.port, { apiType: 'GRPC', hasCds: true }),
      concurrency: 2,
    });
    const port = await sluice.listenerPort('web');
    let told = 1;
    let isOver = false;
    const lane = async (): Promise<readonly string[]> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const faults: string[] = [];
      let last: Seen = { routes: ['1'], endpoints: 1 };
      const look = async (): Promise<void> => {
        const due = told;
        const seen = await ask(agent, port);
        faults.push(...faultsOf(seen, last, due));
        last = seen;
      };
      while (!isOver) await look();
      await look();
      agent.destroy();
      return [...faults, ...(last.endpoints === UPDATES ? [] : ['the last endpoints are missing'])];
    };
    const lanes = Promise.all(Array.from({ length: LANES }, lane));
    for (let version = 2; version <= UPDATES; version += 1) {
      set(version);
      await waitUntil('the update', async () => (await inForce(sluice)) === version);
      told = version;
    }
    await waitUntil('a request at each worker', async () => {
      const { body } = await sluice.admin('/stats?filter=worker_.*downstream_cx_total');
      return [0, 1].every((worker) => new RegExp(`worker_${worker}\\..*: [1-9]`).test(body));
    });
    isOver = true;
    assert.deepEqual((await lanes).flat(), []);
  });
});
