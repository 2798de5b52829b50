/** docs/commands.md has a section for each command. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { COMMAND_SUMMARIES } from '../../../src/options/command-summaries.ts';
import { PACKAGE_ROOT } from '../../support/scripts/consumer.ts';

describe('docs/commands.md', () => {
  it('has every command that sluice knows, and no other', () => {
    const page = readFileSync(join(PACKAGE_ROOT, 'docs', 'commands.md'), 'utf8');
    const sections = [...page.matchAll(/^## `sluice ([\w-]+)/gm)].map(([, name]) => name);
    assert.deepEqual(new Set(sections), new Set(COMMAND_SUMMARIES.map(({ name }) => name)));
  });
});
