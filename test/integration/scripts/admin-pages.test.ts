import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const MODULE = `
import { defineAdminPages, object, string } from 'sluice/filter';
let calls = 0;
export default defineAdminPages({
  schema: object({ word: string() }),
  pages: {
    '/mine': {
      help: 'says a word',
      async handle({ query, admin }, { word }) {
        const ready = await admin('/ready');
        return { body: JSON.stringify({ word, a: query.get('a'), ready: ready.status, calls: ++calls }), contentType: 'application/json' };
      },
    },
    '/mine/reset': { help: 'counts anew', mutates: true, handle: () => { calls = 0; return 'done\\n'; } },
    '/mine/throw': { help: 'fails', handle: () => { throw new Error('on purpose'); } },
    '/mine/loop': { help: 'never ends', handle: () => { for (;;); } },
    '/mine/memory': { help: 'grows', handle: () => { const all = []; for (;;) all.push({ all: [] }); } },
    '/ready': { help: 'is the program\\'s own', handle: () => 'mine' },
  },
});
`;

function configuration(path: string, settings: object): object {
  const type = 'type.googleapis.com/sluice.admin_pages.script.v1.ScriptAdminPages';
  const config = { '@type': type, file: path, settings, answer_timeout: '0.2s' };
  return bootstrap(
    { listeners: [httpListener([])], clusters: [] },
    { bootstrap_extensions: [{ name: 'mine', typed_config: config }] },
  );
}

describe('admin pages that are a module', () => {
  it('answer beside those of the program, fail alone, and are loaded again', async () => {
    const scratch = makeScratch();
    const path = scratch.file('pages.ts');
    writeFileSync(path, MODULE);
    await using sluice = await startSluice({
      bootstrap: configuration(path, { word: 'hello' }),
      scratch,
    });
    const mine = async (): Promise<unknown> => JSON.parse((await sluice.admin('/mine?a=b')).body);
    assert.deepEqual(await mine(), { word: 'hello', a: 'b', ready: 200, calls: 1 });
    assert.match((await sluice.admin('/help')).body, /^ {2}\/mine: says a word$/m);
    assert.equal((await sluice.admin('/mine/reset')).status, 400);
    const reset = await sluice.admin({ path: '/mine/reset', method: 'POST' });
    assert.deepEqual([reset.status, reset.body], [200, 'done\n']);
    assert.match((await sluice.admin('/ready')).body, /LIVE/);
    const answers = await Promise.all(
      ['/mine/throw', '/mine/loop', '/mine/memory', '/ready'].map((page) => sluice.admin(page)),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [500, 500, 500, 200],
    );
    assert.match(
      sluice.stderr(),
      /\/mine\/throw of .*pages\.ts: Error: on purpose\\n +at Object\.handle .*pages\.ts:15:/,
    );
    assert.match(sluice.stderr(), /\/mine\/loop of .*: it took longer than 200 ms/);
    assert.match(sluice.stderr(), /\/mine\/memory of .*(?:memory limit|took longer)/);
    // Another thread, which has counted nothing.
    assert.deepEqual(await mine(), { word: 'hello', a: 'b', ready: 200, calls: 1 });
    writeFileSync(path, MODULE.replace('{ word,', "{ word: word + '!',"));
    const reloaded = await sluice.admin({ path: '/filters/reload', method: 'POST' });
    assert.match(reloaded.body, /"outcome": "reloaded"/);
    assert.deepEqual(await mine(), { word: 'hello!', a: 'b', ready: 200, calls: 1 });
  });

  it('are refused where their settings are wrong, by their place', async () => {
    using scratch = makeScratch();
    writeFileSync(scratch.file('pages.ts'), MODULE);
    const config = scratch.file('config.json');
    writeFileSync(
      config,
      JSON.stringify(configuration(scratch.file('pages.ts'), {}), undefined, 1),
    );
    const { code, stderr } = await runSluice(['--mode', 'validate', '-c', config]);
    assert.equal(code, 1);
    assert.match(stderr, /config\.json:\d+:\d+: .*settings\.word: must be a string/);
  });
});
