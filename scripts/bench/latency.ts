/**
 * How long do requests take at 70 % of the rate that Envoy can just carry? First that rate is
 * measured, then both get the same constant rate in turns, Sluice with one worker, each on one
 * core. Wanted: a p99 of at most 1.5 times Envoy's. Options: `--rounds N` (3), `--seconds N` (6),
 * `--rate N` instead of 70 %. About a minute: node dist/scripts/bench/latency.js
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { allContenders, type Contender, type Place } from './support/contenders.ts';
import type { OpenLoopResult } from './support/open-loop-main.ts';
import { runOpenLoop } from './support/open-loop.ts';
import { startUpstream } from './support/upstream.ts';
import { runWrk } from './support/wrk.ts';

const SHARE = 0.7;
const WANTED_RATIO = 1.5;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '6' },
    rate: { type: 'string' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'sluice-latency-'));
const upstreamPort = 18_080;
const upstream = await startUpstream(folder, upstreamPort);
const place: Place = { folder, port: 18_100, upstreamPort };
const contender = (wanted: Contender['kind']): Contender => {
  const found = allContenders().find(({ kind, missing }) => kind === wanted && !missing);
  if (found === undefined) throw new Error(`cannot compare: ${wanted} is not installed`);
  return found;
};
const [sluice, reference] = [contender('sluice'), contender('reference')];
try {
  const rate = values.rate === undefined ? SHARE * (await largestRate()) : Number(values.rate);
  console.log(`${Math.round(rate)} requests/s, 64 connections, latency from the moment due`);
  const results = new Map<Contender, OpenLoopResult[]>([
    [sluice, []],
    [reference, []],
  ]);
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [each, list] of results) list.push(await measure(each, rate));
  }
  for (const [each, list] of results) {
    for (const result of list) console.log(`  ${each.name.padEnd(8)} ${describe(result)}`);
  }
  const ratio = medianP99(results.get(sluice)) / medianP99(results.get(reference));
  const verdict = ratio <= WANTED_RATIO ? 'reached' : 'MISSED ';
  console.log(`${verdict} p99: ${ratio.toFixed(2)} x reference (${WANTED_RATIO} wanted)`);
} finally {
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function largestRate(): Promise<number> {
  const running = await reference.start(place);
  await runWrk({ port: place.port, connections: 64, seconds: 1 });
  const { requestsPerSecond } = await runWrk({ port: place.port, connections: 64, seconds: 4 });
  await running.stop();
  return requestsPerSecond;
}

async function measure(each: Contender, rate: number): Promise<OpenLoopResult> {
  const running = await each.start(place);
  try {
    // Code is compiled before it counts.
    await runWrk({ port: place.port, connections: 64, seconds: 2 });
    return await runOpenLoop(place.port, rate, Number(values.seconds));
  } finally {
    await running.stop();
  }
}

function describe({ sent, failed, p50Ms, p99Ms, p999Ms, maxMs }: OpenLoopResult): string {
  const times = [p50Ms, p99Ms, p999Ms, maxMs].map((ms) => ms.toFixed(2)).join(' / ');
  return `${sent} requests, ${failed} failed; p50 / p99 / p99.9 / max: ${times} ms`;
}

function medianP99(list: readonly OpenLoopResult[] = []): number {
  const sorted = list.map(({ p99Ms }) => p99Ms).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
