import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { makeScratch } from '../../support/scratch.ts';

const projectRoot = join(import.meta.dirname, '..', '..', '..', '..');

describe('the packed program', () => {
  it('runs from an empty folder with nothing but its dependencies', () => {
    using scratch = makeScratch();
    const pack = ['pack', '--ignore-scripts', '--pack-destination', scratch.path];
    execFileSync('npm', pack, { cwd: projectRoot, stdio: ['ignore', 'ignore', 'ignore'] });
    const tarball = readdirSync(scratch.path).find((file) => file.endsWith('.tgz')) ?? '';
    execFileSync('tar', ['-xzf', join(scratch.path, tarball), '-C', scratch.path]);
    const unpacked = scratch.file('package');

    const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
    const strangers = files.filter((file) =>
      /^(test|dist\/(test|scripts|shared\/api\/generated|\.tsbuildinfo.*)|(?!dist\/exports\/).*\.ts)(\/|$)/.test(
        file,
      ),
    );
    assert.deepEqual(strangers, []);
    for (const file of [
      'LICENSE',
      'THIRD_PARTY_NOTICES',
      'docs/options.md',
      'CHANGELOG.md',
      'dist/exports/filter.d.ts',
    ]) {
      assert.ok(existsSync(join(unpacked, file)), file);
    }

    symlinkSync(join(projectRoot, 'node_modules'), join(unpacked, 'node_modules'));
    const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as {
      version: string;
      bin: { sluice: string };
    };
    // As npm installs it: an executable file behind a link.
    const main = join(unpacked, manifest.bin.sluice);
    chmodSync(main, 0o755);
    mkdirSync(scratch.file('bin'));
    symlinkSync(main, scratch.file('bin/sluice'));
    const run = (...args: string[]): string =>
      execFileSync(scratch.file('bin/sluice'), args, { cwd: '/', encoding: 'utf8' });
    assert.match(
      run('--version'),
      new RegExp(
        `^\nsluice  version: \\w+/${manifest.version}(-dev)?/(Clean|Modified)/RELEASE/OpenSSL\n\n$`,
      ),
    );
    assert.match(run('--help'), /--config-path/);
    assert.match(run('--mode', 'validate', '--config-yaml', '{}'), /^configuration '' OK\n$/);
  });
});
