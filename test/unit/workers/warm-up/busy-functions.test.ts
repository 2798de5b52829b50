/** What the runtime has optimised before a worker's first request. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..', '..', '..', '..');
/** A bit of V8's `OptimizationStatus`: the function runs code of the optimising compiler. */
const OPTIMISED = 1 << 4;

describe('the functions that every request calls tens of times', () => {
  it('are optimised by the warm-up, and stay so when a server has many statistics', () => {
    const [get, increment] = statusesAfter('callBusyFunctions(new WorkerStatStore());');
    assert.ok((get ?? 0) & OPTIMISED, `HeaderMap.get has the status ${get}`);
    assert.ok((increment ?? 0) & OPTIMISED, `WorkerStatStore.increment has ${increment}`);
  });

  it('are not without it', () => {
    const statuses = statusesAfter('new WorkerStatStore().defineCounter("x");');
    assert.deepEqual(
      statuses.map((status) => status & OPTIMISED),
      [0, 0],
    );
  });
});

/** Of HeaderMap.get and WorkerStatStore.increment, after `code` and the growth of another store. */
function statusesAfter(code: string): readonly number[] {
  const of = (path: string): string => JSON.stringify(pathToFileURL(join(root, path)).href);
  const script = `
    import { callBusyFunctions } from ${of('workers/warm-up/busy-functions.js')};
    import { WorkerStatStore } from ${of('workers/stats/worker-stat-store.js')};
    import { HeaderMap } from ${of('workers/stream/header-map.js')};
    ${code}
    const store = new WorkerStatStore();
    for (let index = 0; index < 3000; index += 1) store.defineCounter('a' + index);
    for (let index = 0; index < 300; index += 1) store.increment(index);
    const headers = new HeaderMap();
    headers.add('accept', 'a');
    headers.get('accept');
    console.log(
      %GetOptimizationStatus(HeaderMap.prototype.get),
      %GetOptimizationStatus(WorkerStatStore.prototype.increment),
      typeof callBusyFunctions,
    );`;
  // The compiler works on this thread, so that the result does not depend on another's progress.
  const flags = ['--allow-natives-syntax', '--no-concurrent-recompilation', '--input-type=module'];
  const text = execFileSync(process.execPath, [...flags, '-e', script], { encoding: 'utf8' });
  return text.split(' ').slice(0, 2).map(Number);
}
