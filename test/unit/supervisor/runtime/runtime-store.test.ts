/** The layered runtime: which value wins, what is reloaded, what is counted. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { RuntimeSnapshot } from '../../../../shared/resources/runtime.ts';
import { isWithin, readBoolean, readFraction } from '../../../../shared/runtime/read-runtime.ts';
import { RUNTIME } from '../../../../shared/stats/templates/server.ts';
import { readStaticLayer } from '../../../../supervisor/runtime/runtime-layers.ts';
import type { RuntimeLayer } from '../../../../supervisor/resolved/runtime-layer.ts';
import { RuntimeStore } from '../../../../supervisor/runtime/runtime-store.ts';
import { recordingWriter } from '../admin/recording-writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-runtime-'));
after(() => rmSync(folder, { recursive: true }));

function writeTree(root: string, files: Record<string, string>): string {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, root, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
  }
  return join(folder, root);
}

async function open(layers: readonly RuntimeLayer[]) {
  const writer = recordingWriter();
  const log: string[] = [];
  const store = await RuntimeStore.open({
    layers,
    statWriter: writer,
    log: (level, text) => log.push(`${level}: ${text}`),
  });
  const stat = (name: keyof typeof RUNTIME.index) => writer.valueOf(RUNTIME.index[name]);
  return { store, log, stat };
}

const ADMIN: RuntimeLayer = { kind: 'admin', name: 'admin' };

test('a static layer flattens structs to dotted keys, except fractions', () => {
  const values = readStaticLayer({
    health_check: { min_interval: 10 },
    flag: true,
    name: 'from base',
    big: 1234567,
    ratio: 0.25,
    frac: { numerator: 5, denominator: 'TEN_THOUSAND' },
  });
  assert.deepEqual(
    [...values].map(([key, { text }]) => [key, text]),
    [
      ['health_check.min_interval', '10'],
      ['flag', 'true'],
      ['name', 'from base'],
      ['big', '1.23457e+06'],
      ['ratio', '0.25'],
      [
        'frac',
        'goo.gle/debugproto\nfields {\n  key: "denominator"\n  value {\n' +
          '    string_value: "TEN_THOUSAND"\n  }\n}\nfields {\n  key: "numerator"\n  value {\n' +
          '    number_value: 5\n  }\n}\n',
      ],
    ],
  );
  assert.deepEqual(values.get('frac')?.fraction, { numerator: 5, denominator: 10_000 });
});

test('a static layer refuses lists and null by name', () => {
  for (const value of [[1], null]) {
    assert.throws(() => readStaticLayer({ a: { b: value } }), {
      message: 'Invalid runtime entry value for a.b',
    });
  }
});

test('files are read without comment lines and trailing blanks; later layers win', async () => {
  writeTree('v1/app', {
    name: 'disk',
    'nested/key': '7\n',
    spaces: '  trimmed  \n',
    comment: '# note\n12\n',
    multi: ' x\ny \n\n# z\n',
    fraction: '{numerator: 3}',
  });
  writeTree('v1/app_override/web', { name: 'overridden' });
  symlinkSync(join(folder, 'v1'), join(folder, 'current'));
  const disk = { kind: 'disk', symlinkRoot: join(folder, 'current') } as const;
  const { store, stat } = await open([
    { kind: 'static', name: 'base', values: { name: 'base', flag: true } },
    { ...disk, name: 'disk', folder: 'app' },
    { ...disk, name: 'override', folder: 'app_override/web' },
    { ...disk, name: 'missing', folder: 'nosuch' },
    ADMIN,
  ]);
  assert.deepEqual(store.layers(), ['base', 'disk', 'override', 'admin']);
  const entry = (key: string) => [...store.entries()].find((found) => found.key === key);
  assert.deepEqual(entry('name'), {
    key: 'name',
    layerValues: ['base', 'disk', 'overridden', ''],
    finalValue: 'overridden',
  });
  assert.equal(entry('nested.key')?.finalValue, '7');
  assert.equal(entry('spaces')?.finalValue, '  trimmed');
  assert.equal(entry('comment')?.finalValue, '12');
  assert.equal(entry('multi')?.finalValue, ' x\ny \n');
  assert.equal(store.snapshot().get('fraction')?.fraction?.numerator, 3);
  assert.deepEqual([stat('num_layers'), stat('override_dir_exists')], [4, 2]);
  store.close();
});

test('replacing the symbolic link loads the new values', async () => {
  writeTree('w1', { 'app/name': 'one' });
  writeTree('w2', { 'app/name': 'two' });
  const link = join(folder, 'swapped');
  symlinkSync(join(folder, 'w1'), link);
  const { store } = await open([{ kind: 'disk', name: 'disk', symlinkRoot: link, folder: 'app' }]);
  assert.equal(store.snapshot().get('name')?.text, 'one');
  // The watch itself does not keep a process alive.
  const alive = setTimeout(() => undefined, 10_000);
  const changed = new Promise<RuntimeSnapshot>((resolve) => {
    store.subscribe((snapshot) => {
      if (snapshot.get('name')?.text === 'two') resolve(snapshot);
    });
  });
  symlinkSync(join(folder, 'w2'), `${link}.new`);
  renameSync(`${link}.new`, link);
  await changed;
  clearTimeout(alive);
  store.close();
});

test('a layer with a file that is no YAML is left out, counted and logged', async () => {
  writeTree('bad/app', { broken: '[' });
  const { store, log, stat } = await open([
    { kind: 'disk', name: 'disk', symlinkRoot: join(folder, 'bad'), folder: 'app' },
  ]);
  assert.deepEqual(store.layers(), []);
  assert.equal(stat('load_error'), 2);
  assert.match(log[0] ?? '', /^warning: cannot load runtime layer disk: cannot parse the value/);
  store.close();
});

test('the admin layer overrides, an empty value takes the override back', async () => {
  const { store, stat } = await open([
    { kind: 'static', name: 'base', values: { flag: false } },
    ADMIN,
  ]);
  const seen: (boolean | undefined)[] = [];
  store.subscribe((snapshot) => seen.push(snapshot.get('flag')?.boolean));
  assert.equal(await store.modifyAdminLayer(new Map([['flag', 'true']])), undefined);
  assert.equal(stat('admin_overrides_active'), 1);
  assert.equal(readBoolean(store.snapshot(), 'flag', false), true);
  assert.equal(await store.modifyAdminLayer(new Map([['flag', '']])), undefined);
  assert.deepEqual(seen, [true, false]);
  assert.equal(stat('admin_overrides_active'), 0);
  store.close();
});

test('a change that cannot be parsed changes nothing', async () => {
  const { store } = await open([ADMIN]);
  const refused = await store.modifyAdminLayer(
    new Map([
      ['a', '1'],
      ['b', '['],
    ]),
  );
  assert.match(refused ?? '', /^cannot parse the value as YAML: /);
  assert.equal(store.snapshot().size, 0);
  store.close();
});

test('without an admin layer a change is refused', async () => {
  const { store } = await open([]);
  assert.equal(await store.modifyAdminLayer(new Map([['a', 'b']])), 'No admin layer specified');
  store.close();
});

test('a fraction is read from a struct, a whole number is a percentage, others are the default', () => {
  const values = readStaticLayer({ a: { numerator: 1, denominator: 'MILLION' }, b: 50, c: 'x' });
  const whole = { numerator: 1, denominator: 100 } as const;
  assert.deepEqual(readFraction(values, 'a', whole), { numerator: 1, denominator: 1_000_000 });
  assert.deepEqual(readFraction(values, 'b', whole), { numerator: 50, denominator: 100 });
  assert.deepEqual(readFraction(values, 'c', whole), whole);
  assert.equal(isWithin({ numerator: 0, denominator: 100 }, 0), false);
  assert.equal(isWithin({ numerator: 100, denominator: 100 }, 0.999999), true);
});
