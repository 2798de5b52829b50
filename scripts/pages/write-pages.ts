/** Writes the pages of docs/ that are made from the code again. */
import { writeFileSync } from 'node:fs';
import { PAGES } from './pages.ts';

for (const { path, text } of PAGES) writeFileSync(path, text());
