/**
 * What other programs import of the package, after the compiler has written its declarations: one file
 * for ES modules and one for CommonJS each, with declarations beside it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const projectRoot = join(import.meta.dirname, '..', '..', '..');
const target = join(projectRoot, 'dist', 'exports');

/** Of each: its file of declarations, and whether there is code behind it. */
const EXPORTS: readonly (readonly [name: string, source: string, hasCode: boolean])[] = [
  ['index', 'src/library/create-sluice', true],
  ['filter', 'shared/scripts/filter', true],
  ['schema', 'shared/scripts/schema', false],
];

for (const [name, source, hasCode] of EXPORTS) {
  const text = readFileSync(join(target, `${source}.d.ts`), 'utf8');
  writeFileSync(join(target, `${name}.d.ts`), text.replace(/'\.\/(\w+)\.ts'/g, "'./$1.js'"));
  writeFileSync(join(target, `${name}.d.cts`), text.replace(/'\.\/(\w+)\.ts'/g, "'./$1.cjs'"));
  if (!hasCode) continue;
  for (const format of ['esm', 'cjs'] as const) {
    const isCommon = format === 'cjs';
    await build({
      absWorkingDir: projectRoot,
      entryPoints: [`${source}.ts`],
      outfile: join(target, `${name}.${isCommon ? 'cjs' : 'js'}`),
      bundle: true,
      platform: 'node',
      target: 'node20',
      format,
      ...(isCommon
        ? {
            define: { 'import.meta.url': 'ownUrl' },
            banner: { js: "const ownUrl = require('node:url').pathToFileURL(__filename).href;" },
          }
        : {}),
    });
  }
}
for (const folder of ['shared', 'src']) rmSync(join(target, folder), { recursive: true });
