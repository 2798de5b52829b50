/**
 * How long workers still ask a host after the failure that ejects it: the whole program with two
 * workers under requests without pause, one host of two answers 500. The host itself sees it: from
 * its answer that reaches the threshold to the last request that comes before the ejection ends.
 * Argument: how many ejections, 40 without.
 */
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { bootstrap, httpListener, staticCluster } from '../../test/support/parts/bootstrap.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';

const WORKERS = 2;
const CLIENTS = 16;
const THRESHOLD = 5;
/** Requests that come closer together belong to one ejection. */
const GAP_MS = 150;
const wanted = Number(process.argv[2] ?? 40);

interface Episode {
  readonly answeredMs: number[];
  lastMs: number;
}

const episodes: Episode[] = [];
const bad = createServer((_, response) => {
  const nowMs = performance.now();
  let episode = episodes.at(-1);
  if (episode === undefined || nowMs - episode.lastMs > GAP_MS) {
    episode = { answeredMs: [], lastMs: nowMs };
    episodes.push(episode);
  }
  episode.lastMs = nowMs;
  response.statusCode = 500;
  response.end('bad');
  episode.answeredMs.push(performance.now());
});
const good = createServer((_, response) => response.end('good'));
const ports: number[] = [];
for (const server of [bad, good]) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ports.push((server.address() as AddressInfo).port);
}

const sluice = await startSluice({
  concurrency: WORKERS,
  bootstrap: bootstrap({
    listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }])],
    clusters: [
      staticCluster('up', ports, {
        outlier_detection: {
          consecutive_5xx: THRESHOLD,
          interval: '0.2s',
          base_ejection_time: '0.3s',
          max_ejection_time: '0.3s',
          max_ejection_percent: 50,
        },
      }),
    ],
  }),
});
try {
  await ask(await sluice.listenerPort('web'));
} finally {
  await sluice.stop();
  bad.close();
  good.close();
}
report();

/** Until enough hosts were ejected. */
async function ask(port: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const client = async (): Promise<void> => {
    while (episodes.length <= wanted) {
      await new Promise<void>((resolve) => {
        get({ port, host: '127.0.0.1', path: '/', agent }, (response) => {
          response.resume().on('end', resolve);
        }).on('error', () => resolve());
      });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
}

function report(): void {
  const whole = episodes
    .slice(0, wanted)
    .filter(({ answeredMs }) => answeredMs.length >= THRESHOLD);
  const delays = whole
    .map(({ answeredMs, lastMs }) => Math.max(0, lastMs - (answeredMs[THRESHOLD - 1] ?? lastMs)))
    .toSorted((left, right) => left - right);
  const more = whole.map(({ answeredMs }) => answeredMs.length - THRESHOLD);
  const at = (share: number): string =>
    (delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0).toFixed(2);
  const average = more.reduce((sum, each) => sum + each, 0) / Math.max(1, more.length);
  process.stdout.write(
    `${whole.length} ejections, ${WORKERS} workers, ${CLIENTS} clients: still asked for ` +
      `p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, most ${at(1)} ms; requests beyond the threshold ` +
      `${average.toFixed(1)} on average, ${Math.max(...more)} at most\n`,
  );
}
