/** Writes docs/options.md again from the option table. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { optionReference } from '../src/options/option-reference.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
mkdirSync(docs, { recursive: true });
writeFileSync(join(docs, 'options.md'), optionReference());
