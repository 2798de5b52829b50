/**
 * `npm run bench:stats`: what a million statistics cost beside Envoy, within one run. Prints
 * each figure with what was wanted. Options: `--clusters N` (10000), `--starts N` (3), `--rounds N`
 * (5), `--seconds N` (5), `--pss-after N` (30, seconds after LIVE). Needs `wrk`, `nginx`, `curl`,
 * `taskset`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RecentLookups } from '../../../supervisor/stats/recent-lookups.ts';
import { isInstalled, LOAD_CORE, pinTree, PROXY_CORE, runPinned } from '../support/processes.ts';
import { startUpstream } from '../support/upstream.ts';
import { runWrk } from '../support/wrk.ts';
import {
  cpuSeconds,
  startBigServer,
  writeBigBootstrap,
  type BigServer,
  type Program,
} from './big-server.ts';
import { measurePage, readyP99, scrapeForever, slowReaderGrowth } from './scrape.ts';
import { median } from '../support/median.ts';

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '10000' },
    starts: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    'pss-after': { type: 'string', default: '30' },
  },
});
const [clusters, starts, rounds, seconds] = [
  Number(values.clusters),
  Number(values.starts),
  Number(values.rounds),
  Number(values.seconds),
];
const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'main.js');
const sluice: Program = { name: 'sluice', command: [process.execPath, MAIN], concurrency: 2 };
const envoy: Program = { name: 'envoy', command: ['envoy'], concurrency: 1 };
const hasReference = isInstalled('envoy');
const LISTENER_PORT = 18_200;
const UPSTREAM_PORT = 18_080;

/** Page, what of Envoy's time is wanted at most. */
const PAGES = [
  ['/stats/prometheus', 0.2],
  ['/stats', 0.5],
  ['/stats?format=json', 0.7],
  ['/stats?usedonly', 1],
] as const;

interface Figures {
  readonly liveMs: number;
  readonly pssMib: number;
  readonly pages: readonly {
    readonly ms: number;
    readonly cpuMs: number;
    readonly bytes: number;
  }[];
  readonly readyP99Ms: number;
  readonly slowReaderMib: number;
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-stats-'));
const place = { folder, port: LISTENER_PORT, upstreamPort: UPSTREAM_PORT };
const upstream = await startUpstream(folder, UPSTREAM_PORT);
try {
  const config = writeBigBootstrap(place, clusters);
  const reference = hasReference ? await measureServer(envoy, config) : undefined;
  printTable(await measureServer(sluice, config), reference);
  await printScrapedTraffic(config);
  await printPriceOfCounting();
  printLookups();
} finally {
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measureServer(program: Program, config: string): Promise<Figures> {
  const lives: number[] = [];
  for (let start = 1; start < starts; start++) {
    const server = await startBigServer(program, config);
    lives.push(server.liveMs);
    await server.stop();
  }
  const server = await startBigServer(program, config);
  try {
    lives.push(server.liveMs);
    await runWrk({ port: LISTENER_PORT, connections: 16, seconds: 1 });
    await delay(Number(values['pss-after']) * 1000);
    const pssMib = server.pssMib();
    const pages: Figures['pages'][number][] = [];
    for (const [path] of PAGES) pages.push(await measurePage(server, path, rounds));
    const scrapes = scrapeForever(server, '/stats/prometheus', 2);
    const readyP99Ms = await readyP99(server, seconds);
    await scrapes.stop();
    await delay(1000);
    const slowReaderMib = await slowReaderGrowth(server, '/stats/prometheus', seconds);
    return { liveMs: median(lives), pssMib, pages, readyP99Ms, slowReaderMib };
  } finally {
    await server.stop();
  }
}

function printTable(own: Figures, reference: Figures | undefined): void {
  const ratio = (name: string, unit: string, wanted: number, of: (figures: Figures) => number) => {
    if (reference === undefined) return print(name, `${of(own).toFixed(1)} ${unit}`);
    const value = of(own) / of(reference);
    const both = `${of(own).toFixed(1)} of ${of(reference).toFixed(1)} ${unit}`;
    print(name, both, { value, wanted, unit: 'of Envoy' });
  };
  ratio('exec to LIVE', 'ms', 0.6, ({ liveMs }) => liveMs);
  ratio('Pss of all processes', 'MiB', 0.75, ({ pssMib }) => pssMib);
  PAGES.forEach(([path, wanted], index) => {
    ratio(path, 'ms', wanted, ({ pages }) => pages[index]?.ms ?? 0);
    ratio(`${path}, CPU time`, 'ms', wanted, ({ pages }) => pages[index]?.cpuMs ?? 0);
  });
  const limit = (name: string, unit: string, wanted: number, of: (figures: Figures) => number) =>
    print(name, reference === undefined ? '' : `reference ${of(reference).toFixed(1)} ${unit}`, {
      value: of(own),
      wanted,
      unit,
    });
  limit('/ready p99 while two clients scrape', 'ms', 25, ({ readyP99Ms }) => readyP99Ms);
  limit('growth with a slow reader', 'MiB', 8, ({ slowReaderMib }) => slowReaderMib);
}

/**
 * The worker, its load and its upstream on one core; the supervisor and who scrapes on the other.
 */
async function printScrapedTraffic(config: string): Promise<void> {
  const server = await startBigServer({ ...sluice, concurrency: 1 }, config);
  try {
    pinTree(upstream.pid, PROXY_CORE);
    pinTree(server.pid, LOAD_CORE);
    for (const worker of server.workers) pinTree(worker, PROXY_CORE);
    const quiet: number[] = [];
    const scraped: number[] = [];
    for (let round = 0; round < 3; round++) {
      quiet.push(await p99OnWorkersCore());
      const scrapes = scrapeForever(server, '/stats/prometheus', 1);
      scraped.push(await p99OnWorkersCore());
      await scrapes.stop();
      await delay(500);
    }
    const value = median(scraped) / median(quiet);
    const both = `${median(scraped).toFixed(2)} of ${median(quiet).toFixed(2)} ms`;
    print('p99 of traffic while scraping', both, { value, wanted: 1.2, unit: 'of not scraping' });
  } finally {
    pinTree(upstream.pid, LOAD_CORE);
    await server.stop();
  }
}

async function p99OnWorkersCore(): Promise<number> {
  const words = ['wrk', '-t1', '-c8', `-d${seconds}s`, '--latency'];
  const output = await runPinned(PROXY_CORE, [...words, `http://127.0.0.1:${LISTENER_PORT}/`]);
  const [, number, unit = 'ms'] = /99%\s+([\d.]+)(us|ms|s)/.exec(output) ?? [];
  return Number(number) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? 1);
}

/** Processor time per request with all statistics on, and with all of them left out. */
async function printPriceOfCounting(): Promise<void> {
  const off = { stats_config: { stats_matcher: { reject_all: true } } };
  const configs = [writeBigBootstrap(place, 0), writeBigBootstrap(place, 0, off)] as const;
  const [on, without]: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round++) {
    on.push(await cpuPerRequest(configs[0]));
    without.push(await cpuPerRequest(configs[1]));
  }
  const [withAll, withNone] = [Math.min(...on), Math.min(...without)];
  const both = `${withAll.toFixed(2)} of ${withNone.toFixed(2)} µs of CPU per request`;
  print('all statistics on', both, {
    value: withAll / withNone,
    wanted: 1.05,
    unit: 'of all left out',
  });
}

async function cpuPerRequest(config: string): Promise<number> {
  const server: BigServer = await startBigServer({ ...sluice, concurrency: 1 }, config);
  try {
    const [worker = 0] = server.workers;
    pinTree(worker, PROXY_CORE);
    await runWrk({ port: LISTENER_PORT, connections: 64, seconds: 1 });
    const before = cpuSeconds(worker);
    const { requestsPerSecond } = await runWrk({ port: LISTENER_PORT, connections: 64, seconds });
    return ((cpuSeconds(worker) - before) * 1e6) / (requestsPerSecond * seconds);
  } finally {
    await server.stop();
  }
}

/** Names that come again and again, as those by response code do, and names that are ever new. */
function printLookups(): void {
  for (const [what, different] of [
    ['the same names', 100],
    ['ever new names', 5000],
  ] as const) {
    const lookups = new RecentLookups();
    const names = Array.from({ length: different }, (_, index) => `cluster.service_${index}.`);
    nanosecondsPerLookup(lookups, names);
    const off = nanosecondsPerLookup(lookups, names);
    lookups.enable();
    nanosecondsPerLookup(lookups, names);
    const value = nanosecondsPerLookup(lookups, names) - off;
    const judged = { value, wanted: 100, unit: 'ns' };
    print(`collecting lookups, ${what}`, `${off.toFixed(1)} ns without`, judged);
  }
}

/** The processor time of one lookup. */
function nanosecondsPerLookup(lookups: RecentLookups, names: readonly string[]): number {
  const count = 2_000_000;
  const begun = process.cpuUsage().user;
  for (let index = 0; index < count; index++) lookups.note(names[index % names.length] as string);
  return ((process.cpuUsage().user - begun) * 1000) / count;
}

function print(
  name: string,
  seen: string,
  judged?: { readonly value: number; readonly wanted: number; readonly unit: string },
): void {
  const verdict =
    judged === undefined
      ? ''
      : `${judged.value <= judged.wanted ? 'reached' : 'MISSED '} ` +
        `${judged.value.toFixed(2)} ${judged.unit} (${judged.wanted} wanted)`;
  console.log(`${name.padEnd(40)} ${verdict.padEnd(52)} ${seen}`);
}
