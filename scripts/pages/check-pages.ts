/** Fails when a page of docs/ that is made from the code is not what the code says now. */
import { readFileSync } from 'node:fs';
import { PAGES } from './pages.ts';

const stale = PAGES.filter(({ path, text }) => readFileSync(path, 'utf8') !== text());
for (const { path } of stale) console.error(`${path} is stale`);
if (stale.length > 0) {
  console.error('run node dist/scripts/pages/write-pages.js');
  process.exitCode = 1;
}
