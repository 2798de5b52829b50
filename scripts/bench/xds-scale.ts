/**
 * What many clusters by a control plane cost: CDS and EDS over one incremental stream, from the start to
 * LIVE; the change of one endpoint until it is seen, memory, and listeners changed a thousand times:
 * `node dist/scripts/bench/xds-scale.js [clusters] [listener updates] [seconds]`. With a third number,
 * endpoints change 100 times a second under load for so long, too. With `envoy` on the path the same
 * is measured there, within the same run.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { httpListener, staticCluster } from '../../test/support/bootstrap.ts';
import {
  startControlPlane,
  typeUrlOf,
  type ControlPlane,
} from '../../test/support/control-plane.ts';
import { resource } from '../../test/support/discovery-files.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { ADMIN, MAIN } from '../../test/support/sluice.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { changesUnderLoad } from './xds-changes.ts';
import { treeDescriptors, treePssKib } from './processes.ts';

const clusters = Number(process.argv[2] ?? 10_000);
const listenerUpdates = Number(process.argv[3] ?? 1000);
const loadSeconds = Number(process.argv[4] ?? 0);
const LIMIT_MS = 180_000;
const CHANGES = 50;
const ADS = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '0s' };
const ENDPOINTS = 'endpoint.v3.ClusterLoadAssignment';
const LISTENER = 'listener.v3.Listener';

await measure('sluice', [process.execPath, MAIN]);
if (spawnSync('envoy', ['--version']).status === 0) await measure('envoy', ['envoy']);

async function measure(name: string, [program = '', ...words]: readonly string[]): Promise<void> {
  using scratch = makeScratch();
  await using control = await startControlPlane();
  const names = Array.from({ length: clusters }, (_, index) => `service_${index}`);
  control.set('cluster.v3.Cluster', '1', names.map(clusterOf));
  control.set(
    ENDPOINTS,
    '1',
    names.map((each) => resource.endpoints(each, [10_000])),
  );
  control.set(LISTENER, '1', [listenerOf('first')]);
  const config = scratch.file('bootstrap.json');
  const addressPath = scratch.file('admin');
  writeFileSync(config, JSON.stringify(bootstrapOf(control.port)));
  const options = ['-c', config, '--disable-hot-restart', '--concurrency', '1', '-l', 'off'];
  const own = ['--admin-address-path', addressPath, '--drain-time-s', '1'];
  const startedMs = performance.now();
  const server = spawn(program, [...words, ...options, ...own], { stdio: 'ignore' });
  try {
    const admin = await waitUntil('the admin', () => addressIn(addressPath), LIMIT_MS);
    await waitUntil('LIVE', async () => (await read(admin, '/ready')) === 'LIVE\n', LIMIT_MS);
    const liveMs = performance.now() - startedMs;
    const changeMs = await changeEndpoints(control);
    const pid = server.pid ?? 0;
    const memory = treePssKib(pid) / 1024;
    const leaks = await changeListeners(control, admin, pid);
    console.log(
      `${name}: ${clusters} clusters LIVE in ${liveMs.toFixed(0)} ms, one endpoint changed in ` +
        `${changeMs.toFixed(1)} ms (median of ${CHANGES}), ${memory.toFixed(0)} MiB; ${leaks}`,
    );
    if (loadSeconds === 0) return;
    const text = await changesUnderLoad({
      control,
      cluster: 'service_7',
      seconds: loadSeconds,
      folder: (each) => scratch.file(`${name}-${each}`),
      listenerPort: async () => await listenerPort(admin),
    });
    console.log(`${name}: ${text}`);
  } finally {
    server.kill('SIGKILL');
  }
}

/** From the change to its acknowledgement, which follows its application; the median in milliseconds. */
async function changeEndpoints(control: ControlPlane): Promise<number> {
  const times: number[] = [];
  const one = 'service_7';
  for (let change = 1; change <= CHANGES; change += 1) {
    const startedMs = performance.now();
    await acknowledged(control, () =>
      control.sendRaw({
        type_url: typeUrlOf(ENDPOINTS),
        resources: [
          {
            name: one,
            version: String(change),
            resource: resource.endpoints(one, [20_000 + change]),
          },
        ],
      }),
    );
    times.push(performance.now() - startedMs);
  }
  times.sort((left, right) => left - right);
  return times[CHANGES >> 1] ?? 0;
}

/** Resolves when the control plane has one request more. */
async function acknowledged(control: ControlPlane, send: () => void): Promise<void> {
  const before = control.requests.length;
  send();
  const startedMs = performance.now();
  while (control.requests.length === before && performance.now() - startedMs < LIMIT_MS) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What is open and used before and after. */
async function changeListeners(control: ControlPlane, admin: string, pid: number): Promise<string> {
  const update = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each += 1) {
      const version = `${count} ${each}`;
      await acknowledged(control, () => control.set(LISTENER, version, [listenerOf(version)]));
    }
    await waitUntil('the drains', async () => {
      return (await read(admin, '/stats?filter=_draining'))
        .split('\n')
        .every((line) => !/: [1-9]/.test(line));
    });
  };
  await update(Math.ceil(listenerUpdates / 10));
  const [descriptors, memory] = [treeDescriptors(pid), treePssKib(pid)];
  await update(listenerUpdates);
  const [descriptorsAfter, memoryAfter] = [treeDescriptors(pid), treePssKib(pid)];
  return (
    `${listenerUpdates} listener updates: ${descriptors} descriptors before, ${descriptorsAfter} after, ` +
    `${((memoryAfter - memory) / 1024).toFixed(1)} MiB more`
  );
}

function clusterOf(name: string): object {
  const eds = { eds_cluster_config: { eds_config: ADS } };
  return resource.cluster({ name, type: 'EDS', connect_timeout: '1s', ...eds });
}

function listenerOf(text: string): object {
  const action = { direct_response: { status: 200, body: { inline_string: text } } };
  return resource.listener(httpListener([{ match: { prefix: '/' }, ...action }]));
}

function bootstrapOf(port: number): object {
  return {
    node: { id: 'me', cluster: 'mine' },
    admin: ADMIN,
    static_resources: {
      clusters: [staticCluster('control', [port], { http2_protocol_options: {} })],
    },
    dynamic_resources: {
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: 'control' } }],
      },
      cds_config: ADS,
      lds_config: ADS,
    },
  };
}

async function listenerPort(admin: string): Promise<number | undefined> {
  const port = /:(\d+)\s*$/.exec(await read(admin, '/listeners'))?.[1];
  return port === undefined ? undefined : Number(port);
}

function addressIn(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined;
  }
}

async function read(admin: string, path: string): Promise<string> {
  try {
    return await (await fetch(`http://${admin}${path}`)).text();
  } catch {
    return '';
  }
}
