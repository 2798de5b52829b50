/**
 * Whether a gradual drain closes connections as Envoy does: `node
 * dist/scripts/bench/drain-curve.js`. One after the other drains under load; prints for each second
 * which percentage of the responses said `Connection: close`, and the largest difference. A second
 * with 2,000 responses is exact to two points.
 * Options: `--drain-time-s N` (30).
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { watchDrain, type DrainCurve } from '../../test/support/peers/drain-curve.ts';
import { okBootstrap } from '../../test/support/programs/epochs.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { EpochRow } from './support/epoch-row.ts';
import { isInstalled } from './support/processes.ts';

const { values } = parseArgs({ options: { 'drain-time-s': { type: 'string', default: '30' } } });
const drainTimeS = Number(values['drain-time-s']);
const main = `${import.meta.dirname}/../../src/main.js`;
const contenders = [
  { name: 'sluice', command: [process.execPath, main], port: 18_310, adminPort: 18_311 },
  { name: 'envoy', command: ['envoy'], port: 18_312, adminPort: 18_313 },
].filter(({ name }) => name === 'sluice' || isInstalled(name));

console.log(
  `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, node ${process.version}`,
);
const scratch = makeScratch();
const rows: EpochRow[] = [];
try {
  for (const { name, command, port, adminPort } of contenders) {
    const config = scratch.file(`${name}.json`);
    writeFileSync(config, JSON.stringify(okBootstrap(port, adminPort)));
    const words = ['--drain-time-s', String(drainTimeS), '--disable-hot-restart'];
    const row = new EpochRow({ command, config, adminPort, words });
    rows.push(row);
    await row.start(0);
  }
  // The listeners are closed at the end of the drain time.
  const curves: DrainCurve[] = [];
  for (const { port, adminPort } of contenders) {
    const target = { port, isKeptOnly: true };
    curves.push(await watchDrain({ target, adminPort }, drainTimeS - 1));
  }
  print(curves);
} finally {
  for (const row of rows) row.close();
  scratch[Symbol.dispose]();
}

function print(curves: readonly DrainCurve[]): void {
  console.log(['second', ...contenders.map(({ name }) => name)].join('\t'));
  let largest = 0;
  for (let second = 0; second < drainTimeS - 1; second += 1) {
    const shares = curves.map(({ seconds }) => percent(seconds[second]));
    largest = Math.max(largest, Math.abs((shares[0] ?? 0) - (shares[1] ?? shares[0] ?? 0)));
    console.log([second, ...shares.map((share) => share.toFixed(1))].join('\t'));
  }
  for (const [index, { answers, failures }] of curves.entries()) {
    console.log(`${contenders[index]?.name}: ${failures.length} of ${answers} requests failed`);
  }
  console.log(`largest difference: ${largest.toFixed(1)} points`);
}

function percent(second: DrainCurve['seconds'][number] | undefined): number {
  return second === undefined || second.answers === 0 ? 0 : (second.closing * 100) / second.answers;
}
