/**
 * What is left of a thousand updates of each kind of resource, of other names where names can be
 * others, of files and of reconnects. After as many to warm up, all garbage is collected and
 * counted, once more after the updates and the drains that follow them. Descriptors, what is held
 * outside of V8's heap, the lines of `/stats` and the objects of each class are to be what they
 * were; the heap itself grows by code that V8 compiles. `node dist/scripts/bench/xds/xds-leaks.js
 * [updates] [part of a question's name]`; half a minute for each question.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeScratch } from '../../../test/support/scratch.ts';
import { startHttpUpstream } from '../../../test/support/peers/upstream.ts';
import { certificateFiles } from '../support/certificates.ts';
import { heapObjects, objectsMore, snapshotArguments, type Held } from '../heap-objects.ts';
import { heldBy, probeArguments } from '../support/held-memory.ts';
import { treeOf } from '../support/processes.ts';
import { leakQuestions, type Question } from './xds-leak-questions.ts';
import { drained, programs, startFleet } from './xds-fleet.ts';

const updates = Number(process.argv[2] ?? 1000);
const part = process.argv[3] ?? '';
/** Classes that are printed, those with the most bytes. */
const PRINTED = 8;
/** Updates between two readings of the pages. */
const READ_EVERY = 10;
const PAGES = [
  '/stats?format=prometheus',
  '/stats?usedonly&format=json',
  '/clusters?format=json',
  '/config_dump?include_eds',
  '/listeners',
  '/init_dump',
];

/** What one process has. */
interface State {
  readonly heap: number;
  readonly external: number;
  readonly descriptors: number;
  readonly objects: ReadonlyMap<string, Held>;
}

using folder = makeScratch();
await using upstream = await startHttpUpstream();
const logs = join(folder.path, 'logs');
mkdirSync(logs);
const certificates = (['rsa', 'ecdsa'] as const).map((kind) => certificateFiles(folder.path, kind));
for (const question of leakQuestions({ upstreamPort: upstream.port, certificates, logs })) {
  if (question.name.includes(part)) await measure(question);
}

async function measure(question: Question): Promise<void> {
  const [program] = programs([...probeArguments(folder.path), ...snapshotArguments(folder.path)]);
  if (program === undefined) return;
  await using fleet = await startFleet(program, 1, question);
  let version = 0;
  const update = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each += 1) {
      version += 1;
      await question.update(fleet, version);
      if (version % READ_EVERY === 0) await readPages(fleet.admin);
    }
    await drained(fleet.admin);
    await readPages(fleet.admin);
  };
  // What is made once, compiled code and the first snapshot's own among it, is there before the
  // count.
  await update(updates);
  await states(fleet.pid);
  await update(Math.ceil(updates / 10));
  const [before, linesBefore] = [await states(fleet.pid), await statLines(fleet.admin)];
  await update(updates);
  const [after, linesAfter] = [await states(fleet.pid), await statLines(fleet.admin)];
  console.log(
    `${question.name}: ${updates} updates, ${linesBefore} and ${linesAfter} lines of /stats`,
  );
  for (const [index, process] of ['supervisor', 'worker'].entries()) {
    const [then, now] = [before[index], after[index]];
    if (then !== undefined && now !== undefined) print(process, then, now);
  }
}

function print(process: string, before: State, after: State): void {
  const kib = (bytes: number): string => (bytes / 1024).toFixed(0);
  const more = objectsMore(before.objects, after.objects);
  const most = more
    .slice(0, PRINTED)
    .map(([name, { count, bytes }]) => `${count} ${name} (${bytes} B)`);
  console.log(
    `  ${process.padEnd(10)} descriptors ${before.descriptors} and ${after.descriptors}, heap ` +
      `${kib(after.heap - before.heap)} KiB more of ${kib(before.heap)}, outside ` +
      `${kib(after.external - before.external)} KiB more of ${kib(before.external)}; ` +
      `objects more: ${most.join(', ') || 'none'}`,
  );
}

async function states(root: number): Promise<readonly State[]> {
  const all: State[] = [];
  for (const pid of treeOf(root)) {
    const objects = await heapObjects(folder.path, pid);
    const { heapUsed, external } = await heldBy(folder.path, pid);
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    all.push({ heap: heapUsed, external, descriptors, objects });
  }
  return all;
}

/** What pages make for themselves is to go with what they show. */
async function readPages(admin: string): Promise<void> {
  for (const page of PAGES) await (await fetch(`http://${admin}${page}`)).text();
}

async function statLines(admin: string): Promise<number> {
  return (await (await fetch(`http://${admin}/stats`)).text()).split('\n').length;
}
