/**
 * How much later answers come while a cluster of 10,000 hosts is replaced again and again: the whole
 * program with hosts from a file, requests at a fixed pace to another cluster of the same worker, first
 * in quiet, then under updates in which ten hosts are others, then under updates in which all are.
 * Argument: seconds for each of the three, 10 without.
 */
import { writeFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { bootstrap, httpListener, staticCluster } from '../../test/support/bootstrap.ts';
import { fileSource } from '../../test/support/discovery-files.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { startSluice, type Sluice } from '../../test/support/sluice.ts';

const HOSTS = 10_000;
const UPDATE_INTERVAL_MS = 1000;
const PACE_MS = 2;
const POLICIES = ['ROUND_ROBIN', 'RING_HASH', 'MAGLEV'] as const;

const seconds = Number(process.argv[2] ?? 10);
const upstream = createServer((_, response) => response.end('well'));
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
for (const policy of POLICIES) await measure(policy);
upstream.close();

async function measure(policy: (typeof POLICIES)[number]): Promise<void> {
  using scratch = makeScratch();
  writeFileSync(scratch.file('eds.json'), JSON.stringify(assignment(0, HOSTS)));
  const { port } = upstream.address() as AddressInfo;
  const large = {
    name: 'large',
    type: 'EDS',
    lb_policy: policy,
    eds_cluster_config: { eds_config: fileSource(scratch.file('eds.json')) },
  };
  const sluice = await startSluice({
    concurrency: 1,
    bootstrap: bootstrap(
      {
        listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }])],
        clusters: [staticCluster('up', [port]), large],
      },
      { node: { id: 'bench', cluster: 'bench' } },
    ),
  });
  try {
    await run(policy, sluice, async (text) => {
      await writeFile(scratch.file('eds.new'), text);
      await rename(scratch.file('eds.new'), scratch.file('eds.json'));
    });
  } finally {
    await sluice.stop();
  }
}

async function run(
  policy: string,
  sluice: Sluice,
  put: (text: string) => Promise<void>,
): Promise<void> {
  const port = await sluice.listenerPort('web');
  await load(port, 2000);
  report(`${policy}: in quiet`, await load(port, seconds * 1000));
  for (const [what, changed] of [
    ['ten hosts are others', 10],
    ['all hosts are others', HOSTS],
  ] as const) {
    let round = 0;
    // Made before: what this process does between requests would count as their delay.
    const texts = [0, 1].map((parity) => JSON.stringify(assignment(parity, changed)));
    const timer = setInterval(() => void put(texts[++round % 2] ?? ''), UPDATE_INTERVAL_MS);
    const latencies = await load(port, seconds * 1000);
    clearInterval(timer);
    report(`${policy}: ${round} updates, ${what}`, latencies);
    await delay(UPDATE_INTERVAL_MS);
  }
  process.stdout.write(
    `${policy}: updates seen ${await sluice.stat('cluster.large.update_success')}\n`,
  );
}

/** Milliseconds, one each; requests begin at their pace whether earlier ones have ended or not. */
async function load(port: number, durationMs: number): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const latencies: number[] = [];
  const open: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let sent = 0; performance.now() - beganMs < durationMs; sent++) {
    const dueMs = beganMs + sent * PACE_MS;
    if (dueMs > performance.now()) await delay(dueMs - performance.now());
    const sentMs = performance.now();
    open.push(
      new Promise((resolve) => {
        get({ port, host: '127.0.0.1', path: '/', agent }, (response) => {
          latencies.push(performance.now() - sentMs);
          response.resume().on('end', resolve);
        }).on('error', () => resolve());
      }),
    );
  }
  await Promise.all(open);
  agent.destroy();
  return latencies;
}

function report(what: string, latencies: readonly number[]): void {
  const sorted = latencies.toSorted((left, right) => left - right);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2);
  process.stdout.write(
    `${what.padEnd(48)} p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, p99.9 ${at(0.999)} ms, most ${at(1)} ms\n`,
  );
}

/** The first `changed` hosts differ between an even and an odd round. */
function assignment(
  round: number,
  changed: number,
): { readonly version_info: string; readonly resources: readonly object[] } {
  const lb_endpoints = Array.from({ length: HOSTS }, (_, at) => ({
    endpoint: {
      address: {
        socket_address: {
          address: `127.${at < changed && round % 2 === 1 ? 2 : 1}.${at >> 8}.${at & 255}`,
          port_value: 80,
        },
      },
    },
  }));
  const resource = {
    '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
    cluster_name: 'large',
    endpoints: [{ lb_endpoints }],
  };
  return { version_info: String(round), resources: [resource] };
}
