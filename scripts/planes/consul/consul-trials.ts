/** Consul drives eight data planes: its features, and its authority changed under load. */
import tls from 'node:tls';
import { performance } from 'node:perf_hooks';
import { waitUntil } from '../../../test/support/wait.ts';
import { trialWithGo } from '../../programs/go-programs.ts';
import { check, passed, type Trial, type TrialOutcome } from '../../programs/trial.ts';
import type { DataPlane } from '../data-plane.ts';
import { startLoad } from '../load.ts';
import { startAgent } from './consul-agent.ts';
import { CONSUL_FEATURES, type ConsulFeature, Mesh } from './consul-features.ts';
import { PROXIES, writeObjects } from './consul-objects.ts';
import { type ConsulProxy, startProxy } from './consul-proxy.ts';
import { type ConsulWorld, startConsulWorld } from './consul-world.ts';

const PROBE_LIMIT_MS = 30_000;
const ROTATION_LIMIT_MS = 90_000;
const KEPT_OUTPUT = 1_500;

export function consulTrials(proxy: DataPlane): readonly Trial[] {
  const name = `Consul with ${proxy}`;
  return [
    trialWithGo(`${name}: consul features`, () => features(proxy)),
    trialWithGo(`${name}: consul authority`, () => rotation(proxy)),
  ];
}

interface Running extends AsyncDisposable {
  readonly mesh: Mesh;
  readonly world: ConsulWorld;
  readonly proxies: readonly ConsulProxy[];
}

async function start(proxy: DataPlane): Promise<Running> {
  const parts: AsyncDisposable[] = [];
  const stop = async (): Promise<void> => {
    for (const part of parts.toReversed()) await part[Symbol.asyncDispose]();
  };
  try {
    const world = await startConsulWorld();
    parts.push(world);
    const agent = await startAgent();
    parts.push(agent);
    await writeObjects(agent, world);
    const starts = await Promise.allSettled(PROXIES.map((id) => startProxy(agent, proxy, id)));
    const proxies = starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    parts.push(...proxies);
    for (const each of starts) if (each.status === 'rejected') throw each.reason;
    return { mesh: new Mesh(agent, world), world, proxies, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function features(proxy: DataPlane): Promise<TrialOutcome> {
  await using running = await start(proxy);
  const failures: string[] = [];
  for (const feature of CONSUL_FEATURES) {
    const failure = await probed(feature, running.mesh);
    if (failure !== undefined) failures.push(`${feature.name} (${failure})`);
  }
  const refused = await refusals(running.proxies);
  const said = `${failures.length} of ${CONSUL_FEATURES.length}: ${failures.join('; ')} ${refused}`;
  check(failures.length === 0, said);
  check(refused === '', refused);
  return passed(`${CONSUL_FEATURES.length} features of ${PROXIES.length} data planes`);
}

/** Undefined when it serves in time. */
async function probed(feature: ConsulFeature, mesh: Mesh): Promise<string | undefined> {
  let failure = '';
  const serves = (): Promise<boolean> =>
    feature.probe(mesh).then(
      () => true,
      (error: unknown) => {
        failure = error instanceof Error ? error.message : String(error);
        return false;
      },
    );
  try {
    await feature.change?.(mesh.agent);
    await waitUntil(feature.name, serves, PROBE_LIMIT_MS);
    return undefined;
  } catch {
    return failure;
  }
}

/** Updates that data planes refused, with what they said. */
async function refusals(proxies: readonly ConsulProxy[]): Promise<string> {
  const all: string[] = [];
  for (const proxy of proxies) {
    const refused = (await proxy.stats('update_rejected')).trim();
    if (refused !== '') all.push(`${proxy.id}: ${refused} ${proxy.output().slice(-KEPT_OUTPUT)}`);
  }
  return all.join('; ');
}

/** A new root certificate, then restarts of both ends, while requests run; none may fail. */
async function rotation(proxy: DataPlane): Promise<TrialOutcome> {
  await using running = await start(proxy);
  const { mesh, world, proxies } = running;
  for (const feature of CONSUL_FEATURES.slice(0, 2)) {
    const failure = await probed(feature, mesh);
    check(failure === undefined, `${feature.name}: ${failure}`);
  }
  const before = await issuerOf(world.ports.apiOne);
  const began = performance.now();
  await using load = startLoad(world.ports.apiAt);
  await mesh.agent.put('/connect/ca/configuration', {
    Provider: 'consul',
    Config: { PrivateKeyType: 'ec', PrivateKeyBits: 384 },
  });
  const isNew = async (): Promise<boolean> => (await issuerOf(world.ports.apiOne)) !== before;
  await waitUntil('certificates of the new authority', isNew, ROTATION_LIMIT_MS);
  const rotated = performance.now() - began;
  check(load.failures.length === 0, `before restarts: ${load.failures.join('; ')}`);
  if (proxy === 'sluice') {
    for (const id of ['api-1-sidecar-proxy', 'web-sidecar-proxy']) {
      await proxies.find((each) => each.id === id)?.restart();
      check(load.failures.length === 0, `restart of ${id}: ${load.failures.join('; ')}`);
    }
  }
  const { requests, failures } = load.end();
  check(failures.length === 0, `${failures.length} of ${requests} failed: ${failures.join('; ')}`);
  const refused = await refusals(proxies);
  check(refused === '', refused);
  const seconds = (rotated / 1000).toFixed(1);
  return passed(`${requests} requests, 0 failed; certificates of the new root after ${seconds} s`);
}

/** Of the certificate that a data plane shows. */
function issuerOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(JSON.stringify(socket.getPeerCertificate().issuer));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
