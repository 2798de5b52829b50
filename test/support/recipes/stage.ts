/** Starts a recipe of docs/examples as it is written, but on ports of the test's own. */
import { readRecipe } from '../../../src/commands/example/recipes.ts';
import { startHttpUpstream, CLOSED_PORT, type HttpUpstream } from '../peers/upstream.ts';
import { startSluice, type RunOptions, type Sluice } from '../programs/sluice.ts';

/** The ports that Sluice itself opens in the recipes. */
const OWN_PORTS: readonly number[] = [8080, 8443, 9901, 10_000];

/** By the port of the recipe, that of the test's upstream; nobody is behind the others. */
export type Hosts = Readonly<Record<number, number>>;

/** Asks what the recipe promises. */
export type AskRecipe = () => Promise<void>;

export async function startRecipe(
  name: string,
  hosts: Hosts,
  options: Pick<RunOptions, 'scratch' | 'isReady'> = {},
): Promise<Sluice> {
  const bootstrap = readRecipe(name)
    .text.replaceAll(/port_value: (\d+)/g, (_all, port: string) => {
      const own = OWN_PORTS.includes(Number(port));
      return `port_value: ${own ? 0 : (hosts[Number(port)] ?? CLOSED_PORT)}`;
    })
    .replaceAll('0.0.0.0', '127.0.0.1');
  return await startSluice({ bootstrap, ...options });
}

/** Answers with its name, the path that it saw and the headers asked for. */
export async function startApp(name: string, ...shown: readonly string[]): Promise<HttpUpstream> {
  return await startHttpUpstream((request, response) => {
    const words = shown.map((header) => `${String(request.headers[header])}`);
    response.end([name, request.url, ...words].join(' '));
  });
}
