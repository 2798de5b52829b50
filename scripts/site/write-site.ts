/** Writes docs/ as a site: node dist/scripts/site/write-site.js [FOLDER] */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeSite } from './site.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const [folder] = process.argv.slice(2);
const target = folder ?? join(root, 'dist', 'site');
// What somebody else named is only added to.
if (folder === undefined) rmSync(target, { recursive: true, force: true });
console.log(`${target}: ${writeSite(root, target)} pages`);
