/** Envoy Gateway drives a data plane: one listener for each feature, changes under load, restarts. */
import { performance } from 'node:perf_hooks';
import { freePort } from '../../../test/support/free-port.ts';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { check, passed, type Trial, type TrialOutcome } from '../../programs/trial.ts';
import { trialWithGo } from '../../programs/go-programs.ts';
import { treeCpuMs, treePssKib } from '../../bench/support/processes.ts';
import type { DataPlane } from '../data-plane.ts';
import { startLoad } from '../load.ts';
import { type Feature, Probe } from './feature.ts';
import { type GatewayPlane, startGateway } from './gateway-plane.ts';
import { backend, gateway, httpRoute } from './objects.ts';
import { PROTOCOLS } from './protocols.ts';
import { ROUTING } from './routing.ts';
import { SECURITY } from './security.ts';
import { TRAFFIC } from './traffic.ts';
import { startWorld, type World } from './world.ts';

const FEATURES: readonly Feature[] = [...ROUTING, ...TRAFFIC, ...SECURITY, ...PROTOCOLS];
const PROBE_LIMIT_MS = 20_000;
const CHANGES = 100;
const COMPARED_CHANGES = 30;
const KIB_PER_MIB = 1024;

/** Compared with Envoy there are fewer changes, and no restart. */
export function gatewayTrials(proxy: DataPlane, isCompared: boolean): readonly Trial[] {
  const name = `Envoy Gateway with ${proxy}`;
  return [
    trialWithGo(`${name}: features`, async () => features(proxy)),
    trialWithGo(`${name}: changes`, async () => changes(proxy, isCompared)),
  ];
}

async function features(proxy: DataPlane): Promise<TrialOutcome> {
  const wanted = new Set((process.env['SLUICE_FEATURES'] ?? '').split(',').filter(Boolean));
  const tried = FEATURES.filter(({ name }) => wanted.size === 0 || wanted.has(name));
  await using world = await startWorld();
  const ports = await portsFor(tried);
  const listeners = tried.map(({ name, listener = { protocol: 'HTTP' } }) => ({
    name,
    port: ports.get(name),
    ...listener,
  }));
  const objects = tried.flatMap((feature) => feature.objects(world));
  await using plane = await startGateway(proxy, [gateway(listeners), ...hosts(world), ...objects]);
  const failures: string[] = [];
  for (const feature of tried) {
    const probe = new Probe(ports.get(feature.name) ?? 0, world);
    const failure = await probed(feature, probe);
    if (failure !== undefined) failures.push(`${feature.name} (${failure})`);
  }
  const refused = await plane.stats('update_rejected');
  check(
    failures.length === 0,
    `${failures.length} of ${tried.length}: ${failures.join('; ')} ${refused}`,
  );
  check(refused.trim() === '', refused);
  return passed(`${tried.length} features`);
}

/** By name, none twice: a free port may be given again. */
async function portsFor(tried: readonly Feature[]): Promise<ReadonlyMap<string, number>> {
  const ports = new Set<number>();
  while (ports.size < tried.length) ports.add(await freePort());
  const all = [...ports];
  return new Map(tried.map(({ name }, index) => [name, all[index] ?? 0]));
}

/** Undefined when the feature serves in time; listeners come one after the other. */
async function probed(feature: Feature, probe: Probe): Promise<string | undefined> {
  let failure = '';
  const serves = async (): Promise<boolean> => {
    try {
      await feature.probe(probe);
      return true;
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      return false;
    }
  };
  try {
    await waitUntil(feature.name, serves, PROBE_LIMIT_MS);
    return undefined;
  } catch {
    return failure;
  }
}

function hosts(world: World): readonly object[] {
  return [
    backend('web', world.web.port),
    backend('other', world.other.port),
    backend('both', world.web.port, world.other.port),
    backend('authz', world.authz.port),
    backend('authz-grpc', world.authzGrpc.port),
    backend('processor', world.processor.port),
    backend('echo', world.echo.port),
    backend('secure', world.securePort),
    backend('datagrams', world.datagrams.port),
  ];
}

/** Changes of a route under load, with a hot restart among them; no request may fail. */
async function changes(proxy: DataPlane, isCompared: boolean): Promise<TrialOutcome> {
  const total = isCompared ? COMPARED_CHANGES : CHANGES;
  const restarts = proxy === 'sluice' && !isCompared;
  await using world = await startWorld();
  const port = await freePort();
  const objects = (count: number): readonly object[] => [
    gateway([{ name: 'changed', port, protocol: 'HTTP' }]),
    ...hosts(world),
    httpRoute('changed', {
      filters: [
        {
          type: 'ResponseHeaderModifier',
          responseHeaderModifier: { set: [{ name: 'x-version', value: String(count) }] },
        },
      ],
    }),
  ];
  await using plane = await startGateway(proxy, objects(0));
  await waitUntil('the route', () => isVersion(port, 0));
  const usedBefore = treeCpuMs(plane.pid);
  await using load = startLoad(port);
  const times: number[] = [];
  for (let count = 1; count <= total; count++) {
    if (restarts && count === total / 2) await plane.restart();
    const before = performance.now();
    plane.apply('objects', objects(count));
    await waitUntil(`version ${count}`, () => isVersion(port, count));
    times.push(performance.now() - before);
  }
  const { requests, failures } = load.end();
  check(failures.length === 0, `${failures.length} of ${requests} failed: ${failures[0]}`);
  const refused = await refusals(plane, total);
  const cost = costOf(plane, treeCpuMs(plane.pid) - usedBefore, requests);
  return passed(`${requests} requests, 0 failed; ${refused}${median(times)}; ${cost}`);
}

/** The part of ended epochs is not in it. */
function costOf({ pid }: GatewayPlane, usedMs: number, requests: number): string {
  const memory = (treePssKib(pid) / KIB_PER_MIB).toFixed(0);
  return `${memory} MiB, ${((usedMs / requests) * 1000).toFixed(0)} ms of CPU for 1,000 requests`;
}

async function refusals(plane: GatewayPlane, total: number): Promise<string> {
  const refused = (await plane.stats('update_rejected')).trim();
  check(refused === '', refused);
  return `${total} changes, none refused, `;
}

function median(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(0);
  return `from file to effect ${at(0.5)} ms (95%: ${at(0.95)} ms)`;
}

async function isVersion(port: number, version: number): Promise<boolean> {
  const headers = { host: 'tried.test' };
  const answer = await fetchOnce({ port, headers }).catch(() => undefined);
  return answer?.headers['x-version'] === String(version);
}
