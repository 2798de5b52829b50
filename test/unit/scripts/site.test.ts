/** docs/ as a site: every link of every page leads to a file, and to a place in it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { writeSite } from '../../../scripts/site/site.ts';
import { PACKAGE_ROOT } from '../../support/scripts/consumer.ts';
import { makeScratch } from '../../support/scratch.ts';

describe('the site', () => {
  it('has each page with links that lead to files and headings, and nothing from elsewhere', () => {
    using scratch = makeScratch();
    const count = writeSite(PACKAGE_ROOT, scratch.path);
    const names = readdirSync(scratch.path, { recursive: true, encoding: 'utf8' });
    const pages = names.filter((name) => name.endsWith('.html'));
    assert.equal(pages.length, count);
    const texts = new Map(
      pages.map((name) => [scratch.file(name), readFileSync(scratch.file(name), 'utf8')]),
    );
    const dead: string[] = [];
    let followed = 0;
    for (const [page, text] of texts) {
      assert.ok(!/<script|<link|src="https?:/.test(text), page);
      for (const [, href = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
        if (/^[a-z]+:/i.test(href)) continue;
        const [file = '', anchor = ''] = href.split('#');
        const path = file === '' ? page : join(dirname(page), decodeURIComponent(file));
        const isThere = existsSync(path);
        const place = anchor === '' || (texts.get(path)?.includes(`id="${anchor}"`) ?? false);
        // Files of the tree that are no pages, such as sources, are not in the site.
        if (!isThere && existsSync(join(PACKAGE_ROOT, path.slice(scratch.path.length)))) continue;
        followed++;
        if (!isThere || !place) dead.push(`${page}: ${href}`);
      }
    }
    assert.deepEqual(dead, []);
    assert.ok(followed > 1_000);
  });
});
