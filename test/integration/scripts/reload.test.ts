import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startScriptServer, type ScriptServer } from '../../support/scripts/script-server.ts';

/** Answers with its version; `extra` stands before its handlers are given. */
function versionOf(version: string, extra = '', setting = 'word'): string {
  return `import { defineFilter, object, string } from 'sluice/filter';
import { ending } from './ending.ts';
export default defineFilter({
  schema: object({ ${setting}: string().optional('none') }),
  create(settings) {
    ${extra}
    return { onRequestHeaders: () => ({ status: 200, body: '${version}' + ending }) };
  },
});
`;
}

interface Module {
  readonly file: string;
  readonly outcome?: string;
  readonly error?: string;
  readonly workers?: readonly { readonly version: string; readonly state: string }[];
}

async function modules(server: ScriptServer, path: string, method: 'GET' | 'POST') {
  const answer = await server.sluice.admin({ path, method });
  const { modules: found } = JSON.parse(answer.body) as { readonly modules: readonly Module[] };
  return { status: answer.status, module: found[0] ?? assert.fail('no module') };
}

async function start(upstreamPort: number, fields: object = {}): Promise<ScriptServer> {
  return await startScriptServer({
    module: versionOf('one'),
    files: { 'ending.ts': `export const ending: string = '!';` },
    fields,
    upstreamPort,
    run: { concurrency: 2 },
  });
}

/** Enough connections for both workers. */
async function bodies(server: ScriptServer): Promise<ReadonlySet<string>> {
  const answers = Array.from({ length: 12 }, async () => (await server.get('/')).body);
  return new Set(await Promise.all(answers));
}

describe('POST /filters/reload', () => {
  it('puts a changed module in force in all workers, and tells what there is', async () => {
    await using upstream = await startHttpUpstream();
    await using server = await start(upstream.port);
    const before = (await modules(server, '/filters', 'GET')).module;
    assert.deepEqual([before.file, before.workers?.length], [server.path, 2]);
    const same = await modules(server, '/filters/reload', 'POST');
    assert.deepEqual([same.status, same.module.outcome], [200, 'unchanged']);
    writeFileSync(server.scratch.file('ending.ts'), `export const ending = '?';`);
    assert.deepEqual(await bodies(server), new Set(['one!']));
    const reloaded = await modules(server, '/filters/reload', 'POST');
    assert.deepEqual([reloaded.status, reloaded.module.outcome], [200, 'reloaded']);
    assert.deepEqual(await bodies(server), new Set(['one?']));
    const after = (await modules(server, '/filters', 'GET')).module.workers ?? [];
    assert.equal(new Set(after.map(({ version }) => version)).size, 1);
    assert.notEqual(after[0]?.version, before.workers?.[0]?.version);
  });

  it('leaves the old version where the new one cannot be used', async () => {
    await using upstream = await startHttpUpstream();
    await using server = await start(upstream.port, {
      settings: { word: 'a' },
      loop_timeout: '0.3s',
      load_timeout: '3s',
    });
    const faults: readonly (readonly [module: string, error: RegExp])[] = [
      ['export default {', /filter\.ts:1:\d+: /],
      [versionOf('two', `throw new Error('not today');`), /not today/],
      [versionOf('two', '', 'other'), /its settings are wrong: there is no setting 'word'/],
      [versionOf('two', 'for (;;);'), /worker \d/],
    ];
    for (const [module, error] of faults) {
      writeFileSync(server.path, module);
      const answer = await modules(server, '/filters/reload', 'POST');
      assert.deepEqual([answer.status, answer.module.outcome], [500, 'failed']);
      assert.match(answer.module.error ?? '', error);
    }
    await server.sluice.waitForStat('server.live', (live) => live === 1);
    assert.deepEqual(await bodies(server), new Set(['one!']));
    writeFileSync(server.path, versionOf('three'));
    assert.equal((await modules(server, '/filters/reload', 'POST')).status, 200);
    assert.deepEqual(await bodies(server), new Set(['three!']));
  });
});
