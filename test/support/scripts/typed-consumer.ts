/** Somebody else's modules, right ones and wrong ones, that a compiler has to see so. */

const OPTIONS = {
  module: 'node16',
  strict: true,
  noEmit: true,
  target: 'es2022',
  types: ['node'],
  // What the package declares is looked at too.
  skipLibCheck: false,
};

const FILTER = `
  schema: object({ header: string(), times: number().optional(1) }),
  state: () => ({ began: 0 }),
  create(settings, context) {
    const seen = context.counter('seen');
    return {
      async onRequestHeaders(headers, stream) {
        stream.state.began += settings.times;
        seen.add();
        const answer = await stream.fetch('up', { path: '/x', retries: 1 });
        if (answer.status !== 200) return { status: 503, body: answer.body };
        headers.set(settings.header, String(stream.connection.tls?.peer?.subject));
        return undefined;
      },
    };
  },
`;

/** Files by their names: ES modules and CommonJS. */
export const TYPED_CONSUMER: Readonly<Record<string, string>> = {
  'tsconfig.json': JSON.stringify({ compilerOptions: OPTIONS, include: ['*.mts', '*.cts'] }),
  'module.mts': `import { defineFilter, number, object, string } from 'sluice/filter';
import { createSluice, type Sluice } from 'sluice';
export const server = (config: object): Sluice => createSluice({ config });
export default defineFilter({${FILTER}});`,
  'admin.mts': `import { AdminClient, AdminRefusal } from 'sluice/admin';
const admin = new AdminClient({ address: '127.0.0.1:9901' });
export const dump: Promise<string> = admin.get('/config_dump', { resource: 'x', include_eds: true });
await admin.post('/drain_listeners', { graceful: true });
// @ts-expect-error commands are not read
await admin.get('/drain_listeners');
// @ts-expect-error there is no such parameter
await admin.get('/stats', { used_only: true });
// @ts-expect-error there is no such format
await admin.get('/connections', { format: 'xml' });
export type Status = AdminRefusal['status'];`,
  'hosts.mts': `import { defineClusterDiscovery, object, string } from 'sluice/filter';
export default defineClusterDiscovery({
  schema: object({ zone: string() }),
  async *discover({ zone }, { wait, signal }) {
    for (; !signal.aborted; await wait(10)) yield [{ address: '10.0.0.1', port: 80, locality: { zone } }];
  },
});
export const wrong = defineClusterDiscovery({
  // @ts-expect-error there is no such state
  discover: () => [[{ address: '10.0.0.1', port: 80, health: 'sick' }]],
});`,
  'common-admin.cts': `import admin = require('sluice/admin');
export const ready: Promise<boolean> = new admin.AdminClient({ address: '/run/x.sock' }).isReady();`,
  'common.cts': `import { defineFilter, number, object, string } from 'sluice/filter';
import sluice = require('sluice');
export const make: typeof sluice.createSluice = sluice.createSluice;
export = defineFilter({${FILTER}});`.replace('export const make', 'const make'),
  'wrong.mts': `import { defineFilter, object, string } from 'sluice/filter';
export default defineFilter({
  schema: object({ header: string() }),
  create: (settings) => ({
    // @ts-expect-error there is no such setting
    onRequestHeaders: (headers) => headers.set(settings.heder, 'x'),
    // @ts-expect-error a number is no body
    onResponseBody: () => 5,
  }),
});`,
};
