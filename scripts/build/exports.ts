/**
 * What other programs import of the package, after the compiler has written its declarations: one file
 * for ES modules and one for CommonJS each, with declarations beside it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const projectRoot = join(import.meta.dirname, '..', '..', '..');
const target = join(projectRoot, 'dist', 'exports');

/**
 * Each export has a file of declarations, and the code behind it, where there is any. Further
 * declarations that nobody else imports are put into the same file.
 */
const EXPORTS: readonly (readonly [
  name: string,
  declarations: string,
  code?: string,
  further?: string,
])[] = [
  [
    'admin-client',
    'src/admin-client/admin-client',
    'src/admin-client/admin-client',
    'src/admin-client/admin-endpoints',
  ],
  ['index', 'src/library/create-sluice', 'src/library/create-sluice'],
  ['filter', 'shared/scripts/filter', 'shared/scripts/filter'],
  ['schema', 'shared/scripts/schema'],
  ['context', 'shared/scripts/context'],
  ['access-logger', 'shared/scripts/access-logger'],
  ['balancer', 'shared/scripts/balancer'],
  ['network-filter', 'shared/scripts/network-filter'],
  ['cluster-discovery', 'shared/scripts/cluster-discovery'],
  ['admin-pages', 'shared/scripts/admin-pages'],
  ['testing', 'src/testing/testing-api', 'src/testing/testing'],
];
/** An import of another of them, wherever it is. */
const IMPORT = /'\.{1,2}\/(?:[^']*\/)?(\w[\w-]*)\.ts'/g;

/** For `node --import`, in ES modules alone and without declarations. */
const HOOKS: readonly string[] = ['register', 'register-hooks'];

for (const [name, declarations, code, further] of EXPORTS) {
  const text = further === undefined ? declared(declarations) : joined(declarations, further);
  writeFileSync(join(target, `${name}.d.ts`), text.replace(IMPORT, declaredName('js')));
  writeFileSync(join(target, `${name}.d.cts`), text.replace(IMPORT, declaredName('cjs')));
  if (code === undefined) continue;
  await bundle(name, code, 'esm');
  await bundle(name, code, 'cjs');
}
for (const name of HOOKS) await bundle(name, `src/testing/${name}`, 'esm');
for (const folder of ['shared', 'src', 'workers']) {
  rmSync(join(target, folder), { recursive: true, force: true });
}

function declared(path: string): string {
  return readFileSync(join(target, `${path}.d.ts`), 'utf8');
}

/** Without the imports of one from the other. */
function joined(path: string, further: string): string {
  const file = `/${basename(further)}.ts';`;
  const lines = declared(path).split('\n');
  return `${lines.filter((line) => !line.endsWith(file)).join('\n')}${declared(further)}`;
}

function declaredName(ending: string): (whole: string, file: string) => string {
  return (_whole, file) => `'./${file}.${ending}'`;
}

async function bundle(name: string, code: string, format: 'esm' | 'cjs'): Promise<void> {
  const ending = format === 'cjs' ? 'cjs' : 'js';
  await build({
    absWorkingDir: projectRoot,
    entryPoints: [`${code}.ts`],
    outfile: join(target, `${name}.${ending}`),
    bundle: true,
    // Names stay for stacks.
    minifyWhitespace: true,
    minifySyntax: true,
    platform: 'node',
    target: 'node20',
    format,
    plugins: name === 'filter' ? [] : [oneFilter(ending)],
    ...(format === 'cjs'
      ? {
          define: { 'import.meta.url': 'ownUrl', 'import.meta.dirname': '__dirname' },
          banner: { js: "const ownUrl = require('node:url').pathToFileURL(__filename).href;" },
        }
      : {}),
  });
}

/** Its classes are the same for a module and for what tests it. */
function oneFilter(ending: string): Plugin {
  return {
    name: 'one-filter',
    setup: (bundling) => {
      bundling.onResolve({ filter: /\/scripts\/filter\.ts$/ }, () => ({
        path: `./filter.${ending}`,
        external: true,
      }));
    },
  };
}
