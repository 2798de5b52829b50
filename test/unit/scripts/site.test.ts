/** docs/ as a site: every link of every page leads to a file, and to a place in it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { writeSite } from '../../../scripts/site/site.ts';
import { PACKAGE_ROOT } from '../../support/scripts/consumer.ts';
import { makeScratch } from '../../support/scratch.ts';

interface Link {
  readonly page: string;
  readonly path: string;
  readonly anchor: string;
}

/** Those within the site. */
function linksOf(page: string, text: string): readonly Link[] {
  const targets = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/i.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      const path = file === '' ? page : join(dirname(page), decodeURIComponent(file));
      return { page, path, anchor };
    });
}

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
    for (const [page, text] of texts) assert.ok(!/<script|<link|src="https?:/.test(text), page);
    // Every page of docs/ stands in a section of the index; what it leaves out is the project's own.
    const front = texts.get(scratch.file('index.html')) ?? '';
    const project = /<h2>Sluice<\/h2><ul>([^]*?)<\/ul>/.exec(front)?.[1] ?? '';
    assert.deepEqual(
      [...project.matchAll(/href="([^"]+)"/g)].map(([, target]) => target),
      [
        'ARCHITECTURE.html',
        'CHANGELOG.html',
        'CONTRIBUTING.html',
        'index.html',
        'docs/README.html',
      ],
    );
    const links = [...texts].flatMap(([page, text]) => linksOf(page, text));
    // Files of the tree that are no pages, such as sources, are not in the site.
    const inside = links.filter(({ path }) => {
      const source = join(PACKAGE_ROOT, path.slice(scratch.path.length));
      return existsSync(path) || !existsSync(source);
    });
    const dead = inside.filter(
      ({ path, anchor }) =>
        !existsSync(path) ||
        (anchor !== '' && texts.get(path)?.includes(`id="${anchor}"`) !== true),
    );
    assert.deepEqual(dead, []);
    assert.ok(inside.length > 1_000);
  });
});
