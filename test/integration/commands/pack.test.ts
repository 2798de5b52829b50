import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

/** What a download of a minute may be on a slow line, with what follows. */
const BYTES_MAX = 5_500_000;
const FILES_MAX = 150;

const projectRoot = join(import.meta.dirname, '..', '..', '..', '..');

describe('the packed program', () => {
  it('runs from an empty folder with nothing but its dependencies', async () => {
    using scratch = makeScratch();
    execFileSync(process.execPath, [
      join(projectRoot, 'dist', 'scripts', 'package', 'prepare-npm.js'),
    ]);
    const pack = ['pack', '--ignore-scripts', '--pack-destination', scratch.path];
    execFileSync('npm', pack, { cwd: projectRoot, stdio: ['ignore', 'ignore', 'ignore'] });
    const tarball = readdirSync(scratch.path).find((file) => file.endsWith('.tgz')) ?? '';
    execFileSync('tar', ['-xzf', join(scratch.path, tarball), '-C', scratch.path]);
    const unpacked = scratch.file('package');

    const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' }).filter((file) =>
      statSync(join(unpacked, file)).isFile(),
    );
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
      'dist/exports/testing.d.cts',
      'dist/exports/register-hooks.js',
    ]) {
      assert.ok(existsSync(join(unpacked, file)), file);
    }

    assert.ok(files.length < FILES_MAX, `${files.length} files`);
    const bytes = files.reduce((sum, file) => sum + statSync(join(unpacked, file)).size, 0);
    assert.ok(bytes < BYTES_MAX, `${bytes} bytes`);

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
    assert.match(run('example', 'app'), /^# Your app behind Sluice/);
    const restarter = execFileSync(process.execPath, [
      join(unpacked, 'dist/src/restarter-main.js'),
      '--help',
    ]);
    assert.match(restarter.toString(), /^usage: sluice-restarter/i);

    const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
    const bootstrap = { admin: ADMIN, static_resources: { listeners: [httpListener(routes)] } };
    await using sluice = await startSluice({ main, bootstrap });
    const asked = { port: await sluice.listenerPort('web') };
    assert.equal((await fetchOnce(asked)).status, 200);
    const port = String(sluice.adminPort);
    assert.match(run('explain', '--admin', `127.0.0.1:${port}`, 'http://h/'), /direct/);
  });
});
