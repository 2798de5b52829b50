/**
 * Fails when a page of docs/ that is made from the code is not what the code says now, or when a link
 * between the project's own pages leads nowhere.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deadLinks } from './dead-links.ts';
import { PAGES } from './pages.ts';

const stale = PAGES.filter(({ path, text }) => readFileSync(path, 'utf8') !== text());
for (const { path } of stale) console.error(`${path} is stale`);
if (stale.length > 0) console.error('run node dist/scripts/pages/write-pages.js');

const dead = deadLinks(join(import.meta.dirname, '..', '..', '..'));
for (const link of dead) console.error(`a link leads nowhere in ${link}`);

if (stale.length + dead.length > 0) process.exitCode = 1;
