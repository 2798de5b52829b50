import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startScriptServer } from '../../support/scripts/script-server.ts';
import { waitUntil } from '../../support/wait.ts';

/** Each path is a command; the answer says which worker it came from. */
const MODULE = `
import { defineFilter } from 'sluice/filter';
export default defineFilter({
  async create(_, context) {
    const map = context.shared('seen', { entriesMax: 3 });
    await map.ready;
    return {
      async onRequestHeaders(headers) {
        const [, act, key = '', value] = headers.path.split('/');
        if (act === 'set') map.set(key, { value });
        if (act === 'brief') map.set(key, value, { ttlMs: 1 });
        if (act === 'delete') map.delete(key);
        const sum = act === 'add' ? await map.add(key, Number(value)) : undefined;
        const all = [...map].map(([name, each]) => [name, each]);
        return { status: 200, body: JSON.stringify({ pid: process.pid, sum, all }) };
      },
    };
  },
});
`;

interface Seen {
  readonly pid: number;
  readonly sum?: number;
  readonly all: readonly (readonly [string, unknown])[];
}

describe('a map that workers share', () => {
  it('has what any of them wrote, adds for all of them, and stays bounded', async () => {
    await using upstream = await startHttpUpstream();
    await using server = await startScriptServer({
      module: MODULE,
      upstreamPort: upstream.port,
      run: { concurrency: 2 },
    });
    const ask = async (path: string): Promise<Seen> =>
      JSON.parse((await server.get(path)).body) as Seen;
    /** Until both workers have answered with it; what two of them wrote stands in either order. */
    const everywhere = async (what: string, all: Seen['all']): Promise<void> => {
      const pids = new Set<number>();
      await waitUntil(what, async () => {
        const seen = await ask('/');
        const found = seen.all.toSorted(([one], [other]) => (one < other ? -1 : 1));
        if (JSON.stringify(found) === JSON.stringify(all)) pids.add(seen.pid);
        return pids.size === 2;
      });
    };
    await ask('/set/a/1');
    await everywhere('one entry', [['a', { value: '1' }]]);
    await ask('/delete/a');
    await ask('/brief/b/1');
    await everywhere('no entry', []);
    const sums = await Promise.all(Array.from({ length: 20 }, async () => await ask('/add/n/2')));
    assert.deepEqual(
      sums.map(({ sum = 0 }) => sum).toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, at) => 2 * (at + 1)),
    );
    assert.ok(new Set(sums.map(({ pid }) => pid)).size === 2, 'both workers have added');
    for (const key of ['c', 'd', 'e']) await ask(`/set/${key}/x`);
    const last = ['c', 'd', 'e'].map((key) => [key, { value: 'x' }] as const);
    await everywhere('the last three', last);
    // A new worker has them from its first request on.
    process.kill((await ask('/')).pid, 'SIGKILL');
    await waitUntil('the new worker', () => server.sluice.stderr().includes('serves again'));
    await everywhere('the last three, in the new worker', last);
  });
});
