/**
 * What tools make of `--version`, by rules that say the same as theirs: Consul's `consul connect
 * envoy`, Kuma's `kuma-dp`.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSluice } from '../../support/programs/sluice.ts';

/** The first three numbers with dots, wherever they stand. */
function readByConsul(output: string): string | undefined {
  return /\d+\.\d+\.\d+/.exec(output)?.[0];
}

/** Five words behind `version:`; letters of that word and blanks around them do not count. */
function readByKuma(output: string): { readonly build: string; readonly version: string } {
  const line = /version:.*/.exec(output.replaceAll('\r\n', '\n'))?.[0] ?? '';
  const build = line.replaceAll(/^[version:]+|[version:]+$/g, '').trim();
  const words = build.split('/');
  assert.equal(words.length, 5, `wrong Envoy build format: ${build}`);
  return { build, version: words[1] ?? '' };
}

describe('tools that read the version', () => {
  it('read the release of Envoy that the environment states', async () => {
    for (const stated of ['1.34.2', '1.40.0', '1.5.12']) {
      const { stdout } = await runSluice(['--version'], undefined, {
        SLUICE_ENVOY_VERSION: stated,
      });
      assert.equal(readByConsul(stdout), stated);
      assert.equal(readByKuma(stdout).version, stated);
    }
  });

  it('read a release where nothing is stated, whatever the revision', async () => {
    const { stdout } = await runSluice(['--version']);
    const { build, version } = readByKuma(stdout);
    assert.match(version, /^\d+\.\d+\.\d+(-dev)?$/);
    assert.equal(readByConsul(stdout), version.replace('-dev', ''));
    // No letter of the word was taken off either end of the text.
    assert.ok(stdout.includes(` ${build}\n`), build);
  });
});
