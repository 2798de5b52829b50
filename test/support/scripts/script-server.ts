/** A server with one script filter in front of the router. */
import { writeFileSync } from 'node:fs';
import { bootstrap, httpListener, staticCluster } from '../parts/bootstrap.ts';
import { fetchOnce, type Answer, type Ask } from '../peers/http-client.ts';
import { startSluice, type RunOptions, type Sluice } from '../programs/sluice.ts';
import { makeScratch, type Scratch } from '../scratch.ts';

export const SCRIPT_TYPE = 'type.googleapis.com/sluice.filters.http.script.v1.Script';
export const ROUTER = {
  name: 'router',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
  },
};

export interface ScriptServer extends AsyncDisposable {
  readonly sluice: Sluice;
  readonly scratch: Scratch;
  readonly path: string;
  get(path: string, ask?: Partial<Ask>): Promise<Answer>;
  /** One of the filter's statistics. */
  stat(name: string): Promise<number>;
}

export interface ScriptServerOptions {
  /** TypeScript of `filter.ts`. */
  readonly module: string;
  /** Other files beside it. */
  readonly files?: Readonly<Record<string, string>>;
  /** Fields of the filter's message. */
  readonly fields?: object;
  readonly routes?: readonly object[];
  /** Fields of the listener. */
  readonly listener?: object;
  readonly upstreamPort: number;
  readonly run?: Partial<RunOptions>;
}

export function scriptFilter(path: string, fields: object = {}): object {
  return { name: 'mine', typed_config: { '@type': SCRIPT_TYPE, file: path, ...fields } };
}

function writeModules(scratch: Scratch, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(scratch.file(name), text);
  return scratch.file('filter.ts');
}

export async function startScriptServer(options: ScriptServerOptions): Promise<ScriptServer> {
  const scratch = makeScratch();
  const path = writeModules(scratch, { 'filter.ts': options.module, ...options.files });
  const routes = options.routes ?? [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const filters = [scriptFilter(path, options.fields), ROUTER];
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [
        { ...httpListener(routes, { hcm: { http_filters: filters } }), ...options.listener },
      ],
      clusters: [staticCluster('up', [options.upstreamPort])],
    }),
    scratch,
    ...options.run,
  });
  const port = await sluice.listenerPort('web');
  return {
    sluice,
    scratch,
    path,
    get: (asked, ask = {}) => fetchOnce({ port, path: asked, ...ask }),
    stat: (name) => sluice.stat(`http.web.script.mine.${name}`),
    [Symbol.asyncDispose]: () => sluice[Symbol.asyncDispose](),
  };
}
