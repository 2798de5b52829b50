/**
 * What a filter in TypeScript costs: CPU time per request of whole proxies, in slices so short that
 * other work on the machine meets all of them alike. Sluice without a filter, with an empty module, and with
 * one that reads and sets two headers; Envoy without a filter, with the same in Lua, and with header_mutation.
 * Each of them runs in several processes, since no two are equally fast; what these differ by is printed.
 * `node dist/scripts/bench/scripts/script-cost.js [slices] [processes] [contenders]`. About a minute.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../test/support/free-port.ts';
import { allContenders } from '../support/contenders.ts';
import { median } from '../support/median.ts';
import { treeOf, type Running } from '../support/processes.ts';
import type { Question } from '../support/questions.ts';
import { startUpstream } from '../support/upstream.ts';
import { Burst } from './burst.ts';
import { scriptQuestions } from './script-questions.ts';

interface Row {
  readonly name: string;
  readonly running: Running;
  readonly burst: Burst;
  readonly pids: readonly number[];
  /** Microseconds per request, one number a slice. */
  readonly costs: number[];
}

const ROWS: readonly (readonly [contender: string, question?: string])[] = [
  ['sluice'],
  ['sluice', 'script-empty'],
  ['sluice', 'script-lua'],
  ['envoy'],
  ['envoy', 'script-lua'],
  ['envoy', 'script-mutation'],
];
/** Each row, and the one that it is compared with. */
const PAIRS: readonly (readonly [row: number, to: number, words: string])[] = [
  [1, 0, 'an empty module beside no filter'],
  [2, 0, 'a module with two headers beside no filter'],
  [2, 4, "the same beside Envoy's Lua"],
  [2, 5, "the same beside Envoy's header_mutation"],
];
const US_PER_NS = 1e-3;
const WARM_BURSTS = 60;

const [slices = '100', processes = '3', contenders = 'sluice,envoy'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sluice-cost-'));
const upstream = await startUpstream(folder, await freePort());
const rows: Row[] = [];
try {
  for (const [contender, name] of ROWS) {
    if (!contenders.split(',').includes(contender)) continue;
    const question = scriptQuestions.find((each) => each.name === name);
    for (let at = 0; at < Number(processes); at++) {
      const row = await start(contender, question);
      if (row !== undefined) rows.push(row);
    }
  }
  for (const { burst } of rows) for (let at = 0; at < WARM_BURSTS; at++) await burst.run();
  for (let slice = 0; slice < Number(slices); slice++) {
    // The next in the row begins each time.
    for (let at = 0; at < rows.length; at++) await measure(rows[(at + slice) % rows.length]);
  }
  report();
} finally {
  for (const { running, burst } of rows) {
    burst.close();
    await running.stop();
  }
  await upstream.stop();
  rmSync(folder, { recursive: true });
}

async function start(contender: string, question: Question | undefined): Promise<Row | undefined> {
  const found = allContenders().find((each) => each.name === contender);
  if (found === undefined || found.missing !== undefined) return undefined;
  const port = await freePort();
  const place = {
    port,
    upstreamPort: upstream.port,
    folder,
    isSluice: found.kind === 'sluice',
  };
  const filters = question?.filters?.(place);
  const running = await found.start({ ...place, ...(filters === undefined ? {} : { filters }) });
  const name =
    question === undefined ? `${contender}, no filter` : `${contender}, ${question.name}`;
  return { name, running, burst: new Burst(port), pids: treeOf(running.pid), costs: [] };
}

async function measure(row: Row | undefined): Promise<void> {
  if (row === undefined) return;
  const before = cpuNs(row.pids);
  const requests = await row.burst.run();
  row.costs.push(((cpuNs(row.pids) - before) * US_PER_NS) / requests);
}

function cpuNs(pids: readonly number[]): number {
  let sum = 0;
  for (const pid of pids) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const [ran] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
      sum += Number(ran);
    }
  }
  return sum;
}

function report(): void {
  const byName = new Map<string, Row[]>();
  for (const row of rows) byName.set(row.name, [...(byName.get(row.name) ?? []), row]);
  const costs = new Map<string, number>();
  for (const [name, same] of byName) {
    const medians = same.map((row) => median(row.costs));
    // The best of them was disturbed least.
    const cost = Math.min(...medians);
    costs.set(name, cost);
    const each = medians.map((us) => us.toFixed(1)).join(', ');
    console.log(`${name}: ${cost.toFixed(1)} us CPU per request (processes: ${each})`);
  }
  for (const [one, other, words] of PAIRS) {
    const [cost, beside] = [costs.get(nameOf(ROWS[one])), costs.get(nameOf(ROWS[other]))];
    if (cost === undefined || beside === undefined) continue;
    console.log(`${words}: ${(beside / cost).toFixed(3)} times as many requests for the CPU time`);
  }
}

function nameOf([contender, question]: (typeof ROWS)[number] = ['']): string {
  return `${contender}, ${question ?? 'no filter'}`;
}
