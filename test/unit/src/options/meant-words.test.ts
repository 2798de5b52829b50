/** What a refused command line says beyond Envoy's own line. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseOptions, type ParsedCommandLine } from '../../../../src/options/parse-options.ts';
import { COMMAND_LINE_CONTEXT as context } from '../../../support/options.ts';

const parse = (...argv: string[]): ParsedCommandLine => parseOptions(argv, context);

describe('hints for a refused command line', () => {
  const meant: readonly [word: string, hint: string][] = [
    ['--concurency', '--concurrency'],
    ['--config', '--config-path'],
    ['--validate', '--mode validate'],
    ['--valdate', '--mode validate'],
    ['-v', '--version'],
    ['bootstrap.yaml', '-c bootstrap.yaml'],
    ['chekc', 'check'],
  ];
  for (const [word, hint] of meant) {
    it(`asks whether ${word} means ${hint}`, () => {
      const parsed = parse(word);
      assert.ok(parsed.kind === 'exit');
      assert.ok(parsed.text.includes(`\n             Did you mean ${hint}?\n`), parsed.text);
    });
  }

  it('lists the words that an option takes', () => {
    const parsed = parse('--mode', 'dance');
    assert.ok(parsed.kind === 'exit');
    assert.match(parsed.text, /\n +expected: serve, validate, init_only\n$/);
  });
});
