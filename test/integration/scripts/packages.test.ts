import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { ROUTER, SCRIPT_TYPE } from '../../support/scripts/script-server.ts';

function write(scratch: Scratch, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(scratch.file(name.replace(/[^/]+$/, '')), { recursive: true });
    writeFileSync(scratch.file(name), text);
  }
}

const PACKAGES = {
  'node_modules/only-esm/package.json': JSON.stringify({
    name: 'only-esm',
    type: 'module',
    exports: { import: './index.js' },
  }),
  'node_modules/only-esm/index.js': `export const esm = 'esm';`,
  'node_modules/common/package.json': JSON.stringify({ name: 'common', main: 'main.js' }),
  'node_modules/common/main.js': `exports.common = 'common';`,
  // The module itself.
  'node_modules/my-filter/package.json': JSON.stringify({
    name: 'my-filter',
    type: 'module',
    exports: { import: './src/filter.ts' },
  }),
  'node_modules/my-filter/src/words.json': JSON.stringify({ word: 'json' }),
  'node_modules/my-filter/src/lazy.ts': `export const lazy: string = 'lazy';`,
  'node_modules/my-filter/src/filter.ts': `
import { esm } from 'only-esm';
import { common } from 'common';
import words from './words.json' with { type: 'json' };
import { basename } from 'node:path';
import { defineFilter } from 'sluice/filter';
export default defineFilter({
  async create() {
    const { lazy } = await import('./lazy.ts');
    const body = [esm, common, words.word, lazy, basename(import.meta.filename)].join(' ');
    return { onRequestHeaders: () => ({ status: 200, body }) };
  },
});
`,
};

describe('a package as the module of a script', () => {
  it('is found below the working directory, with the packages and files that it imports', async () => {
    const scratch = makeScratch();
    write(scratch, PACKAGES);
    const filter = {
      name: 'mine',
      typed_config: { '@type': SCRIPT_TYPE, package: 'my-filter' },
    };
    const listener = httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }], {
      hcm: { http_filters: [filter, ROUTER] },
    });
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listener], clusters: [] }),
      scratch,
    });
    const { body } = await fetchOnce({ port: await sluice.listenerPort('web'), path: '/' });
    assert.equal(body, 'esm common json lazy filter.ts');
  });
});
