/** The table of extensions as text, JSON, and as the page docs/features.md. */
import type { Feature } from '../../../supervisor/features/features.ts';

export function featureText(features: readonly Feature[]): string {
  const lines: string[] = [];
  for (const [category, list] of byCategory(features)) {
    lines.push(`${category}\n`);
    for (const { isServed, name, advice } of list) {
      const word = isServed ? 'served ' : 'refused';
      lines.push(`  ${word}  ${name}${advice === undefined ? '' : `  (${advice})`}\n`);
    }
  }
  return lines.join('');
}

export function featureJson(features: readonly Feature[]): string {
  const rows = features.map(({ category, name, types, isServed, advice }) => ({
    category,
    name,
    types,
    served: isServed,
    advice: advice ?? null,
  }));
  return `${JSON.stringify(rows, undefined, 2)}\n`;
}

export function featurePage(features: readonly Feature[]): string {
  const served = features.filter(({ isServed }) => isServed).length;
  const lines = [
    '# Extensions',
    '',
    '<!-- Made by `node dist/scripts/pages/write-pages.js` from the registries. -->',
    '',
    `What of the API's extensions Sluice serves: ${served} of the ${features.length} that Envoy 1.40.0 or Sluice has. What is refused`,
    'is refused by name and place, never ignored. `sluice features` prints the same table, `sluice check FILE` says',
    'what a file would lose ([commands.md](commands.md)).',
  ];
  for (const [category, list] of byCategory(features)) {
    lines.push('', `## ${category}`, '', '| extension | messages | |', '| --- | --- | --- |');
    for (const { name, types, isServed, advice } of list) {
      const state = isServed ? 'served' : `refused${advice === undefined ? '' : `: ${advice}`}`;
      lines.push(`| \`${name}\` | ${types.map((type) => `\`${type}\``).join(', ')} | ${state} |`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function byCategory(features: readonly Feature[]): ReadonlyMap<string, readonly Feature[]> {
  const groups = new Map<string, Feature[]>();
  for (const feature of features) {
    const group = groups.get(feature.category);
    if (group === undefined) groups.set(feature.category, [feature]);
    else group.push(feature);
  }
  return groups;
}
