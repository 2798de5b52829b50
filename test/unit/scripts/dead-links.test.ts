import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { deadLinks } from '../../../scripts/pages/dead-links.ts';
import { makeScratch } from '../../support/scratch.ts';

describe('links between pages', () => {
  it('lead to files and headings, code and other sites aside', () => {
    using scratch = makeScratch();
    mkdirSync(scratch.file('docs'));
    writeFileSync(scratch.file('README.md'), '[a](docs/a.md#what-sluice-is) [b](docs/none.md)\n');
    const page = [
      '# What `sluice` is?',
      '[up](../README.md) [here](#what-sluice-is) [gone](#gone) [`code`](x.md)',
      '[site](https://a.test/none) ![picture](none.png)',
      '```',
      '[in code](nowhere.md)',
      '```',
    ];
    writeFileSync(scratch.file('docs/a.md'), page.join('\n'));
    assert.deepEqual(deadLinks(scratch.path), [
      'README.md: docs/none.md',
      'docs/a.md: #gone',
      'docs/a.md: x.md',
      'docs/a.md: none.png',
    ]);
  });
});
