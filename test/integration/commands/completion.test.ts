/** `sluice completion`: the scripts, read by the shells that are installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { runSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

/** What bash offers for the last of the words. */
async function bashOffers(words: readonly string[]): Promise<string[]> {
  using scratch = makeScratch();
  const path = scratch.file('completion.bash');
  writeFileSync(path, (await runSluice(['completion', 'bash'])).stdout);
  const list = words.map((word) => `'${word}'`).join(' ');
  const script = `source '${path}'; COMP_WORDS=(sluice ${list}); COMP_CWORD=${words.length}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  assert.equal(stderr, '');
  return stdout.split('\n').filter((line) => line !== '');
}

const offers: readonly [words: string[], expected: string[]][] = [
  [['ch'], ['check']],
  [
    ['--mode', ''],
    ['serve', 'validate', 'init_only'],
  ],
  [['--concurrency', ''], []],
  [['--restart-e'], ['--restart-epoch']],
];

describe('sluice completion', () => {
  for (const [words, expected] of offers) {
    it(`offers bash ${expected.join(', ') || 'nothing'} for ${words.join(' ')}`, async () => {
      assert.deepEqual(await bashOffers(words), expected);
    });
  }

  for (const shell of ['zsh', 'fish']) {
    const isMissing = spawnSync(shell, ['-c', 'true']).status !== 0;
    it(`prints what ${shell} can read`, { skip: isMissing && `${shell} is not here` }, async () => {
      using scratch = makeScratch();
      const path = scratch.file('completion');
      writeFileSync(path, (await runSluice(['completion', shell])).stdout);
      const { status, stderr } = spawnSync(shell, ['-n', path], { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    });
  }

  it('refuses another shell by name', async () => {
    const { code, stderr } = await runSluice(['completion', 'tcsh']);
    assert.equal(code, 2);
    assert.match(stderr, /one of bash, zsh, fish/);
  });
});
