/** Profiles of this process as `go tool pprof` would read them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { Profile } from 'pprof-format';
import { writeHeapProfile } from '../../../../supervisor/profiling/pprof-writer.ts';
import { Profilers } from '../../../../supervisor/profiling/profilers.ts';
import type { WorkerProfiles } from '../../../../supervisor/profiling/profilers.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-profiles-'));
after(() => rmSync(folder, { recursive: true }));

function read(bytes: Uint8Array) {
  const profile = Profile.decode(gunzipSync(bytes));
  const text = (index: number | bigint) => profile.stringTable.strings[Number(index)];
  return {
    types: profile.sampleType.map(({ type, unit }) => `${text(type)}/${text(unit)}`),
    processes: new Set(profile.sample.flatMap(({ label }) => label.map(({ str }) => text(str)))),
    comments: profile.comment.map(text),
    functions: profile.function.map(({ name, filename }) => ({
      name: text(name),
      file: text(filename),
    })),
  };
}

/** As workers give them: in files. */
async function profileOf(process: string, profile: unknown): Promise<WorkerProfiles> {
  const path = join(folder, `${process}.json`);
  writeFileSync(path, JSON.stringify(profile));
  return await Promise.resolve({ files: [{ process, path }], ...DISPOSED });
}

async function noProfiles(): Promise<WorkerProfiles> {
  return await Promise.resolve({ files: [], ...DISPOSED });
}

const DISPOSED = { [Symbol.asyncDispose]: async () => await Promise.resolve() };

function burnProcessorTime(): number {
  const before = process.cpuUsage();
  let total = 0;
  while (process.cpuUsage(before).user < 150_000) total += Math.sqrt(total + 1);
  return total;
}

test('a CPU profile names functions by their .ts file and carries the process', async () => {
  const path = join(folder, 'cpu.prof');
  const profilers = new Profilers({ path });
  assert.equal(await profilers.startCpu(), true);
  assert.equal(await profilers.startCpu(), true);
  burnProcessorTime();
  await profilers.stopCpu();
  const { types, processes, functions } = read(readFileSync(path));
  assert.deepEqual(types, ['sample/count', 'cpu/nanoseconds']);
  assert.deepEqual([...processes], ['supervisor']);
  const files = functions.map(({ file = '' }) => file);
  assert.ok(
    files.some((file) => file.endsWith('test/unit/supervisor/profiling/profilers.test.ts')),
  );
});

test('a heap profile is read while sampling goes on', async () => {
  const profilers = new Profilers({ path: join(folder, 'heap.prof') });
  await profilers.sample();
  const kept = Array.from({ length: 200_000 }, (_, index) => ({ index }));
  const profile = await profilers.readHeap();
  assert.ok(kept.length > 0);
  assert.deepEqual(read(profile).types, ['inuse_objects/count', 'inuse_space/bytes']);
});

/** A collection may come by itself at any moment, but not each time. */
const ATTEMPTS = 4;

test('no profile of the heap collects it, which would stop the process', async () => {
  const profilers = new Profilers({ path: join(folder, 'none.prof') });
  await profilers.sample();
  const collections: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    collections.push(await wholeCollectionsDuring(profilers));
  }
  assert.ok(collections.includes(0), collections.join());
});

async function wholeCollectionsDuring(profilers: Profilers): Promise<number> {
  let count = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as PerformanceNodeEntry[]) {
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) count++;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  await profilers.readHeap();
  await profilers.readPeakHeap();
  await profilers.startAllocations();
  await profilers.stopAllocations();
  await delay(1);
  observer.disconnect();
  return count;
}

/** What node's types leave out of an entry of the collector. */
interface PerformanceNodeEntry extends PerformanceEntry {
  readonly detail: { readonly kind?: number };
}

test('a heap profile without workers says how they are sampled', async () => {
  const profilers = new Profilers({ path: join(folder, 'none.prof') });
  const [comment = ''] = read(await profilers.readHeap()).comments;
  assert.match(comment, /--heap-sampling/);
});

test('workers that are sampled all the time stay so when a profiler stops', async () => {
  const commands: string[] = [];
  const empty = { head: { id: 1, callFrame: FRAME, children: [] }, samples: [] };
  const note = (command: string) => async () => await Promise.resolve(void commands.push(command));
  const give = (command: string) => async () => {
    commands.push(command);
    return await profileOf('worker 0', empty);
  };
  const workers = {
    startCpu: note('start_cpu'),
    stopCpu: noProfiles,
    startHeap: note('start_heap'),
    readHeap: give('read_heap'),
    stopHeap: give('stop_heap'),
    startAllocations: note('start_allocations'),
    stopAllocations: give('stop_allocations'),
  };
  const path = join(folder, 'sampled.prof');
  const profilers = new Profilers({ path, workers, samplesWorkers: true });
  await profilers.sample();
  assert.deepEqual(read(await profilers.readHeap()).comments, []);
  await profilers.startHeap();
  await profilers.stopHeap();
  assert.ok(commands.includes('read_heap') && !commands.includes('stop_heap'), commands.join());
});

const FRAME = { functionName: '', scriptId: '', url: '', lineNumber: 0, columnNumber: 0 };

/** Lines of a source map as the packed program has one. */
const MAP_LINES = 60_000;

test('source maps of megabytes are read beside the loop, not in it', async () => {
  const script = join(folder, 'packed.js');
  const mappings = 'AAAA,CAAC,CAAC,CAAC,CAAC,CAAC,CAAC;'.repeat(MAP_LINES);
  writeFileSync(
    `${script}.map`,
    JSON.stringify({ version: 3, sources: ['packed.ts'], names: [], mappings }),
  );
  const frame = { ...FRAME, functionName: 'packed', url: `file://${script}` };
  const profile = {
    head: { id: 1, callFrame: frame, children: [] },
    samples: [{ nodeId: 1, size: 100 }],
  };
  const readHeap = async () => await profileOf('worker 0', profile);
  const workers = {
    startCpu: async () => await Promise.resolve(),
    stopCpu: noProfiles,
    startHeap: async () => await Promise.resolve(),
    readHeap,
    stopHeap: readHeap,
    startAllocations: async () => await Promise.resolve(),
    stopAllocations: noProfiles,
  };
  const profilers = new Profilers({ workers, samplesWorkers: true });
  await profilers.readHeap();
  const inTheLoop = await ownProcessorMs(
    async () => await writeHeapProfile([{ process: 'worker 0', profile }]),
  );
  const beside = await ownProcessorMs(async () => {
    const { functions } = read(await profilers.readHeap());
    assert.ok(functions.some(({ file }) => file === join(folder, 'packed.ts')));
  });
  assert.ok(beside < inTheLoop / 2, `${beside} ms, where the maps alone take ${inTheLoop} ms`);
});

/** The processor time of this thread alone. */
async function ownProcessorMs(run: () => Promise<unknown>): Promise<number> {
  const spentNs = (): number =>
    Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]);
  const before = spentNs();
  await run();
  return (spentNs() - before) / 1e6;
}

test('the heap profiler writes its file when it is stopped', async () => {
  const path = join(folder, 'written.prof');
  const profilers = new Profilers({ path });
  assert.equal(await profilers.startHeap(), true);
  await profilers.stopHeap();
  assert.ok(existsSync(path) && !profilers.isHeapRunning);
});

test('a profile file that cannot be written stops a profiler before it starts', async () => {
  const profilers = new Profilers({ path: join(folder, 'nosuch', 'file') });
  assert.deepEqual([await profilers.startCpu(), await profilers.startHeap()], [false, false]);
  assert.equal(profilers.isCpuRunning, false);
});

test('profiles of workers are merged with the supervisor’s', async () => {
  const path = join(folder, 'merged.prof');
  const callFrame = {
    functionName: 'work',
    scriptId: '1',
    url: 'file:///worker.js',
    lineNumber: 4,
    columnNumber: 0,
  };
  const root = { ...callFrame, functionName: '(root)' };
  const profile = {
    nodes: [
      { id: 1, callFrame: root, children: [2] },
      { id: 2, callFrame },
    ],
    startTime: 0,
    endTime: 10,
    samples: [2, 2],
    timeDeltas: [5, 5],
  };
  const profilers = new Profilers({
    path,
    workers: {
      startCpu: async () => await Promise.resolve(),
      stopCpu: async () => await profileOf('worker 0', profile),
      startHeap: async () => await Promise.resolve(),
      readHeap: noProfiles,
      stopHeap: noProfiles,
      startAllocations: async () => await Promise.resolve(),
      stopAllocations: noProfiles,
    },
  });
  await profilers.startCpu();
  burnProcessorTime();
  await profilers.stopCpu();
  assert.deepEqual(read(readFileSync(path)).processes, new Set(['supervisor', 'worker 0']));
});

test('allocations are sampled though they are freed again, and use is sampled afterwards', async () => {
  const profilers = new Profilers({ path: join(folder, 'none.prof') });
  await profilers.sample();
  await profilers.startAllocations();
  assert.equal(profilers.isAllocationsRunning, true);
  for (let round = 0; round < 50; round++) JSON.stringify(Array.from({ length: 20_000 }, String));
  const { types, functions } = read(await profilers.stopAllocations());
  assert.deepEqual(types, ['alloc_objects/count', 'alloc_space/bytes']);
  assert.ok(functions.length > 0);
  assert.deepEqual(read(await profilers.readHeap()).types, [
    'inuse_objects/count',
    'inuse_space/bytes',
  ]);
});

test('the heap is kept as it was at its peak', async () => {
  const profilers = new Profilers({ path: join(folder, 'peak.prof') });
  await profilers.sample();
  let kept: unknown[] = makeManyObjectsForThePeak();
  await profilers.notePeak();
  assert.ok(kept.length > 0);
  kept = [];
  const { functions } = read(await profilers.readPeakHeap());
  assert.ok(functions.some(({ name = '' }) => name.includes('makeManyObjectsForThePeak')));
});

function makeManyObjectsForThePeak(): unknown[] {
  return Array.from({ length: 400_000 }, (_, index) => ({ index, text: `text ${index}` }));
}

const hasGo = spawnSync('go', ['version']).status === 0;

test('go tool pprof reads the profile', { skip: !hasGo && 'go is not installed' }, async () => {
  const path = join(folder, 'go.prof');
  const profilers = new Profilers({ path });
  await profilers.startCpu();
  burnProcessorTime();
  await profilers.stopCpu();
  const top = spawnSync('go', ['tool', 'pprof', '-top', path], { encoding: 'utf8' });
  assert.equal(top.status, 0, top.stderr);
  assert.match(top.stdout, /Total samples = \d/);
});
