/**
 * Records the extensions that Envoy (`envoy` on PATH) tells of its node, into
 * supervisor/features/envoy-extensions.ts. Run it when the version of Envoy changes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOnce } from '../test/support/peers/http-client.ts';
import { startReference } from './start-reference.ts';

interface Dump {
  readonly configs: readonly {
    readonly bootstrap?: { readonly node: { readonly extensions: readonly Extension[] } };
  }[];
}

interface Extension {
  readonly category: string;
  readonly name: string;
  readonly type_urls?: readonly string[];
}

/** The table's text begins behind it. */
const MARK = 'ENVOY_EXTENSIONS = `';

/** Parts of Envoy's own machinery, which no configuration chooses. */
const MACHINERY = /^(envoy\.quic|quic\.|envoy\.config_mux)/;

const envoy = await startReference({
  node: { id: 'a', cluster: 'b' },
  admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } },
});
try {
  const { body } = await fetchOnce({ port: envoy.adminPort, path: '/config_dump' });
  const bootstrap = (JSON.parse(body) as Dump).configs.find(
    (config) => config.bootstrap,
  )?.bootstrap;
  writeTable(bootstrap?.node.extensions ?? []);
} finally {
  await envoy.stop();
}

/** The canonical name among several of a message is the longest; a name has a line of its own. */
function writeTable(extensions: readonly Extension[]): void {
  const names = new Map<string, string>();
  for (const { category, name, type_urls: types = [] } of extensions) {
    for (const type of types) {
      if (MACHINERY.test(category) || !/^envoy\.(?!api\.)/.test(type)) continue;
      const key = `${category} ${type}`;
      if (name.length > (names.get(key) ?? '').length) names.set(key, name);
    }
  }
  const lines = new Map<string, string[]>();
  for (const [key, name] of names) {
    const [category = '', type = ''] = key.split(' ');
    const types = lines.get(`${category} ${name}`) ?? [];
    types.push(type);
    lines.set(`${category} ${name}`, types);
  }
  const rows = [...lines].map(([head, types]) => `${head} ${types.sort().join(' ')}`).sort();
  const path = join(import.meta.dirname, '../../supervisor/features/envoy-extensions.ts');
  const source = readFileSync(path, 'utf8');
  const start = source.indexOf(MARK) + MARK.length;
  writeFileSync(path, `${source.slice(0, start)}${rows.join('\n')}\n\`;\n`);
}
