/** docs/recipes.md, made from the recipes. */
import { readRecipe, recipeNames, type Recipe } from './recipes.ts';

/** The whole text of docs/recipes.md. */
export function recipePage(): string {
  const recipes = recipeNames().map(readRecipe);
  return [
    '# Recipes',
    '',
    '<!-- Made by `node dist/scripts/pages/write-pages.js` from docs/examples. -->',
    '',
    'Complete bootstraps for what people put a proxy there for. Each is a file of [examples/](examples/) that Envoy takes too,',
    'and a test starts and asks every one. `sluice example` lists them, and this is how one is used:',
    '',
    '```sh',
    'sluice example app > bootstrap.yaml',
    'sluice --mode validate -c bootstrap.yaml   # after every change: names line, column and field of a mistake',
    'sluice -c bootstrap.yaml',
    '```',
    '',
    'The app is a server on port 3000 of the same machine (`npx http-server -p 3000`, `python3 -m http.server 3000`); Sluice',
    'listens on port 8080, with TLS on 8443, and the administration interface is at <http://localhost:9901>. Recipes are',
    'combined by putting the filters of one before those of the other; `envoy.filters.http.router` stays last.',
    '',
    '| recipe | |',
    '| --- | --- |',
    ...recipes.map(
      ({ name, title }) => `| [${title}](#${anchor(title)}) | \`sluice example ${name}\` |`,
    ),
    ...recipes.flatMap(section),
    '',
  ].join('\n');
}

function section({ name, title, description, tries, bootstrap }: Recipe): string[] {
  return [
    '',
    `## ${title}`,
    '',
    `${description} ([${name}.yaml](examples/${name}.yaml))`,
    '',
    '```sh',
    ...tries,
    '```',
    '',
    '```yaml',
    bootstrap.trimEnd(),
    '```',
  ];
}

/** As pages of Markdown name their headings. */
function anchor(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
}
