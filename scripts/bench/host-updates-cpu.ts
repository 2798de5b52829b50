/**
 * What an update of 10,000 hosts costs each process of the whole program, by the way it comes: a
 * file, REST, an incremental stream. CPU time by thread, and the longest time for which a loop was
 * held up. Arguments: updates of each kind (20 without), then the ways (all without), each with a
 * policy of the cluster where it is to be another than ROUND_ROBIN: `file:MAGLEV`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bootstrap, staticCluster } from '../../test/support/parts/bootstrap.ts';
import { startControlPlane } from '../../test/support/peers/control-plane.ts';
import { fileSource, moveIntoPlace } from '../../test/support/peers/discovery-files.ts';
import { makeScratch, type Scratch } from '../../test/support/scratch.ts';
import { startSluice, type Sluice } from '../../test/support/programs/sluice.ts';
import { CHANGES, HOSTS, largeAssignment } from './support/large-assignment.ts';
import type { ProbeLine } from './support/loop-probe-main.ts';
import { threadTimes, treeOf, usedBetween } from './support/processes.ts';

const UPDATE_INTERVAL_MS = 500;
const PROBE = join(import.meta.dirname, 'support', 'loop-probe-main.js');
const TYPE = 'endpoint.v3.ClusterLoadAssignment';

interface Way {
  readonly source: object;
  readonly clusters: readonly object[];
  put(resource: object, version: string): void;
  close(): Promise<void>;
}

const WAYS: Readonly<Record<string, (scratch: Scratch) => Promise<Way>>> = {
  file: byFile,
  rest: byRest,
  delta: byStream,
};

const [count = '20', ...only] = process.argv.slice(2);
for (const name of only.length === 0 ? Object.keys(WAYS) : only) {
  const make = WAYS[name.split(':')[0] ?? ''];
  if (make === undefined) throw new Error(`no way ${name}`);
  await measure(name, make);
}

async function measure(name: string, make: (scratch: Scratch) => Promise<Way>): Promise<void> {
  using scratch = makeScratch();
  const way = await make(scratch);
  way.put(largeAssignment(0, HOSTS), '0');
  const probe = scratch.file('probe');
  const lb_policy = name.split(':')[1] ?? 'ROUND_ROBIN';
  const eds_cluster_config = { eds_config: way.source };
  const large = { name: 'large', type: 'EDS', lb_policy, eds_cluster_config };
  const node = { node: { id: 'bench', cluster: 'bench' } };
  const sluice = await startSluice({
    bootstrap: bootstrap({ listeners: [], clusters: [...way.clusters, large] }, node),
    env: {
      NODE_OPTIONS: `--import=${PROBE} ${process.env['NODE_OPTIONS'] ?? ''}`,
      BENCH_PROBE: probe,
    },
  });
  try {
    for (const { what, changed } of CHANGES) {
      await report(`${name}, ${what}`, sluice, probe, (round) =>
        way.put(largeAssignment(round, changed), `${changed} ${round}`),
      );
    }
  } finally {
    await sluice.stop();
    await way.close();
  }
}

async function report(
  what: string,
  sluice: Sluice,
  probe: string,
  put: (round: number) => void,
): Promise<void> {
  const success = 'cluster.large.update_success';
  const updates = Number(count);
  // The first ones are what the code is compiled for.
  const update = async (round: number): Promise<void> => {
    const seen = await sluice.stat(success);
    put(round);
    do await delay(UPDATE_INTERVAL_MS);
    while ((await sluice.stat(success)) === seen);
  };
  for (let round = 1; round <= 6; round++) await update(round);
  const seen = await sluice.stat(success);
  const lines = existsSync(probe) ? readFileSync(probe, 'utf8').length : 0;
  const before = threadTimes(sluice.pid);
  for (let round = 1; round <= updates; round++) await update(round);
  const applied = (await sluice.stat(success)) - seen;
  await delay(1000);
  const after = threadTimes(sluice.pid);
  const probed = readFileSync(probe, 'utf8')
    .slice(lines)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ProbeLine);
  for (const pid of treeOf(sluice.pid)) {
    const own = probed.filter((line) => line.pid === pid);
    const [first] = own;
    if (first === undefined) continue;
    const used = usedBetween([before, after], pid);
    const times = Object.entries(used).map(([kind, ms]) => `${kind} ${(ms / applied).toFixed(1)}`);
    const collections = own.reduce((sum, line) => sum + line.collectionsMs, 0) / applied;
    const longest = own.map((line) => line.longestBlockMs).toSorted((a, b) => b - a);
    process.stdout.write(
      `${what.padEnd(28)} ${first.isWorker ? 'worker    ' : 'supervisor'} CPU ms per update: ${times.join(', ')}; ` +
        `collections ${collections.toFixed(1)}; longest block ${longest[0]?.toFixed(1)} ms, ` +
        `median second ${longest[longest.length >> 1]?.toFixed(1)} ms (${applied} updates)\n`,
    );
  }
}

function byFile(scratch: Scratch): Promise<Way> {
  return Promise.resolve({
    source: fileSource(scratch.file('eds.json')),
    clusters: [],
    put: (resource, version) =>
      moveIntoPlace(scratch, 'eds.json', { version, resources: [resource] }),
    close: () => Promise.resolve(),
  });
}

async function byRest(): Promise<Way> {
  let body = '';
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    source: {
      resource_api_version: 'V3',
      api_config_source: {
        api_type: 'REST',
        transport_api_version: 'V3',
        cluster_names: ['control'],
        refresh_delay: '0.2s',
      },
    },
    clusters: [staticCluster('control', [port])],
    put: (resource, version) => {
      body = JSON.stringify({ version_info: version, resources: [resource] });
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

async function byStream(): Promise<Way> {
  const control = await startControlPlane();
  return {
    source: {
      resource_api_version: 'V3',
      api_config_source: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'control' } }],
      },
    },
    clusters: [staticCluster('control', [control.port], { http2_protocol_options: {} })],
    put: (resource, version) => control.set(TYPE, version, [resource]),
    close: () => control[Symbol.asyncDispose](),
  };
}
