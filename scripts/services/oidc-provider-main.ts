/**
 * The program of a provider of OpenID Connect: the path of the package's module, the port, and its
 * settings as JSON.
 */
import type { Server } from 'node:http';
import { pathToFileURL } from 'node:url';

/** The part of oidc-provider that is used. */
interface ProviderModule {
  readonly Provider: new (issuer: string, settings: object) => { listen(port: number): Server };
}

const [module = '', port = '', settings = '{}'] = process.argv.slice(2);
const { Provider } = (await import(pathToFileURL(module).href)) as ProviderModule;
new Provider(`http://localhost:${port}`, JSON.parse(settings) as object).listen(Number(port));
