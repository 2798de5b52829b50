/** What is in the image: the C library and what else the runtime loads, certificates, and the program. No shell. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot, stageRuntime } from '../runtime-tree.ts';

const HOME = 'usr/lib/sluice';
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
/** The user of Envoy's image, so that files that were made readable for it stay so. */
const USER = 'envoy:x:101:101:Sluice:/tmp:/sbin/nologin';
/** Loaded by the C library by their names when names are looked up. */
const LOOKUPS = ['libnss_dns.so.2', 'libnss_files.so.2', 'libresolv.so.2'];
/** By the name that people type, among them Envoy's. */
const PROGRAMS = {
  sluice: 'main.js',
  envoy: 'main.js',
  'sluice-restarter': 'restarter-main.js',
} as const;

/** The layer that changes seldom. */
export function stageSystem(root: string): void {
  const libraries = new Set(librariesOf(process.execPath));
  for (const addon of addons(join(projectRoot, 'node_modules'))) {
    for (const library of librariesOf(addon)) libraries.add(library);
  }
  const [first = ''] = libraries;
  for (const name of LOOKUPS) {
    const path = join(dirname(first), name);
    if (existsSync(path)) libraries.add(path);
  }
  for (const path of libraries) copy(path, root);
  if (existsSync(AUTHORITIES)) copy(AUTHORITIES, root);
  write(root, 'etc/passwd', `root:x:0:0:root:/:/sbin/nologin\n${USER}\n`);
  write(root, 'etc/group', 'root:x:0:\nenvoy:x:101:\n');
  write(root, 'etc/nsswitch.conf', 'hosts: files dns\n');
  mkdirSync(join(root, 'tmp'));
  chmodSync(join(root, 'tmp'), 0o1777);
}

export function stageProgram(root: string): void {
  stageRuntime(join(root, HOME));
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  for (const file of new Set(Object.values(PROGRAMS))) {
    // There is no `env` to look for a runtime.
    const path = join(root, HOME, 'dist/src', file);
    writeFileSync(path, `#!/${HOME}/node\n${readFileSync(path, 'utf8')}`);
    chmodSync(path, 0o755);
  }
  for (const [name, file] of Object.entries(PROGRAMS)) {
    symlinkSync(`/${HOME}/dist/src/${file}`, join(root, 'usr/local/bin', name));
  }
  write(
    root,
    'etc/envoy/envoy.yaml',
    readFileSync(join(projectRoot, 'docs/examples/app.yaml'), 'utf8'),
  );
}

/** With the loader, by the paths at which they are looked for. */
function librariesOf(program: string): string[] {
  const text = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...text.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
}

/** The addons of this system that the runtime's packages load. */
function addons(folder: string): string[] {
  const names = ['@koromix', '@napi-rs'].filter((name) => existsSync(join(folder, name)));
  return names.flatMap((name) =>
    readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.node') && !file.includes('musl'))
      .map((file) => join(folder, name, file)),
  );
}

function copy(path: string, root: string): void {
  cpSync(path, join(root, path), { dereference: true });
}

function write(root: string, path: string, text: string): void {
  const whole = join(root, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
}
