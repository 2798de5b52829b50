/** The table of extensions and fields as text, JSON, and as the page docs/features.md. */
import type { Feature } from '../../../supervisor/features/features.ts';
import type { FieldGroup } from '../../../supervisor/features/field-groups.ts';

/** Fields that an extension's messages have and Sluice refuses. */
type MissingOf = (feature: Feature) => readonly string[];

export function featureText(features: readonly Feature[], groups: readonly FieldGroup[]): string {
  const missing = missingIn(groups);
  const lines: string[] = [];
  for (const [category, list] of byCategory(features)) {
    lines.push(`${category}\n`);
    for (const feature of list) {
      const { name, advice } = feature;
      const without = missing(feature);
      const note = without.length === 0 ? advice : `without ${without.join(', ')}`;
      const rest = note === undefined ? '' : `  (${note})`;
      lines.push(`  ${stateOf(feature, without).padEnd(STATE_WIDTH)}  ${name}${rest}\n`);
    }
  }
  return lines.join('');
}

export function fieldText(groups: readonly FieldGroup[]): string {
  return groups
    .map(({ message, refused, harmless }) => {
      const parts = [listed('refused', refused), listed('no effect', harmless)];
      return `${message}\n${parts.join('')}`;
    })
    .join('');
}

function listed(word: string, fields: readonly string[]): string {
  return fields.length === 0 ? '' : `  ${word.padEnd(STATE_WIDTH)}  ${fields.join(', ')}\n`;
}

export function featureJson(features: readonly Feature[], groups: readonly FieldGroup[]): string {
  const missing = missingIn(groups);
  const rows = features.map((feature) => ({
    category: feature.category,
    name: feature.name,
    types: feature.types,
    served: feature.isServed,
    missing: missing(feature),
    advice: feature.advice ?? null,
  }));
  return `${JSON.stringify(rows, undefined, 2)}\n`;
}

export function fieldJson(groups: readonly FieldGroup[]): string {
  return `${JSON.stringify(groups, undefined, 2)}\n`;
}

/** `groups` are those of all messages. */
export function featurePage(features: readonly Feature[], groups: readonly FieldGroup[]): string {
  const missing = missingIn(groups);
  const served = features.filter(({ isServed }) => isServed);
  const inPart = served.filter((feature) => missing(feature).length > 0).length;
  const lines = [
    '# Extensions and fields',
    '',
    '<!-- Made by `node dist/scripts/pages/write-pages.js` from the registries and the resolvers. -->',
    '',
    `What of the API's extensions Sluice serves: ${served.length} of the ${features.length} that Envoy 1.40.0 or Sluice has, ${inPart} of them`,
    'without some fields of their own message. What is refused is refused by name and place, never ignored.',
    '`sluice features` prints the same table, `sluice features --fields` the one of [fields](#fields), `sluice check FILE`',
    'says what a file would lose ([commands.md](commands.md)).',
  ];
  for (const [category, list] of byCategory(features)) {
    lines.push('', `## ${category}`, '', '| extension | messages | |', '| --- | --- | --- |');
    for (const feature of list) {
      const { name, types, advice } = feature;
      const without = missing(feature);
      const note = without.length === 0 ? advice : `without ${codes(without)}`;
      const state = `${stateOf(feature, without)}${note === undefined ? '' : `: ${note}`}`;
      lines.push(`| \`${name}\` | ${codes(types)} | ${state} |`);
    }
  }
  return `${[...lines, ...fieldLines(groups)].join('\n')}\n`;
}

function fieldLines(groups: readonly FieldGroup[]): readonly string[] {
  const sum = (count: (group: FieldGroup) => number): number =>
    groups.reduce((total, group) => total + count(group), 0);
  const servedCount = sum(({ served }) => served);
  const harmless = sum((group) => group.harmless.length);
  const refused = sum((group) => group.refused.length);
  return [
    '',
    '## Fields',
    '',
    `Of the ${servedCount + harmless + refused} fields of ${groups.length} messages ${servedCount} are served, ${harmless} are accepted and have no effect here (most of`,
    `them have none in Envoy either, or speak of what Sluice does not have), and ${refused} are refused. Those of the`,
    `${groups.length} that are not listed are served whole. Single values of a field that is served may be refused too.`,
    '',
    '| message | refused | accepted without effect |',
    '| --- | --- | --- |',
    ...groups
      .filter(({ refused: gone, harmless: idle }) => gone.length + idle.length > 0)
      .map(
        (group) => `| \`${group.message}\` | ${codes(group.refused)} | ${codes(group.harmless)} |`,
      ),
  ];
}

const STATE_WIDTH = 'in part'.length + 2;

function stateOf({ isServed }: Feature, without: readonly string[]): string {
  if (!isServed) return 'refused';
  return without.length === 0 ? 'served' : 'in part';
}

function missingIn(groups: readonly FieldGroup[]): MissingOf {
  const refused = new Map(groups.map((group) => [group.message, group.refused]));
  return ({ isServed, types }) =>
    isServed ? [...new Set(types.flatMap((type) => refused.get(type) ?? []))] : [];
}

function codes(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
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
