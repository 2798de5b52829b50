/**
 * What a filter in TypeScript costs: CPU time per request of whole proxies, in turns so short that
 * other work on the machine meets all of them alike. Sluice without a filter, with an empty module, and with
 * one that reads and sets two headers; Envoy without a filter, with the same in Lua, and with header_mutation.
 * `node dist/scripts/bench/scripts/script-cost.js [turns] [seconds per turn]`. About 2 minutes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../test/support/free-port.ts';
import { allContenders } from '../support/contenders.ts';
import { median } from '../support/median.ts';
import { threadTimes, type Running, type ThreadTimes } from '../support/processes.ts';
import type { Question } from '../support/questions.ts';
import { startUpstream } from '../support/upstream.ts';
import { runWrk } from '../support/wrk.ts';
import { scriptQuestions } from './script-questions.ts';

interface Row {
  readonly name: string;
  readonly port: number;
  readonly running: Running;
  /** Microseconds per request, one number a turn. */
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
const CONNECTIONS = 64;
const US_PER_MS = 1_000;
const WARM_SECONDS = 3;

const [turns = '16', seconds = '0.5'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sluice-cost-'));
const upstream = await startUpstream(folder, await freePort());
const rows: Row[] = [];
try {
  for (const [contender, name] of ROWS) {
    const row = await start(
      contender,
      scriptQuestions.find((each) => each.name === name),
    );
    if (row !== undefined) rows.push(row);
  }
  for (const row of rows) await load(row, WARM_SECONDS);
  for (let turn = 0; turn < Number(turns); turn++) {
    // The next in the row begins each time.
    for (let at = 0; at < rows.length; at++) await measure(rows[(at + turn) % rows.length]);
  }
  report();
} finally {
  for (const { running } of rows) await running.stop();
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
  return { name, port, running, costs: [] };
}

async function load({ port }: Row, forSeconds: number): Promise<number> {
  const { requests } = await runWrk({ port, connections: CONNECTIONS, seconds: forSeconds });
  return requests;
}

async function measure(row: Row | undefined): Promise<void> {
  if (row === undefined) return;
  const before = totalMs(threadTimes(row.running.pid));
  const requests = await load(row, Number(seconds));
  row.costs.push(((totalMs(threadTimes(row.running.pid)) - before) * US_PER_MS) / requests);
}

function totalMs(times: ThreadTimes): number {
  let sum = 0;
  for (const threads of times.values()) for (const ms of threads.values()) sum += ms;
  return sum;
}

function report(): void {
  for (const { name, costs } of rows) {
    const [least, most] = [Math.min(...costs), Math.max(...costs)];
    const spread = `${least.toFixed(1)} to ${most.toFixed(1)}`;
    console.log(`${name}: ${median(costs).toFixed(1)} us CPU per request (${spread})`);
  }
  for (const [row, to, words] of PAIRS) {
    const [one, other] = [rows[row], rows[to]];
    if (one === undefined || other === undefined) continue;
    // Turn by turn: what disturbs one disturbs its neighbour.
    const ratios = one.costs.map((cost, turn) => (other.costs[turn] ?? cost) / cost);
    console.log(`${words}: ${median(ratios).toFixed(3)} times as many requests for the CPU time`);
  }
}
