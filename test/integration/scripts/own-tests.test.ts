import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { consumer, install, PACKAGE_ROOT, runFile } from '../../support/scripts/consumer.ts';
import { pageModules } from '../../support/scripts/extending-page.ts';
import { makeScratch } from '../../support/scratch.ts';

const EXAMPLES = join(PACKAGE_ROOT, 'docs', 'examples', 'filters');
const TSC = join(PACKAGE_ROOT, 'node_modules', '.bin', 'tsc');
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'main.js');

const CONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'node16',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ['node'],
  },
};

/** How many passed; fails with what was written when one did not. */
async function passed(folder: string, file: string): Promise<number> {
  const words = ['--import', 'sluice/register', file];
  const { stdout } = await runFile(process.execPath, words, folder).catch((error: unknown) =>
    assert.fail((error as { readonly stdout: string }).stdout),
  );
  const [, count] = /^# pass (\d+)$/m.exec(stdout) ?? [];
  return Number(count);
}

async function typeFaults(folder: string): Promise<string> {
  const compiled = await runFile(TSC, [], folder).catch((error: unknown) => error);
  return (compiled as { readonly stdout: string }).stdout;
}

describe('tests of filters', () => {
  it('of sluice init pass at once, and its types are right', async () => {
    using scratch = makeScratch();
    await runFile(process.execPath, [MAIN, 'init', 'filter', 'my-filter'], scratch.path);
    const folder = scratch.file('my-filter');
    install(folder);
    const found = await Promise.all([passed(folder, 'filter.test.ts'), typeFaults(folder)]);
    assert.deepEqual(found, [2, '']);
  });

  it('of the examples pass, and their types and those of the page are right', async () => {
    const names = readdirSync(EXAMPLES);
    const texts = names.map((name) => [name, readFileSync(join(EXAMPLES, name), 'utf8')] as const);
    const tests = names.filter((name) => name.endsWith('.test.ts'));
    const modules = names.filter((name) => !name.endsWith('.test.ts'));
    assert.deepEqual(
      tests.toSorted(),
      modules.map((name) => name.replace('.ts', '.test.ts')).toSorted(),
    );
    using folder = consumer({
      ...Object.fromEntries([...pageModules(), ...texts]),
      'package.json': '{"type": "module"}',
      'tsconfig.json': JSON.stringify(CONFIG),
      // One process for all of them.
      'all.ts': tests.map((name) => `import './${name}';\n`).join(''),
    });
    const [count, faults] = await Promise.all([
      passed(folder.path, 'all.ts'),
      typeFaults(folder.path),
    ]);
    const written = texts.flatMap(([, text]) => text.match(/^test\(/gm) ?? []).length;
    assert.deepEqual([count, faults], [written, '']);
  });
});
