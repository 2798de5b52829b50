import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFilter } from 'sluice/testing';
import filter from './coalesce.ts';

test('asks once for what many ask for at the same time', async () => {
  const asked: string[] = [];
  const tested = await testFilter(filter, {
    settings: { cluster: 'api' },
    clusters: {
      api: async ({ path }) => {
        asked.push(path);
        await new Promise((resolve) => setImmediate(resolve));
        return { headers: { 'content-type': 'application/json' }, body: `{"at":"${path}"}` };
      },
    },
  });
  const paths = ['/a', '/b', '/a', '/a'];
  const answers = await Promise.all(paths.map(async (path) => await tested.send({ path })));
  assert.deepEqual(
    answers.map((each) => (each.json() as { at: string }).at),
    paths,
  );
  assert.deepEqual(asked, ['/a', '/b']);
  assert.equal(tested.stat('joined'), 2);
  assert.ok(answers.every(({ upstream }) => upstream === undefined));
});

test('lets requests of one client pass', async () => {
  const tested = await testFilter(filter, { settings: { cluster: 'api' } });
  const { upstream } = await tested.send({ headers: { cookie: 'session=1' } });
  assert.equal(upstream?.path, '/');
});
