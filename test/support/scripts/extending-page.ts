/** The modules that docs/extending.md shows, and the YAML that names each of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { PACKAGE_ROOT } from './consumer.ts';

const PAGE = readFileSync(join(PACKAGE_ROOT, 'docs', 'extending.md'), 'utf8');
const MODULE = /```ts\n(\/\/ ([\w-]+\.ts)\b[^]*?)```/g;

/** By the name in the first line. */
export function pageModules(): ReadonlyMap<string, string> {
  return new Map([...PAGE.matchAll(MODULE)].map(([, text = '', name = '']) => [name, text]));
}

/** The whole bootstrap of the page. */
export function pageBootstrap(): unknown {
  return parse(/```yaml\n(# bootstrap\.yaml[^]*?)```/.exec(PAGE)?.[1] ?? '');
}

/** What stands behind a module: the piece of a bootstrap that uses it. */
export function pageYaml(name: string): unknown {
  const behind = PAGE.slice(PAGE.indexOf(`\`\`\`ts\n// ${name}`));
  return parse(/```yaml\n([^]*?)```/.exec(behind)?.[1] ?? '');
}
