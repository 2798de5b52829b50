/**
 * Compiles somebody else's ES modules and CommonJS against the types of the package, with the oldest
 * TypeScript that they are for and the one of the project: npm run check:types. Asks the registry for the
 * older one.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { consumer, PACKAGE_ROOT } from '../../test/support/scripts/consumer.ts';
import { TYPED_CONSUMER } from '../../test/support/scripts/typed-consumer.ts';
import { makeScratch } from '../../test/support/scratch.ts';

/** `const` type parameters came with it. */
const OLDEST = '5.0.4';
const INSTALL = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--silent'];

using scratch = makeScratch();
execFileSync('npm', [...INSTALL, '--prefix', scratch.path, `typescript@${OLDEST}`]);

for (const root of [scratch.path, PACKAGE_ROOT]) {
  using folder = consumer(TYPED_CONSUMER);
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  const version = execFileSync(compiler, ['--version'], { encoding: 'utf8' }).trim();
  const { status, stdout } = spawnSync(compiler, ['-p', folder.path], { encoding: 'utf8' });
  console.log(
    `TypeScript ${version.replace('Version ', '')}: ${status === 0 ? 'no fault' : stdout}`,
  );
  if (status !== 0) process.exitCode = 1;
}
