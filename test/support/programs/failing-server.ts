/** One server in which everything that asks a service has one listener for each failure of its service. */
import { writeFileSync } from 'node:fs';
import {
  FAILURES,
  type FailingService,
  type Protocol,
  startFailing,
} from '../peers/hostile/failing-services.ts';
import { attackRandom, attackRuns } from '../attack.ts';
import { fileSource, moveIntoPlace, resource } from '../peers/discovery-files.ts';
import { fetchOnce } from '../peers/http-client.ts';
import { openRaw } from '../peers/raw-client.ts';
import { grpcCluster } from '../peers/services/asked-services.ts';
import { startHttpUpstream, startRawUpstream } from '../peers/upstream.ts';
import { type AskingPart, NAME, SCRIPT_FILE, type Trouble } from '../asking/asking-part.ts';
import { ASKING_PARTS, PART_SECRETS, SCRIPT } from '../asking/asking-parts.ts';
import { sinkFor } from '../asking/telemetry-parts.ts';
import { bootstrap, GREETING, httpListener, staticCluster } from '../parts/bootstrap.ts';
import { filterListener, tcpProxyFilter } from '../parts/tcp-listener.ts';
import { makeScratch, type Scratch } from '../scratch.ts';
import { startSluice, type Sluice } from './sluice.ts';

export const TROUBLES: readonly Trouble[] = [...FAILURES, 'leaving', 'gone'];
/** In the short form every part meets one trouble, which the seed chooses, and every trouble some parts. */
const SHARE = attackRuns(TROUBLES.length, 1);
const FIRST = Math.floor(attackRandom()() * SHARE);
/** How the services of sinks fail: all ways, or a third of them. */
const SINK_FAILURES = FAILURES.filter((_, index) => (index + FIRST) % attackRuns(3, 1) === 0);
/** Of the bootstrap: `up`, `echo` and those of services, for each protocol. */
const STATIC_CLUSTERS = 2 + 2 * (FAILURES.length + SINK_FAILURES.length);

/** What is asked while its service has this trouble. */
export function partsWith(trouble: Trouble): readonly AskingPart[] {
  const at = TROUBLES.indexOf(trouble);
  return ASKING_PARTS.filter((_, index) => (index + at) % SHARE === FIRST);
}

const PROTOCOLS: readonly Protocol[] = ['http', 'grpc'];
const ROUTER = {
  name: 'router',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
  },
};
const ACTIONS = [{ generic_key: { descriptor_value: 'all' } }];
/** Of two stages. */
const RATE_LIMITS = [{ actions: ACTIONS }, { stage: 1, actions: ACTIONS }];

export interface Question {
  readonly part: AskingPart;
  readonly trouble: Trouble;
  readonly status: number;
  readonly ms: number;
}

export interface FailingServer {
  readonly sluice: Sluice;
  readonly services: ReadonlyMap<string, FailingService>;
  /** One client at each listener at once; the clusters that leave do so while they are asked. */
  askAll(): Promise<readonly Question[]>;
  /** Takes away all listeners that ask somebody. */
  removeListeners(): Promise<void>;
  /** A request that asks no service. */
  askPlain(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

const clusterOf = (trouble: Trouble, protocol: Protocol): string => `${trouble}-${protocol}`;
export const nameOf = (part: AskingPart, trouble: Trouble): string => `${part.name}-${trouble}`;

/** The listener of a part; a module of scripts is written beside the configuration. */
function listenerFor(part: AskingPart, trouble: Trouble, scratch: Scratch): object {
  const name = nameOf(part, trouble);
  const made = JSON.stringify(plainListenerFor(part, clusterOf(trouble, part.protocol), name))
    .replaceAll(JSON.stringify(NAME), JSON.stringify(name))
    .replaceAll(JSON.stringify(SCRIPT_FILE), JSON.stringify(scratch.file('script.ts')));
  return JSON.parse(made) as object;
}

const isTcp = (part: AskingPart): boolean => part.network !== undefined || part.tcp !== undefined;

function plainListenerFor(part: AskingPart, cluster: string, name: string): object {
  if (isTcp(part)) {
    const filters = part.network === undefined ? [] : [part.network(cluster)];
    const proxy = tcpProxyFilter({ cluster: 'echo', ...part.tcp?.(cluster) });
    return filterListener([...filters, proxy], { name });
  }
  const route = { cluster: 'up', rate_limits: RATE_LIMITS };
  const http_filters = part.http === undefined ? [ROUTER] : [part.http(cluster), ROUTER];
  return httpListener([{ match: { prefix: '/' }, route }], {
    name,
    statPrefix: name,
    hcm: { http_filters, ...part.hcm?.(cluster) },
  });
}

function failingBootstrap(ports: ReadonlyMap<string, number>, scratch: Scratch): object {
  const clusters = PROTOCOLS.flatMap((protocol) => [
    ...FAILURES.map((failure) => clusterFor(failure, protocol, ports)),
    ...SINK_FAILURES.map((failure) => clusterFor(failure, protocol, ports, 'sink-')),
  ]);
  const audience = 'type.googleapis.com/envoy.extensions.filters.http.gcp_authn.v3.Audience';
  const metadata = {
    typed_filter_metadata: {
      'envoy.filters.http.gcp_authn': { '@type': audience, url: 'http://audience' },
    },
  };
  const up = staticCluster('up', [ports.get('up') ?? 0], { metadata, connect_timeout: '20s' });
  const echo = staticCluster('echo', [ports.get('echo') ?? 0], { connect_timeout: '20s' });
  const plain = httpListener(GREETING, { name: 'plain', statPrefix: 'plain' });
  const made = bootstrap({ listeners: [plain], clusters: [...clusters, up, echo] });
  const { static_resources } = made as { static_resources: object };
  return {
    ...made,
    static_resources: { ...static_resources, secrets: PART_SECRETS },
    node: { id: 'n', cluster: 'c' },
    dynamic_resources: {
      cds_config: fileSource(scratch.file('clusters.json')),
      lds_config: fileSource(scratch.file('listeners.json')),
    },
    stats_flush_interval: '0.2s',
    stats_sinks: SINK_FAILURES.flatMap((failure) =>
      PROTOCOLS.map((protocol) => sinkFor(`sink-${clusterOf(failure, protocol)}`, protocol)),
    ),
    layered_runtime: {
      layers: [
        {
          name: 'flushes',
          static_layer: {
            'tracing.zipkin.min_flush_spans': 1,
            'tracing.opentelemetry.min_flush_spans': 1,
          },
        },
      ],
    },
  };
}

function clusterFor(
  trouble: Trouble,
  protocol: Protocol,
  ports: ReadonlyMap<string, number>,
  prefix = '',
): object {
  const service = clusterOf(trouble, protocol);
  const name = `${prefix}${service}`;
  // Where a cluster is taken away, its host never answers.
  const port = ports.get(service) ?? ports.get(clusterOf('silent', protocol)) ?? 0;
  return protocol === 'http' ? staticCluster(name, [port]) : grpcCluster(name, port);
}

/** All listeners that ask somebody, or none. */
function putListeners(scratch: Scratch, version: number, isThere: boolean): void {
  const listeners = TROUBLES.flatMap((trouble) =>
    partsWith(trouble).map((part) => resource.listener(listenerFor(part, trouble, scratch))),
  );
  const resources = isThere ? listeners : [];
  moveIntoPlace(scratch, 'listeners.json', { version: String(version), resources });
}

/** The clusters of these troubles are there, and no others of the file. */
function putClusters(
  scratch: Scratch,
  ports: ReadonlyMap<string, number>,
  version: number,
  troubles: readonly Trouble[],
): void {
  const resources = troubles.flatMap((trouble) =>
    PROTOCOLS.map((protocol) => resource.cluster(clusterFor(trouble, protocol, ports))),
  );
  moveIntoPlace(scratch, 'clusters.json', { version: String(version), resources });
}

/** What a client of a TCP listener gets: 200 for its own bytes, 0 for an end. */
async function askNetwork(port: number): Promise<number> {
  const connection = await openRaw(port);
  connection.send('ping');
  const status = await connection.until('ping').then(
    () => 200,
    () => 0,
  );
  connection.destroy();
  return status;
}

/** Comes back from the authorization server with a code. */
async function logIn(port: number): Promise<number> {
  const headers = { host: 'app.test' };
  const sent = await fetchOnce({ port, headers });
  const target = new URL(String(sent.headers['location']));
  const state = target.searchParams.get('state') ?? '';
  const given = sent.headers['set-cookie'] ?? [];
  const cookie = given.map((text) => text.split(';')[0]).join('; ');
  const path = `/callback?code=c&state=${encodeURIComponent(state)}`;
  return (await fetchOnce({ port, path, headers: { ...headers, cookie } })).status;
}

async function statusOf(part: AskingPart, port: number): Promise<number> {
  if (isTcp(part)) return await askNetwork(port);
  return part.name === 'login'
    ? await logIn(port)
    : (await fetchOnce({ port, headers: part.headers ?? {} })).status;
}

async function askPart(part: AskingPart, trouble: Trouble, port: number): Promise<Question> {
  const began = performance.now();
  const status = await statusOf(part, port).catch(() => -1);
  return { part, trouble, status, ms: performance.now() - began };
}

export async function startFailingServer(): Promise<FailingServer> {
  const scratch = makeScratch();
  const services = new Map<string, FailingService>();
  for (const protocol of PROTOCOLS) {
    for (const failure of FAILURES) {
      services.set(clusterOf(failure, protocol), await startFailing(failure, protocol));
    }
  }
  const up = await startHttpUpstream();
  const echo = await startRawUpstream((socket) => socket.on('data', (data) => socket.write(data)));
  const ports = new Map([...services].map(([name, { port }]) => [name, port]));
  ports.set('up', up.port).set('echo', echo.port);
  let version = 0;
  writeFileSync(scratch.file('script.ts'), SCRIPT);
  putClusters(scratch, ports, ++version, ['leaving', 'gone']);
  putListeners(scratch, ++version, true);
  const sluice = await startSluice({
    scratch,
    bootstrap: failingBootstrap(ports, scratch),
    args: ['--script-folders', scratch.path],
  });
  const { body } = await sluice.admin('/listeners?format=json');
  const listening = portsOf(body);
  const portOf = (name: string): number => listening.get(name) ?? 0;
  const ask = (troubles: readonly Trouble[]): Promise<Question>[] =>
    troubles.flatMap((trouble) =>
      partsWith(trouble).map((part) => askPart(part, trouble, portOf(nameOf(part, trouble)))),
    );
  const clustersAre = async (wanted: number): Promise<unknown> =>
    await sluice.waitForStat('cluster_manager.active_clusters', (count) => count === wanted);
  const askAll = async (): Promise<readonly Question[]> => {
    putClusters(scratch, ports, ++version, ['leaving', 'gone']);
    await clustersAre(STATIC_CLUSTERS + 4);
    const asking = ask(FAILURES);
    const before = await sluice.stat('cluster.leaving-grpc.upstream_rq_total');
    const leaving = ask(['leaving']);
    await sluice.waitForStat('cluster.leaving-grpc.upstream_rq_total', (count) => count > before);
    putClusters(scratch, ports, ++version, []);
    await clustersAre(STATIC_CLUSTERS);
    const gone = ask(['gone']);
    return Promise.all([...asking, ...leaving, ...gone]);
  };
  return {
    sluice,
    services,
    askAll,
    removeListeners: async () => {
      putListeners(scratch, ++version, false);
      await sluice.waitForStat('listener_manager.total_listeners_active', (count) => count === 1);
    },
    askPlain: async () => (await fetchOnce({ port: portOf('plain') })).status,
    [Symbol.asyncDispose]: async () => {
      await sluice[Symbol.asyncDispose]();
      for (const party of [...services.values(), up, echo]) await party[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}

interface Listed {
  readonly listener_statuses: readonly {
    readonly name: string;
    readonly local_address: { readonly socket_address: { readonly port_value: number } };
  }[];
}

function portsOf(page: string): ReadonlyMap<string, number> {
  const { listener_statuses } = JSON.parse(page) as Listed;
  return new Map(
    listener_statuses.map(({ name, local_address }) => [
      name,
      local_address.socket_address.port_value,
    ]),
  );
}
