/** `sluice example`: prints a recipe, a complete bootstrap to go on from. */
import { nearestName } from '../../../shared/text/nearest-name.ts';
import { type Command, usageError } from '../command.ts';
import { readRecipe, recipeNames } from './recipes.ts';

const WRONG_USE = 2;

export const exampleCommand: Command = {
  name: 'example',
  help: `usage: sluice example [NAME]

Prints the recipe NAME, a complete bootstrap with comments; without NAME, the names of all.

  sluice example app > bootstrap.yaml && sluice -c bootstrap.yaml
`,
  words: recipeNames,
  run(argv, output) {
    const names = recipeNames();
    const [name, stray] = argv;
    if (name === undefined) {
      const width = Math.max(...names.map((each) => each.length));
      for (const each of names) output.out(`${each.padEnd(width)}  ${readRecipe(each).title}\n`);
      return Promise.resolve(0);
    }
    if (stray !== undefined || !names.includes(name)) {
      const near = nearestName(name, names);
      const hint = near === undefined ? '' : `; did you mean ${near}?`;
      const reason =
        stray === undefined ? `no recipe is named ${name}${hint}` : `unknown word ${stray}`;
      output.error(usageError(exampleCommand, reason));
      return Promise.resolve(WRONG_USE);
    }
    output.out(readRecipe(name).text);
    return Promise.resolve(0);
  },
};
