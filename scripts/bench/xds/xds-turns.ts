/**
 * How long one large update of each kind holds up the loops: 50,000 hosts whose weights all change,
 * in one and in twenty localities, or whose addresses do; 2,000 clusters; 20,000 routes; 300
 * listeners; 300 secrets. For each the longest turn of the supervisor and of its workers over some
 * updates, the first one (`first`) apart from those that follow: processor time of the main thread
 * (`turn`), without collections (`work`), the longest collection (`gc`), in milliseconds; and the
 * time until the update was acknowledged. `node dist/scripts/bench/xds/xds-turns.js [part of a
 * row's name] [updates]`
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { httpListener } from '../../../test/support/parts/bootstrap.ts';
import type { ControlPlane } from '../../../test/support/peers/control-plane.ts';
import { resource } from '../../../test/support/peers/discovery-files.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { certificateFiles } from '../support/certificates.ts';
import type { ProbeLine } from '../support/loop-probe-main.ts';
import { ADS, ENDPOINTS, LISTENER, programs, startFleet } from './xds-fleet.ts';

const CLUSTER = 'cluster.v3.Cluster';
const ROUTES = 'route.v3.RouteConfiguration';
const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';
/** The probe writes once a second. */
const PROBE_MS = 2100;
const ACKNOWLEDGED_MS = 120_000;

type Send = (control: ControlPlane, update: number) => void;

const ROWS: readonly { readonly name: string; readonly send: Send }[] = [
  { name: 'EDS: weights of 50,000 hosts', send: sendHosts(50_000, { localities: 1 }) },
  { name: 'EDS: the same in 20 localities', send: sendHosts(50_000, { localities: 20 }) },
  {
    name: 'EDS: addresses of 50,000 hosts',
    send: sendHosts(50_000, { localities: 1, hasOtherAddresses: true }),
  },
  { name: 'EDS: one of 50,000 hosts', send: sendHosts(50_000, { localities: 1, changed: 1 }) },
  { name: 'CDS: 2,000 clusters', send: sendClusters(2000) },
  { name: 'CDS: 2,000 clusters come and go', send: sendOtherClusters(2000) },
  { name: 'RDS: 20,000 routes', send: sendRoutes(20_000) },
  { name: 'LDS: 300 listeners', send: sendListeners(300) },
  { name: 'SDS: 300 secrets', send: sendSecrets(300) },
];

const part = process.argv[2] ?? '';
const updates = Number(process.argv[3] ?? 5);
using scratch = makeScratch();
const probe = scratch.file('probe');
process.env['BENCH_PROBE'] = probe;
const probeMain = join(import.meta.dirname, '..', 'support', 'loop-probe-main.js');
process.env['NODE_OPTIONS'] = `--import=${probeMain} ${process.env['NODE_OPTIONS'] ?? ''}`;
setPriority(10);
console.log(`${''.padEnd(34)}     supervisor           workers`);
console.log(`${''.padEnd(34)}  turn   work     gc   turn   work     gc   acknowledged`);
for (const { name, send } of ROWS) if (name.includes(part)) await measure(name, send);

async function measure(name: string, send: Send): Promise<void> {
  const [own] = programs();
  if (own === undefined) throw new Error('no program');
  const prepare = (control: ControlPlane): void => send(control, 0);
  await using fleet = await startFleet(own, 1, { prepare });
  await delay(PROBE_MS);
  const rows: { readonly lines: readonly ProbeLine[]; readonly ms: number }[] = [];
  for (let update = 1; update <= updates; update++) {
    const before = probeLines().length;
    const beganMs = performance.now();
    send(fleet.control, update);
    await fleet.control.quiet(ACKNOWLEDGED_MS);
    const ms = performance.now() - beganMs;
    await delay(PROBE_MS);
    rows.push({ lines: probeLines().slice(before), ms });
  }
  const refused = fleet.control.requests.find(({ error_detail: detail }) => detail !== undefined);
  if (refused !== undefined) console.log(`refused: ${refused.error_detail?.message ?? ''}`);
  print(`${name}, first`, rows.slice(0, 1), fleet.pid);
  print(name, rows.slice(1), fleet.pid);
}

function print(
  name: string,
  rows: readonly { readonly lines: readonly ProbeLine[]; readonly ms: number }[],
  pid: number,
): void {
  const lines = rows.flatMap((row) => row.lines);
  const most = (isSupervisor: boolean, of: (line: ProbeLine) => number): string =>
    Math.max(0, ...lines.filter((line) => (line.pid === pid) === isSupervisor).map(of))
      .toFixed(1)
      .padStart(6);
  const figures = [true, false].flatMap((isSupervisor) => [
    most(isSupervisor, ({ longestBlockCpuMs }) => longestBlockCpuMs),
    most(isSupervisor, ({ longestWorkMs }) => longestWorkMs),
    most(isSupervisor, ({ longestCollectionMs }) => longestCollectionMs),
  ]);
  const ms = Math.max(0, ...rows.map((row) => row.ms));
  console.log(`${name.padEnd(40)} ${figures.join(' ')} ${ms.toFixed(0).padStart(8)} ms`);
}

function probeLines(): readonly ProbeLine[] {
  if (!existsSync(probe)) return [];
  const lines = readFileSync(probe, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ProbeLine);
}

function sendHosts(
  count: number,
  {
    localities,
    hasOtherAddresses = false,
    changed = count,
  }: {
    readonly localities: number;
    readonly hasOtherAddresses?: boolean;
    readonly changed?: number;
  },
): Send {
  const perLocality = count / localities;
  return (control, update) => {
    const hostOf = (index: number): object => {
      const net = hasOtherAddresses ? 10 + update : 10;
      const address = `${net}.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
      const weight = 1 + ((index + (index < changed ? update : 0)) % 100);
      return {
        endpoint: { address: { socket_address: { address, port_value: 8080 } } },
        load_balancing_weight: weight,
      };
    };
    const endpoints = Array.from({ length: localities }, (_, locality) => ({
      locality: { region: 'r', zone: `z${locality}` },
      load_balancing_weight: 1,
      lb_endpoints: Array.from({ length: perLocality }, (_each, at) =>
        hostOf(locality * perLocality + at),
      ),
    }));
    const type = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';
    const assignment = { '@type': type, cluster_name: 'service_0', endpoints };
    control.set(ENDPOINTS, String(update), [assignment]);
  };
}

function clusterOf(name: string, seconds: number): object {
  const address = { socket_address: { address: '127.0.0.1', port_value: 10_000 } };
  const endpoints = [{ lb_endpoints: [{ endpoint: { address } }] }];
  const load_assignment = { cluster_name: name, endpoints };
  return resource.cluster({
    name,
    type: 'STATIC',
    connect_timeout: `${seconds}s`,
    load_assignment,
    circuit_breakers: { thresholds: [{ max_connections: 100 + seconds }] },
  });
}

function sendClusters(count: number): Send {
  return (control, update) => {
    const clusters = Array.from({ length: count }, (_, at) => clusterOf(`c_${at}`, 1 + update));
    control.set(CLUSTER, String(update), clusters);
  };
}

function sendOtherClusters(count: number): Send {
  return (control, update) => {
    const clusters = Array.from({ length: count }, (_, at) => clusterOf(`c_${update}_${at}`, 1));
    control.set(CLUSTER, String(update), clusters);
  };
}

function sendRoutes(count: number): Send {
  return (control, update) => {
    const manager = { rds: { route_config_name: 'many', config_source: ADS } };
    const listener = httpListener([], { hcm: { route_config: undefined, ...manager } });
    if (update === 0) control.set(LISTENER, '0', [resource.listener(listener)]);
    const routes = Array.from({ length: count }, (_, at) => ({
      match: at % 4 === 0 ? { path: `/service/${at}` } : { prefix: `/prefix/${at}/` },
      direct_response: { status: 200 + (update % 2) },
    }));
    control.set(ROUTES, String(update), [resource.routes('many', routes)]);
  };
}

function sendListeners(count: number): Send {
  return (control, update) => {
    const action = { direct_response: { status: 200, body: { inline_string: String(update) } } };
    const listeners = Array.from({ length: count }, (_, at) =>
      resource.listener({
        ...httpListener([{ match: { prefix: '/' }, ...action }], { name: `l_${at}` }),
      }),
    );
    control.set(LISTENER, String(update), listeners);
  };
}

function sendSecrets(count: number): Send {
  return (control, update) => {
    const files = certificateFiles(scratch.path, 'ecdsa');
    const [chain, key] = [files.chain, files.key].map((path) => readFileSync(path, 'utf8'));
    const sds = (name: string): object => ({ name, sds_config: ADS });
    const clusters = Array.from({ length: count }, (_, at) => {
      const common_tls_context = { tls_certificate_sds_secret_configs: [sds(`s_${at}`)] };
      const type = 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
      const typed_config = { '@type': `type.googleapis.com/${type}`, common_tls_context };
      return { ...clusterOf(`c_${at}`, 1), transport_socket: { name: 'tls', typed_config } };
    });
    if (update === 0) control.set(CLUSTER, '0', clusters);
    const secrets = Array.from({ length: count }, (_, at) => ({
      '@type': `type.googleapis.com/${SECRET}`,
      name: `s_${at}`,
      tls_certificate: {
        certificate_chain: { inline_string: `${chain}\n# ${update}\n` },
        private_key: { inline_string: key },
      },
    }));
    control.set(SECRET, String(update), secrets);
  };
}
