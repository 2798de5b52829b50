/** `sluice completion`: the scripts, read by the shells that are installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { completionCommand } from '../../../src/commands/completion/completion-command.ts';
import { commandWords } from '../../../src/commands/completion/command-options.ts';
import { loadCommand } from '../../../src/commands/commands.ts';
import { COMMAND_SUMMARIES } from '../../../src/options/command-summaries.ts';
import { runSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

async function scriptFor(shell: string): Promise<string> {
  let text = '';
  await completionCommand.run([shell], {
    out: (piece) => void (text += piece),
    error: assert.fail,
  });
  return text;
}

/** What bash offers for the last of the words. */
async function bashOffers(words: readonly string[]): Promise<string[]> {
  using scratch = makeScratch();
  const path = scratch.file('completion.bash');
  writeFileSync(path, await scriptFor('bash'));
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
  [['drain', '--cl'], ['--close-idle']],
  [
    ['top', '--sort', ''],
    ['age', 'idle', 'bytes', 'streams'],
  ],
  [['check', '--format', 's'], ['sarif']],
  [
    ['features', '--'],
    ['--json', '--served', '--refused', '--fields', '--help'],
  ],
  [['example', 'two'], ['two-apps']],
  [['completion', 'z'], ['zsh']],
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
      writeFileSync(path, await scriptFor(shell));
      const { status, stderr } = spawnSync(shell, ['-n', path], { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    });
  }

  for (const { name } of COMMAND_SUMMARIES) {
    it(`offers only options that ${name} takes`, async () => {
      const command = await loadCommand(name);
      for (const { flag, takesValue, words } of commandWords(command).options) {
        const given = takesValue ? [flag, words?.[0] ?? '1'] : [flag];
        let said = '';
        const take = (text: string): void => void (said += text);
        // The second word is one that no command knows, so that nothing runs.
        const end = await command.run([...given, '--unheard-of'], { out: take, error: take });
        assert.notEqual(end, 0, flag);
        assert.doesNotMatch(said, new RegExp(`unknown \\w+ ${flag}(?![\\w-])`));
      }
    });
  }

  it('refuses another shell by name', async () => {
    const { code, stderr } = await runSluice(['completion', 'tcsh']);
    assert.equal(code, 2);
    assert.match(stderr, /one of bash, zsh, fish/);
  });
});
